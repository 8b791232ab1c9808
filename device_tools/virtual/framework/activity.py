"""``am start|force-stop|broadcast|...`` and ``monkey -p PACKAGE``."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from device_tools.virtual.apps import browser
from device_tools.virtual.apps.registry import Resolved, installed, resolve
from device_tools.virtual.apps.settings import PACKAGE as SETTINGS
from device_tools.virtual.apps.settings import set_airplane
from device_tools.virtual.framework.reply import fail, option, out
from device_tools.virtual.ports import CommandResult
from device_tools.virtual.state import Screen
from device_tools.virtual.ui.screen import TouchScreen
from device_tools.virtual.views.widgets import Page

_SETTINGS_PAGES = {
    "android.settings.SETTINGS": "",
    "android.settings.WIFI_SETTINGS": "internet",
    "android.settings.WIRELESS_SETTINGS": "network",
    "android.settings.BLUETOOTH_SETTINGS": "devices",
    "android.settings.DISPLAY_SETTINGS": "display",
    "android.settings.LOCATION_SOURCE_SETTINGS": "location",
    "android.settings.DEVICE_INFO_SETTINGS": "about",
}
_CLOCK_ACTIONS = ("android.intent.action.SET_ALARM", "android.intent.action.SET_TIMER")
_VALUED = ("-a", "-d", "-c", "-n", "-f", "-t", "--es", "--ez", "--ei", "--user", "--display")


def am(screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    """The sub-commands that scripts use; others are unknown as on Android."""
    verb, rest = (args[0], list(args[1:])) if args else ("", [])
    if verb in ("start", "start-activity"):
        return _start(screen, rest)
    if verb == "force-stop" and rest:
        screen.state.stop(rest[-1])
        return out()
    if verb == "broadcast":
        return _broadcast(screen, rest)
    if verb == "get-current-user":
        return out("0")
    return fail(f"Unknown command: {verb}" if verb else "Activity manager (activity) commands:")


def _start(screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    head = f"Starting: Intent {_intent(args)}"
    component = option(args, "-n")
    if component is not None:
        found = resolve(screen.state, component)
        if found is None:
            return CommandResult(
                f"{head}\n".encode(),
                _missing(component).encode(),
                1,
            )
        if found.activity in found.app.private:
            return _denied(found, args, head)
        return _launched(screen, found, head, "-W" in args)
    return _implicit(screen, args, head)


def _denied(found: Resolved, args: Sequence[str], head: str) -> CommandResult:
    text = (
        "\nException occurred while executing 'start':\njava.lang.SecurityException: Permission "
        f"Denial: starting Intent {_intent(args)} from null (pid=9001, uid=2000) not exported from "
        f"uid {found.app.uid}\n"
    )
    return CommandResult(f"{head}\n".encode(), text.encode(), 255)


def _missing(component: str) -> str:
    return f"Error type 3\nError: Activity class {{{_long(component)}}} does not exist.\n"


def _implicit(screen: TouchScreen, args: Sequence[str], head: str) -> CommandResult:
    action, data = option(args, "-a"), option(args, "-d")
    if action in _SETTINGS_PAGES:
        screen.state.launch(SETTINGS, ".Settings")
        if _SETTINGS_PAGES[action]:
            args_of_page = {"page": _SETTINGS_PAGES[action]}
            screen.state.open(Screen(SETTINGS, ".SubSettings", args_of_page))
        return out(head)
    if action in _CLOCK_ACTIONS:
        return _clock(screen, action, args, head)
    if data is not None and data.startswith(("http://", "https://")):
        screen.state.launch(browser.PACKAGE, ".BrowserActivity")
        browser.load(Page(screen.state, screen.state.screen), data)
        return out(head)
    if action == "android.intent.action.MAIN" and "android.intent.category.HOME" in args:
        screen.state.home()
        return out(head)
    package = option(args, "-p") or next(_words(args), None)
    for app in installed(screen.state):
        if app.package == package and app.launchable:
            return _launched(screen, Resolved(app, app.activities[0]), head, "-W" in args)
    text = f"Error: Activity not started, unable to resolve Intent {_intent(args)}"
    return CommandResult(f"{head}\n".encode(), f"{text}\n".encode(), 1)


def _clock(screen: TouchScreen, action: str, args: Sequence[str], head: str) -> CommandResult:
    """The clock app takes alarms and timers without showing itself (SKIP_UI)."""
    numbers = {
        args[place + 1].rsplit(".", 1)[-1]: int(args[place + 2])
        for place, word in enumerate(args[:-2])
        if word == "--ei" and args[place + 2].isdigit()
    }
    if "--ez" not in args or not numbers:
        return fail(f"{head}\nError: the clock app needs numbers and SKIP_UI here", 1)
    if action.endswith("TIMER"):
        screen.state.timers.append(numbers.get("LENGTH", 0))
    else:
        today = int(time.time()) // 86_400 * 86_400
        when = today + numbers.get("HOUR", 0) * 3600 + numbers.get("MINUTES", 0) * 60
        screen.state.alarms.append(when if when > time.time() else when + 86_400)
    return out(head)


def _launched(screen: TouchScreen, found: Resolved, head: str, wait: bool) -> CommandResult:
    in_front = screen.state.screen.package == found.app.package
    fresh = screen.state.launch(found.app.package, found.activity)
    lines = [head]
    if not fresh:
        lines.append(
            "Warning: Activity not started, intent has been delivered to currently running "
            "top-most instance."
            if in_front
            else "Warning: Activity not started, its current task has been brought to the front"
        )
    if wait:
        state = "COLD" if fresh else "UNKNOWN (0)" if in_front else "HOT"
        lines += [
            "Status: ok",
            f"LaunchState: {state}",
            f"Activity: {found.app.package}/{found.activity}",
            "TotalTime: 121",
            "WaitTime: 134",
            "Complete",
        ]
    return out("\n".join(lines))


def _words(args: Sequence[str]) -> Iterator[str]:
    skip = False
    for word in args:
        if skip or word.startswith("-"):
            skip = not skip and word in _VALUED
            continue
        yield word


def _intent(args: Sequence[str]) -> str:
    parts = []
    for label, value in (
        ("act", option(args, "-a")),
        ("cat", option(args, "-c")),
        ("dat", option(args, "-d")),
        ("pkg", option(args, "-p")),
        ("cmp", option(args, "-n")),
    ):
        if value is not None:
            parts.append(f"{label}=[{value}]" if label == "cat" else f"{label}={value}")
    return f"{{ {' '.join(parts)} }}" if parts else "{ }"


def _long(component: str) -> str:
    package, _, name = component.partition("/")
    return f"{package}/{package}{name}" if name.startswith(".") else component


def _broadcast(screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    action = option(args, "-a") or ""
    if action == "android.intent.action.AIRPLANE_MODE":
        set_airplane(screen.state, option(args, "state") == "true")
    extras = " (has extras)" if any(word.startswith("--e") for word in args) else ""
    return out(
        f"Broadcasting: Intent {{ act={action} flg=0x400000{extras} }}\n"
        "Broadcast completed: result=0"
    )


def monkey(screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    """Only ``-p PACKAGE -c android.intent.category.LAUNCHER 1``: starts the app."""
    package = option(args, "-p")
    lines = [f"  bash arg: {word}" for word in args]
    app = next((app for app in installed(screen.state) if app.package == package), None)
    if app is None or not app.launchable:
        lines.append("** No activities found to run, monkey aborted.")
        return CommandResult("\n".join(lines).encode() + b"\n", b"", 252)
    screen.state.launch(app.package, app.activities[0])
    lines += [
        "Events injected: 1",
        "## Network stats: elapsed time=17ms (0ms mobile, 0ms wifi, 17ms not connected)",
    ]
    return out("\n".join(lines))
