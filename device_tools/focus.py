"""Which app and activity are in front, as ``dumpsys window`` tells in its many dialects."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from device_tools.adb import AdbPhone

_FOCUS = re.compile(r"mCurrentFocus=Window\{(?P<inside>[^}\n]*)\}")
_APP = re.compile(
    r"(?:mFocusedApp=|topResumedActivity=|mResumedActivity: )[^\n]*?"
    r"\s(?P<package>[\w.]+)/(?P<activity>[\w.$]+)"
)
_COMPONENT = re.compile(r"(?P<package>[\w.]+)/(?P<activity>[\w.$]+)")
_LOCKED = re.compile(
    r"(?:mShowingLockscreen|isStatusBarKeyguard|mIsShowing|isKeyguardShowing)=true"
)
# degrees in some versions, quarter turns in others
_ROTATION = re.compile(r"\bmRotation=(?:ROTATION_)?(\d+)")
_TURNS = {0: 0, 1: 1, 2: 2, 3: 3, 90: 1, 180: 2, 270: 3}
# Android 13 and newer dropped the focus from "windows"; older ones have none in "displays"
_COMMANDS = (
    ("dumpsys", "window", "windows"),
    ("dumpsys", "window", "displays"),
    ("dumpsys", "activity", "activities"),
)


@dataclass(frozen=True)
class Focus:
    """``window`` is the title of a window that belongs to no activity, such as the shade.

    ``rotation`` in quarter turns where the same output tells it of one display, else None.
    """

    package: str
    activity: str
    window: str = ""
    locked: bool = False
    rotation: int | None = field(default=None, compare=False)

    def __str__(self) -> str:
        name = f"{self.package}/{self.activity}" if self.activity else self.package
        return f"{name} ({self.window})" if self.window else name


def parse_focus(text: str) -> Focus | None:
    """The last focused window that is not null (with several displays the first often is)."""
    focus = _in_front(text)
    return replace(focus, rotation=_rotation(text)) if focus else None


def _rotation(text: str) -> int | None:
    found = {int(match) for match in _ROTATION.findall(text)}
    return _TURNS.get(found.pop()) if len(found) == 1 else None


def _in_front(text: str) -> Focus | None:
    locked = bool(_LOCKED.search(text))
    windows = [match.group("inside") for match in _FOCUS.finditer(text)]
    if windows:
        component = _COMPONENT.search(windows[-1])
        if component:
            return _focus(component, locked=locked)
        title = windows[-1].split(" ", 2)[-1]
        app = _last(_APP, text)
        return _focus(app, title, locked=locked) if app else Focus("", "", title, locked)
    app = _last(_APP, text)
    return _focus(app, locked=locked) if app else None


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    matches = list(pattern.finditer(text))
    return matches[-1] if matches else None


def _focus(match: re.Match[str], window: str = "", *, locked: bool) -> Focus:
    package, activity = match.group("package"), match.group("activity")
    # one spelling for .Main and com.example.Main, so that focuses can be compared
    short = activity.removeprefix(package) if activity.startswith(package + ".") else activity
    return Focus(package, short, window, locked)


class FocusReader:
    """Asks one phone; remembers which of the commands that phone answers."""

    def __init__(self, phone: AdbPhone) -> None:
        self._phone = phone
        self._commands = list(_COMMANDS)

    def read(self) -> Focus:
        """One shell call, up to three at the first time. Unknown is all empty."""
        for command in list(self._commands):
            found = parse_focus(self._phone.shell(command).text)
            if found is not None:
                self._commands.remove(command)
                self._commands.insert(0, command)
                return found
        return Focus("", "")
