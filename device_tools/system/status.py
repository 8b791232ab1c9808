"""How the phone is: battery, memory, storage, and which apps hold most of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from device_tools.adb import AdbPhone
from device_tools.errors import NotAvailable
from device_tools.result import ToolResult, done
from device_tools.system.ask import ask, listing, one_line, require_answer, told, unavailable

_FACT = re.compile(r"^ *(\w[\w ]*): (.*)$", re.MULTILINE)
_PROPERTY = re.compile(r"^\[([^\]]+)\]: \[(.*)\]$", re.MULTILINE)
_PROCESS = re.compile(r"^ +([\d,]+)K: (\S+) \(pid (\d+)")
_STATUS = {"2": "charging", "3": "discharging", "4": "not charging", "5": "full"}


@dataclass(frozen=True)
class Battery:
    """``percent`` 0..100, ``celsius``, ``state`` in words, ``plugged`` the sources of power."""

    percent: int
    celsius: float
    state: str
    plugged: tuple[str, ...]


def parse_battery(text: str) -> Battery | None:
    """``dumpsys battery`` (Android 4 to 15); None when it has no level."""
    facts = {name.strip(): value.strip() for name, value in _FACT.findall(text)}
    level, scale = facts.get("level", ""), facts.get("scale", "100")
    if not (level.isdigit() and scale.isdigit() and int(scale)):
        return None
    heat = facts.get("temperature", "")
    plugged = [name[: -len(" powered")] for name, on in facts.items() if on == "true"
               and name.endswith(" powered")]  # fmt: skip
    return Battery(
        int(level) * 100 // int(scale),
        int(heat) / 10 if heat.lstrip("-").isdigit() else 0.0,
        _STATUS.get(facts.get("status", ""), "unknown"),
        tuple(plugged),
    )


def parse_properties(text: str) -> dict[str, str]:
    """``getprop`` without arguments."""
    return dict(_PROPERTY.findall(text))


def parse_memory(text: str) -> dict[str, int]:
    """``/proc/meminfo``: kilobytes by name."""
    return {
        name: int(size) for name, size in re.findall(r"^(\w+):\s+(\d+) kB$", text, re.MULTILINE)
    }


def parse_storage(text: str) -> tuple[int, int] | None:
    """``df -k``: (all, free) kilobytes of its last line. A long device name may stand alone."""
    numbers = re.findall(r"\s(\d+)\s+(\d+)\s+(\d+)\s+\d+%", text)
    return (int(numbers[-1][0]), int(numbers[-1][2])) if numbers else None


def parse_processes(text: str) -> list[tuple[str, int, int]]:
    """``dumpsys meminfo``: (process, pid, kilobytes), PSS where the phone counts it (it holds what
    is swapped out), else RSS."""
    tables: dict[str, list[tuple[str, int, int]]] = {}
    kind = ""
    for line in text.splitlines():
        if heading := re.match(r"Total (PSS|RSS) by (\w+)", line):
            kind = heading[1] if heading[2] == "process" else ""
        elif kind and (row := _PROCESS.match(line)):
            size = int(row[1].replace(",", ""))
            tables.setdefault(kind, []).append((row[2], int(row[3]), size))
    rows = tables.get("PSS") or tables.get("RSS") or []
    return sorted(rows, key=lambda row: -row[2])


def parse_app_sizes(text: str) -> list[tuple[str, int, int, int]]:
    """``dumpsys diskstats`` (Android 8 and newer): (package, app, data, cache) bytes."""
    columns = []
    for label in ("Package Names", "App Sizes", "App Data Sizes", "Cache Sizes"):
        found = re.search(rf"^ *{label}: (\[.*\]) *$", text, re.MULTILINE)
        columns.append(_values(found[1]) if found else [])
    names, *sizes = columns
    numbers = [
        [value if isinstance(value, int) else 0 for value in column] + [0] * len(names)
        for column in sizes
    ]
    apps, data, caches = numbers
    rows = list(zip(map(str, names), apps, data, caches, strict=False))
    return sorted(rows, key=lambda row: -sum(row[1:]))


def _values(text: str) -> list[Any]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return values if isinstance(values, list) else []


def device_status(phone: AdbPhone, _arguments: Mapping[str, Any]) -> ToolResult:
    properties = parse_properties(ask(phone, "getprop"))
    facts = {
        "model": f"{properties.get('ro.product.manufacturer', '')} "
        f"{properties.get('ro.product.model', '')}".strip(),
        "android": properties.get("ro.build.version.release", ""),
        "api_level": properties.get("ro.build.version.sdk", ""),
        "build": properties.get("ro.build.id", ""),
    }
    battery = parse_battery(ask(phone, "dumpsys", "battery"))
    if battery:
        plug = f", plugged into {', '.join(battery.plugged)}" if battery.plugged else ""
        facts["battery"] = f"{battery.percent} %, {battery.state}, {battery.celsius:g} °C{plug}"
    facts |= _memory_and_storage(phone)
    return told(facts)


def _memory_and_storage(phone: AdbPhone) -> dict[str, str]:
    facts = {}
    try:
        memory = parse_memory(ask(phone, "cat", "/proc/meminfo"))
        if "MemTotal" in memory:
            free = memory.get("MemAvailable", memory.get("MemFree", 0))
            facts["memory"] = f"{megabytes(free)} of {megabytes(memory['MemTotal'])} available"
        if storage := parse_storage(ask(phone, "df", "-k", "/data")):
            facts["storage"] = f"{megabytes(storage[1])} of {megabytes(storage[0])} free"
        seconds = ask(phone, "cat", "/proc/uptime").split(".")[0]
        if seconds.isdigit():
            facts["uptime"] = f"{int(seconds) // 3600} h {int(seconds) // 60 % 60} min"
    except NotAvailable as error:
        # some makers hide /proc or df: the rest of the answer is still good
        facts["left out"] = error.message
    return facts


def megabytes(kilobytes: int) -> str:
    return f"{kilobytes / 1024:,.0f} MB"


def top_memory_apps(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    text = ask(phone, "dumpsys", "meminfo")
    rows = parse_processes(text)
    require_answer(rows, "dumpsys meminfo", text)
    shown = rows[: arguments.get("limit", 20)]
    lines = [f"{megabytes(size)}  {one_line(name, 120)} (pid {pid})" for name, pid, size in shown]
    found = [{"process": name, "pid": pid, "kilobytes": size} for name, pid, size in shown]
    return done(listing(lines, total=len(rows)), processes=found)


def top_storage_apps(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    rows = parse_app_sizes(ask(phone, "dumpsys", "diskstats"))
    if not rows:
        raise unavailable("storage by app", "dumpsys diskstats tells it from Android 8 on")
    shown = rows[: arguments.get("limit", 20)]
    lines = [
        f"{megabytes((app + data + cache) // 1024)}  {one_line(name, 120)} (app "
        f"{megabytes(app // 1024)}, data {megabytes(data // 1024)}, cache "
        f"{megabytes(cache // 1024)})"
        for name, app, data, cache in shown
    ]
    found = [{"package": row[0], "app": row[1], "data": row[2], "cache": row[3]} for row in shown]
    return done(listing(lines, total=len(rows)), apps=found)
