"""What apps were used: ``dumpsys usagestats``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from device_tools.adb import AdbPhone
from device_tools.result import ToolResult, done
from device_tools.system.ask import ask, listing, one_line, unavailable

_EVENT = re.compile(r'^ +time="([^"]+)" type=(\w+) package=(\S+)(?: class=(\S+))?', re.MULTILINE)
_USED = re.compile(r'^ +package=(\S+) totalTimeUsed="([\d:]+)" lastTimeUsed="([^"]+)"(.*)$')
_OPENED = {"ACTIVITY_RESUMED": "opened", "MOVE_TO_FOREGROUND": "opened"}
_LEFT = {"ACTIVITY_PAUSED": "left", "MOVE_TO_BACKGROUND": "left"}
_TOLD = {**_OPENED, **_LEFT, "SCREEN_INTERACTIVE": "screen on", "SCREEN_NON_INTERACTIVE":
         "screen off", "KEYGUARD_HIDDEN": "unlocked", "KEYGUARD_SHOWN": "locked"}  # fmt: skip


@dataclass(frozen=True)
class AppUse:
    """``seconds`` in the foreground; ``last`` as the phone writes its time, "" for never."""

    package: str
    seconds: int
    last: str
    launches: int


def parse_events(text: str) -> list[tuple[str, str, str]]:
    """(time, what happened, package), newest first."""
    found = {
        (time, _TOLD[kind], package)
        for time, kind, package, _ in _EVENT.findall(text)
        if kind in _TOLD
    }
    return sorted(found, reverse=True)


def parse_usage(text: str, period: str) -> list[AppUse]:
    """Apps of the first section of this period, the main user's; most used first."""
    apps: dict[str, AppUse] = {}
    inside = seen = False
    for line in text.splitlines():
        if heading := re.search(r"In-memory (\w+) stats", line):
            inside = heading[1] == period and not seen
            seen = seen or inside
        elif inside and (found := _USED.match(line)):
            launches = re.search(r"appLaunchCount=(\d+)", found[4])
            last = "" if found[3].startswith("19") else found[3]
            use = AppUse(found[1], _seconds(found[2]), last, int(launches[1]) if launches else 0)
            apps.setdefault(use.package, use)
    return sorted(apps.values(), key=lambda use: (-use.seconds, use.package))


def _seconds(text: str) -> int:
    """``MM:SS`` or ``H:MM:SS``."""
    total = 0
    for part in text.split(":"):
        total = total * 60 + int(part or 0)
    return total


def recent_app_activity(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    events = parse_events(ask(phone, "dumpsys", "usagestats"))
    if not events:
        raise unavailable(
            "the history of app use", "dumpsys usagestats tells no events (Android 9)"
        )
    shown = events[: arguments.get("limit", 20)]
    lines = [f"{time} {what} {one_line(package, 120)}" for time, what, package in shown]
    found = [{"time": time, "event": what, "package": package} for time, what, package in shown]
    return done(listing(lines, total=len(events)), events=found)


def app_usage_summary(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    period = arguments.get("period", "daily")
    text = ask(phone, "dumpsys", "usagestats")
    if f"In-memory {period} stats" not in text:
        raise unavailable("the time of app use", f"dumpsys usagestats has no {period} part")
    used = [use for use in parse_usage(text, period) if use.seconds]
    shown = used[: arguments.get("limit", 20)]
    lines = [
        f"{use.seconds // 60} min {use.seconds % 60} s  {use.package}, last {use.last or 'unknown'}"
        f"{f', opened {use.launches} times' if use.launches else ''}"
        for use in shown
    ]
    found = [{"package": use.package, "seconds": use.seconds, "last": use.last} for use in shown]
    return done(listing(lines, total=len(used), nothing="no app was used"), apps=found)
