"""Seeded replies of a model as the experiments need them: text and one to ten calls each.

The calls are those of a phone run: short arguments (taps, texts, apps) and long ones (files,
scripts, patches). A value of several lines ends in a newline, because a heredoc cannot say
otherwise, and none holds a tag of the XML mode, which cannot say that at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from bridge.conversation.finish import FINISH
from device_tools.catalog import PHONE_TOOLS
from device_tools.schema import ToolSpec, arguments_schema

_TEXT: Mapping[str, Any] = {"type": "string", "maxLength": 200_000}
WRITE_FILE = ToolSpec(
    "write_file",
    "Write a text file, replacing what is there.",
    arguments_schema({"path": _TEXT, "content": _TEXT}, ["path", "content"]),
)
FILE_TOOLS: tuple[ToolSpec, ...] = (
    WRITE_FILE,
    ToolSpec("read_file", "Read a text file.", arguments_schema({"path": _TEXT}, ["path"])),
    ToolSpec(
        "run_command", "Run a shell script.", arguments_schema({"command": _TEXT}, ["command"])
    ),
    ToolSpec(
        "apply_patch",
        "Change files by a unified diff.",
        arguments_schema({"patch": _TEXT}, ["patch"]),
    ),
)
BENCH_TOOLS: tuple[ToolSpec, ...] = (*PHONE_TOOLS, *FILE_TOOLS, FINISH)
"""The phone's own tools, and file tools of the experiments' own, which nothing here executes."""

MAX_CALLS = 10

_SENTENCES = (
    "I open the app and look for the entry.",
    "The list is longer than the screen, so I scroll first.",
    "Zuerst öffne ich die Einstellungen und prüfe die Verbindung.",
    "接下来我打开备忘录并写下结果。",
    "Das Wörterbuch kennt “naïve” und «señal» — sonst nichts 🙂",
    "Then I type the note and save it.",
    "call me when it is done; end of the note",
)
_LINES = (
    "def total(rows: list[dict[str, int]]) -> int:",
    '    return sum(row["count"] for row in rows if row["kind"] != "skip")',
    "cat > /sdcard/Download/list.txt <<EOF",
    "EOF",
    "end",
    "call c1 tap",
    "result c1 exit=0 2",
    'echo "free: $(df -h /data | tail -n 1)" | tee -a "$LOG"',
    '{"name": "tap", "arguments": {"x": 540, "y": 1200}}',
    "| Wi-Fi | an | 5 GHz | −48 dBm |",
    "- [ ] Müll rausbringen, Brötchen kaufen",
    "日志：电池 87 %，温度 31 °C",
    '\tif (x < 0 && y > 1) { return "\\n"; }',
    "",
)
_APPS = ("Settings", "Notes", "com.android.chrome", "Kalender", "微信", "Files by Google")
_FOLDERS = ("/sdcard/Download", "/data/local/tmp", "/sdcard/Documents/Notizen")


@dataclass(frozen=True)
class Call:
    """What the model means, whatever mode says it."""

    name: str
    arguments: Mapping[str, str | int | bool]


@dataclass(frozen=True)
class Reply:
    """One message of the model. ``text`` is "" or ends in a newline."""

    text: str
    calls: tuple[Call, ...]

    @property
    def characters(self) -> int:
        """Of the content: text, tool names and values, without any mode's own syntax."""
        names = sum(len(call.name) for call in self.calls)
        values = (spelt(value) for call in self.calls for value in call.arguments.values())
        return len(self.text) + names + sum(map(len, values))


def spelt(value: str | int | bool) -> str:
    """A value as every mode spells it between its delimiters."""
    return value if isinstance(value, str) else json.dumps(value)


def replies(count: int, seed: int = 0) -> tuple[Reply, ...]:
    """``count`` replies; the number of calls goes 1, 2, ... 10, 1, ..., all else is drawn.

    Every second round keeps to short arguments, so that all sizes of message occur.
    """
    return tuple(
        reply(Random(f"{seed}/{number}"), number % MAX_CALLS + 1, number // MAX_CALLS % 2 == 0)  # noqa: S311
        for number in range(count)
    )


def reply(random: Random, calls: int, short: bool) -> Reply:
    """One reply with this number of calls."""
    text = "".join(f"{random.choice(_SENTENCES)}\n" for _ in range(random.randint(0, 2)))
    make = _SHORT if short else _SHORT + _LONG
    return Reply(text, tuple(random.choice(make)(random) for _ in range(calls)))


def lines_of(random: Random, size: int) -> str:
    """Whole lines of mixed material, at least ``size`` characters."""
    lines: list[str] = []
    length = 0
    while length < size:
        lines.append(random.choice(_LINES))
        length += len(lines[-1]) + 1
    return "\n".join(lines) + "\n"


def _size(random: Random, low: int, high: int) -> int:
    """Spread evenly over the orders of magnitude, as sizes of files are."""
    return int(low * (high / low) ** random.random())


def _tap(random: Random) -> Call:
    return Call("tap", {"x": random.randint(0, 1079), "y": random.randint(0, 2399)})


def _tap_element(random: Random) -> Call:
    return Call("tap_element", {"index": random.randint(1, 80)})


def _swipe(random: Random) -> Call:
    y1, y2 = random.randint(0, 2399), random.randint(0, 2399)
    return Call("swipe", {"x1": 540, "y1": y1, "x2": 540, "y2": y2, "duration_ms": 300})


def _observe(random: Random) -> Call:
    return Call("observe_screen", {"screenshot": False} if random.random() < 0.5 else {})


def _list_apps(random: Random) -> Call:
    return Call("list_apps", {"query": random.choice(_APPS)} if random.random() < 0.5 else {})


def _open_app(random: Random) -> Call:
    return Call("open_app", {"app": random.choice(_APPS)})


def _type(random: Random) -> Call:
    text = random.choice((random.choice(_SENTENCES), "4417", "true", "“quoted”", '"quoted"'))
    return Call("type_text", {"text": text, "index": random.randint(1, 80), "mode": "replace"})


def _wait(random: Random) -> Call:
    return Call("wait_for", {"text": random.choice(_SENTENCES), "timeout_ms": 5000})


def _note(random: Random) -> Call:
    return Call("type_text", {"text": lines_of(random, _size(random, 60, 600))})


def _write_file(random: Random) -> Call:
    path = f"{random.choice(_FOLDERS)}/file-{random.randint(1, 99)}.txt"
    return Call("write_file", {"path": path, "content": lines_of(random, _size(random, 200, 8000))})


def _run(random: Random) -> Call:
    return Call("run_command", {"command": lines_of(random, _size(random, 40, 1000))})


def _patch(random: Random) -> Call:
    old, new = (lines_of(random, _size(random, 100, 2000)).splitlines() for _ in range(2))
    head = ["--- a/notes.txt", "+++ b/notes.txt", f"@@ -1,{len(old)} +1,{len(new)} @@"]
    body = [*head, *(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    return Call("apply_patch", {"patch": "\n".join(body) + "\n"})


_SHORT = (_tap, _tap_element, _swipe, _observe, _list_apps, _open_app, _type, _wait)
_LONG = (_note, _write_file, _run, _patch)
