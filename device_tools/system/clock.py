"""Alarms and timers, through the intents every clock app answers (android.provider.AlarmClock)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from device_tools import limits
from device_tools.adb import AdbPhone
from device_tools.errors import ActionRefused
from device_tools.result import ToolResult, done
from device_tools.system.ask import ask, listing, moment, one_line, order, unavailable

_ACTION, _EXTRA = "android.intent.action", "android.intent.extra.alarm"
_NEXT = re.compile(r"^ +user:(\d+) pendingSend:\w+ time:(\d+)", re.MULTILINE)
_ALARM = re.compile(r"^\s+\w+ #\d+: Alarm\{\S+ type \d+ .*?([A-Za-z][\w.]+)\}\s*$")
_TRIGGER = re.compile(r"^\s+triggerTime=(.+)$")


@dataclass(frozen=True)
class Alarm:
    """``time`` as the phone writes it; ``package`` "" where only the next time is told."""

    time: str
    package: str


def parse_alarms(text: str) -> list[Alarm]:
    """``dumpsys alarm`` (Android 5 to 15): alarms a user set, soonest first."""
    found, package, inside = [], "", False
    for line in text.splitlines():
        if head := _ALARM.match(line):
            package, inside = head[1], False
        elif line.strip() == "Alarm clock:":
            inside = True
        elif inside and (trigger := _TRIGGER.match(line)):
            found.append(Alarm(one_line(trigger[1], 60), package))
            inside = False
    if not found:
        found = [Alarm(moment(time), "") for _, time in _NEXT.findall(text) if int(time)]
    return sorted(dict.fromkeys(found), key=lambda alarm: alarm.time)


def set_alarm(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    hour, minute = arguments["hour"], arguments["minute"]
    extras = ["--ei", f"{_EXTRA}.HOUR", str(hour), "--ei", f"{_EXTRA}.MINUTES", str(minute)]
    _start(phone, "SET_ALARM", extras, arguments.get("label", ""))
    return done(f"asked the clock app for an alarm at {hour:02}:{minute:02}; see list_alarms")


def set_timer(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    seconds = arguments["seconds"]
    extras = ["--ei", f"{_EXTRA}.LENGTH", str(seconds)]
    _start(phone, "SET_TIMER", extras, arguments.get("label", ""))
    return done(f"asked the clock app for a timer of {seconds} s")


def _start(phone: AdbPhone, action: str, extras: list[str], label: str) -> None:
    named = ["--es", f"{_EXTRA}.MESSAGE", label] if label else []
    argv = ["am", "start", "-a", f"{_ACTION}.{action}", *extras, *named]
    said = order(phone, *argv, "--ez", f"{_EXTRA}.SKIP_UI", "true", limit=limits.APP_START)
    if "unable to resolve Intent" in said:
        raise unavailable(action.lower(), "no app of it answers this")
    if "Error" in said or "Exception" in said:
        raise ActionRefused(f"the clock app did not take it: {one_line(said, 300)}")


def list_alarms(phone: AdbPhone, _arguments: Mapping[str, Any]) -> ToolResult:
    alarms = parse_alarms(ask(phone, "dumpsys", "alarm"))
    lines = [f"{alarm.time} {alarm.package}".strip() for alarm in alarms]
    found = [{"time": alarm.time, "package": alarm.package} for alarm in alarms]
    return done(listing(lines, nothing="no alarm is set"), alarms=found)
