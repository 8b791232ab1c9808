"""The newest lines of the system log, filtered here: no word of a filter reaches a shell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from device_tools.adb import AdbPhone
from device_tools.result import ToolResult, done
from device_tools.system.ask import ask, listing, one_line

LEVELS = "VDIWEF"
_READ = 5000
# threadtime; `-v uid` puts a further number or name in front of the process
_HEAD = re.compile(
    r"(?P<time>(?:\d{4}-)?\d\d-\d\d \d\d:\d\d:\d\d\.\d+) +(?:[\w.]+ +)??(?P<pid>\d+) +\d+ +"
    r"(?P<level>[VDIWEFSA]) "
)


@dataclass(frozen=True)
class LogLine:
    time: str
    pid: int
    level: str
    tag: str
    message: str


def parse_log(text: str) -> list[LogLine]:
    """``logcat -v threadtime``; lines of another form (buffers' headings) are left out."""
    parsed = []
    for line in text.removeprefix("\ufeff").splitlines():
        head = _HEAD.match(line)
        tag, colon, message = line[head.end() :].partition(": ") if head else ("", "", "")
        if head and colon:
            pid = int(head["pid"])
            parsed.append(LogLine(head["time"], pid, head["level"], tag.strip(), message))
    return parsed


def get_logcat(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    text, tag = arguments.get("text", "").casefold(), arguments.get("tag")
    lowest = LEVELS.index(arguments.get("level", "V"))
    kept = [
        line
        for line in parse_log(ask(phone, "logcat", "-d", "-v", "threadtime", "-t", str(_READ)))
        if (line.level not in LEVELS or LEVELS.index(line.level) >= lowest)
        and tag in (None, line.tag)
        and text in f"{line.tag}: {line.message}".casefold()
    ]
    newest_first = kept[::-1][: arguments.get("lines", 100)]
    shown = [f"{e.time} {e.level} {e.tag}: {one_line(e.message, 400)}" for e in newest_first]
    nothing = f"no such line among the newest {_READ}"
    return done(listing(shown, total=len(kept), nothing=nothing), matching=len(kept))
