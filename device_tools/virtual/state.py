"""The one model of the virtual phone: settings, apps' data, what is in the foreground.

Everything that can be seen (hierarchy, picture, dumpsys, settings) is computed from here, so a
switch turned off in the UI is off everywhere. No I/O.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from device_tools.virtual.defaults import (
    contacts,
    default_settings,
    notifications,
    properties,
    threads,
)
from device_tools.virtual.records import Contact, Note, Notification, Thread

WIDTH, HEIGHT, DENSITY = 1080, 2400, 440
LAUNCHER = "com.android.launcher3"
LAUNCHER_ACTIVITY = ".uioverrides.QuickstepLauncher"
RECENTS_ACTIVITY = "com.android.quickstep.RecentsActivity"


@dataclass
class Screen:
    """One activity instance: its arguments, text fields, focus and scroll offsets (pixels)."""

    package: str
    activity: str
    args: dict[str, str] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)
    scroll: dict[str, int] = field(default_factory=dict)
    focus: str = ""
    selected_all: bool = False

    @property
    def component(self) -> str:
        """``package/full.class.Name``, as dumpsys writes a window."""
        name = self.activity
        return (
            f"{self.package}/{self.package}{name}" if name[0] == "." else f"{self.package}/{name}"
        )

    @property
    def short_component(self) -> str:
        return f"{self.package}/{self.activity.removeprefix(self.package)}"


@dataclass
class Task:
    """A back stack; the last screen is the visible one."""

    id: int
    package: str
    screens: list[Screen]


@dataclass
class PhoneState:
    """``tasks`` runs from back to front. ``rotation`` is 0..3 (0 is the only one drawn so far)."""

    settings: dict[str, dict[str, str]] = field(default_factory=default_settings)
    properties: dict[str, str] = field(default_factory=properties)
    threads: list[Thread] = field(default_factory=threads)
    contacts: list[Contact] = field(default_factory=contacts)
    notes: list[Note] = field(default_factory=list)
    notifications: list[Notification] = field(default_factory=notifications)
    dismissed: list[str] = field(default_factory=list)
    granted: set[tuple[str, str]] = field(default_factory=set)
    asked: set[tuple[str, str]] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    frozen: set[str] = field(default_factory=set)
    alarms: list[int] = field(default_factory=list)
    timers: list[int] = field(default_factory=list)
    submissions: list[dict[str, str]] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    next_task: int = 2
    clipboard: str | None = None
    battery: int = 87
    charging: bool = True
    rotation: int = 0
    screen_on: bool = True
    keyboard: bool = False
    shift: bool = False
    symbols: bool = False
    shade: str = ""
    clock: str = "9:41"
    started: float = field(default_factory=time.time)
    playing: bool = False
    toast: str | None = None
    counters: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        if not self.tasks:
            self.tasks.append(Task(1, LAUNCHER, [Screen(LAUNCHER, LAUNCHER_ACTIVITY)]))

    # -- settings ---------------------------------------------------------------------------

    def flag(self, key: str, table: str = "global") -> bool:
        return self.settings[table].get(key, "0") not in ("0", "")

    def set_flag(self, key: str, on: bool, table: str = "global") -> None:
        self.settings[table][key] = "1" if on else "0"

    def number(self, key: str, table: str = "system") -> int:
        """A numeric setting; 0 when somebody put something else there."""
        value = self.settings[table].get(key, "0")
        return int(value) if value.isdecimal() and value.isascii() else 0

    @property
    def wifi(self) -> bool:
        return self.flag("wifi_on")

    @property
    def dark(self) -> bool:
        return self.settings["secure"].get("ui_night_mode") == "2"

    def dismiss_all(self) -> None:
        """Clear the shade."""
        self.dismissed += [item.package for item in self.notifications]
        self.notifications.clear()

    # -- foreground -------------------------------------------------------------------------

    @property
    def screen(self) -> Screen:
        """The activity in the foreground."""
        return self.tasks[-1].screens[-1]

    def launch(self, package: str, activity: str) -> bool:
        """Start an app or bring its task forward. Whether its activity was newly made."""
        self.leave()
        for task in self.tasks:
            if task.package == package:
                self.tasks.remove(task)
                self.tasks.append(task)
                return False
        self.tasks.append(Task(self.next_task, package, [Screen(package, activity)]))
        self.next_task += 1
        return True

    def open(self, screen: Screen) -> None:
        """Put a screen on top of the foreground task."""
        self.leave()
        self.tasks[-1].screens.append(screen)

    def close(self) -> None:
        """Finish the foreground screen; an empty task gives way to the launcher."""
        self.leave()
        task = self.tasks[-1]
        if task.package == LAUNCHER and len(task.screens) == 1:
            return
        task.screens.pop()
        if not task.screens:
            self.tasks.remove(task)
            self.home()

    def home(self) -> None:
        """The launcher's first page."""
        self.leave()
        launcher = next(task for task in self.tasks if task.package == LAUNCHER)
        self.tasks.remove(launcher)
        self.tasks.append(launcher)
        del launcher.screens[1:]
        launcher.screens[0].args.clear()
        launcher.screens[0].focus = ""

    def recents(self) -> None:
        """The list of tasks; it belongs to the launcher."""
        self.home()
        self.open(Screen(LAUNCHER, RECENTS_ACTIVITY))

    def stop(self, package: str) -> None:
        """Force-stop: the app loses its tasks."""
        front = self.tasks[-1].package == package
        if package != LAUNCHER:
            self.tasks = [task for task in self.tasks if task.package != package]
        if front:
            self.home()

    def leave(self) -> None:
        """What every change of the foreground does to keyboard and shade."""
        self.keyboard = False
        self.shade = ""

    # -- result -----------------------------------------------------------------------------

    def as_dict(self) -> dict[str, Any]:
        """Everything a test or a user may want to check; JSON-able."""
        screen = self.screen
        return {
            "settings": self.settings,
            "wifi": self.wifi,
            "bluetooth": self.flag("bluetooth_on"),
            "airplane": self.flag("airplane_mode_on"),
            "dark_theme": self.dark,
            "brightness": self.number("screen_brightness"),
            "notes": [asdict(note) for note in self.notes],
            "threads": [asdict(thread) for thread in self.threads],
            "contacts": [asdict(contact) for contact in self.contacts],
            "notifications": [asdict(item) for item in self.notifications],
            "permissions": sorted(f"{package} {name}" for package, name in self.granted),
            "submissions": self.submissions,
            "clipboard": self.clipboard,
            "frozen": sorted(self.frozen),
            "alarms": self.alarms,
            "timers": self.timers,
            "playing": self.playing,
            "battery": self.battery,
            "rotation": self.rotation,
            "screen_on": self.screen_on,
            "keyboard": self.keyboard,
            "shade": self.shade,
            "foreground": screen.component,
            "fields": dict(screen.fields),
            "focus": screen.focus,
            "tasks": [task.package for task in self.tasks],
            "counters": dict(self.counters),
        }
