"""Where the phone is and how it is set: position, time, language, sound, light, heat."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from device_tools.adb import AdbPhone
from device_tools.errors import NotAvailable
from device_tools.result import ToolResult, done
from device_tools.system.ask import ask, moment, now, told, unavailable
from device_tools.system.settings import read_setting

# with a comma as decimal sign in some languages; `et` is the time since the start of the phone
_FIX = re.compile(
    r"Location\[(?P<by>\w+) (?P<lat>-?\d+[.,]\d+),(?P<lon>-?\d+[.,]\d+)"
    r"(?:[^\]\n]{0,300}?(?:hAcc|acc)=(?P<within>\d+(?:[.,]\d+)?))?"
    r"(?:[^\]\n]{0,300}?et=\+?(?P<age>[\ddhms]+))?"
)
_SPAN = re.compile(r"(\d+)(ms|[dhms])")
_UNITS = {"d": 86_400, "h": 3600, "m": 60, "s": 1, "ms": 0}
_HEAT = re.compile(r"Temperature\{mValue=(-?[\d.]+), mType=\d+, mName=([^,}]+)")
_RINGER = {"0": "silent", "1": "vibrate", "2": "sound"}


@dataclass(frozen=True)
class Fix:
    """Degrees; ``within`` metres, None when not told; ``since_start`` seconds from the start of the
    phone to the moment it was there."""

    provider: str
    latitude: float
    longitude: float
    within: float | None
    since_start: int


def parse_fixes(text: str) -> list[Fix]:
    """``dumpsys location`` (Android 5 to 15): every position it names, newest first."""
    fixes = {
        Fix(
            found["by"],
            _number(found["lat"]),
            _number(found["lon"]),
            _number(found["within"]) if found["within"] else None,
            sum(int(count) * _UNITS[unit] for count, unit in _SPAN.findall(found["age"] or "")),
        )
        for found in _FIX.finditer(text)
    }
    # precise before coarse where they are of the same moment
    return sorted(fixes, key=lambda fix: (-fix.since_start, fix.within or 1e9, fix.provider))


def parse_heat(text: str) -> dict[str, float]:
    """``dumpsys thermalservice`` (Android 10+): °C by sensor."""
    return {name: float(value) for value, name in _HEAT.findall(text)}


def _number(text: str) -> float:
    return float(text.replace(",", "."))


def get_current_location(phone: AdbPhone, _arguments: Mapping[str, Any]) -> ToolResult:
    fixes = parse_fixes(ask(phone, "dumpsys", "location"))
    if not fixes:
        off = read_setting(phone, "secure", "location_mode") == "0"
        raise unavailable("a position", "location is switched off" if off else "it knows none yet")
    fix = fixes[0]
    up = ask(phone, "cat", "/proc/uptime").split(".")[0]
    age = int(up) - fix.since_start if up.isdigit() and fix.since_start else None
    old = "age unknown" if age is None else f"{max(0, age)} s old"
    near = "" if fix.within is None else f", within {fix.within:g} m"
    return done(
        f"{fix.latitude:.6f}, {fix.longitude:.6f} by {fix.provider}{near}, {old}",
        latitude=fix.latitude, longitude=fix.longitude, within=fix.within, age_seconds=age,
    )  # fmt: skip


def get_device_environment(phone: AdbPhone, _arguments: Mapping[str, Any]) -> ToolResult:
    locale = read_setting(phone, "system", "system_locales")
    facts = {
        "time": moment(now(phone) * 1000),
        "time zone": ask(phone, "getprop", "persist.sys.timezone").strip(),
        "language": locale or ask(phone, "getprop", "persist.sys.locale").strip(),
        "sound mode": _RINGER.get(read_setting(phone, "global", "mode_ringer") or "", ""),
        "do not disturb": "on"
        if (read_setting(phone, "global", "zen_mode") or "0") != "0"
        else "off",
        "brightness": f"{read_setting(phone, 'system', 'screen_brightness') or '?'} of 255",
        "dark theme": "on" if read_setting(phone, "secure", "ui_night_mode") == "2" else "off",
        "location": "off" if read_setting(phone, "secure", "location_mode") == "0" else "on",
        "temperatures": _heat(phone),
    }
    return told(facts)


def _heat(phone: AdbPhone) -> str:
    try:
        heat = parse_heat(ask(phone, "dumpsys", "thermalservice"))
    except NotAvailable:
        return ""
    return ", ".join(f"{name} {value:.1f} °C" for name, value in list(heat.items())[:12])
