"""``content query``: the phone's own messages, calls, contacts, events and media as rows.

Texts are printed as they are, as on Android: a message may hold what looks like a further row.
``--where`` understands comparisons of number columns joined by AND.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from device_tools.virtual.framework.reply import fail, option, out
from device_tools.virtual.ports import CommandResult
from device_tools.virtual.state import PhoneState
from device_tools.virtual.ui.screen import TouchScreen

Row = Mapping[str, object]
_CONDITION = re.compile(r"\s*(\w+)\s*(<=|>=|<|>|=)\s*(-?\d+)\s*")
_SHARED = "/storage/emulated/0"
_CALLS = (
    ("Maria Lopez", "+15550100123", 1, 184, 3_600),
    ("", "+15550100188", 3, 0, 90_000),
    ("王小明", "+8613800138000", 2, 45, 200_000),
)
_EVENTS = (("Dentist", "12 Main Street", 86_400, 1_800), ("团队会议", "三楼会议室", 7_200, 3_600))
_FILES = (
    ("images", "DCIM/Camera/IMG_20261129_101010.jpg", 2_481_152, 3_000),
    ("images", "Pictures/Screenshots/Screenshot_1.png", 381_952, 9_000),
    ("video", "DCIM/Camera/VID_20261128_090909.mp4", 48_381_952, 86_400),
    ("audio", "Music/Aria, with comma.mp3", 5_381_952, 172_800),
    ("audio", "Recordings/Voice 001.m4a", 181_952, 4_000),
    ("downloads", "Download/Invoice 2026-11.pdf", 91_136, 5_000),
)


def content(screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    """Only ``query``; unknown providers are told as Android does, with code 0."""
    uri = option(args, "--uri") or ""
    if list(args[:1]) != ["query"] or not uri:
        return fail("usage: adb shell content [subcommand] [options]", 1)
    provider = _PROVIDERS.get(uri.removeprefix("content://").rstrip("/"))
    if provider is None:
        authority = uri.removeprefix("content://").split("/")[0]
        return CommandResult(
            b"", f"Error while accessing provider:{authority}\njava.lang."
            f"IllegalArgumentException: Unknown URL {uri}\n".encode()
        )  # fmt: skip
    rows = [row for row in provider(screen.state) if _matches(row, option(args, "--where") or "")]
    rows = _sorted(rows, option(args, "--sort") or "")
    columns = (option(args, "--projection") or ":".join(rows[0] if rows else ())).split(":")
    if missing := [name for name in columns if rows and name not in rows[0]]:
        text = f"android.database.sqlite.SQLiteException: no such column: {missing[0]}"
        return CommandResult(b"", f"Error while accessing provider:{uri}\n{text}\n".encode())
    lines = [
        f"Row: {number} {', '.join(f'{name}={_cell(row[name])}' for name in columns)}"
        for number, row in enumerate(rows)
    ]
    return out("\n".join(lines) if lines else "No result found.")


def _cell(value: object) -> str:
    return "NULL" if value is None else str(value)


def _matches(row: Row, where: str) -> bool:
    compare: Mapping[str, Callable[[int, int], bool]] = {
        "<": lambda a, b: a < b, ">": lambda a, b: a > b, "=": lambda a, b: a == b,
        "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b,
    }  # fmt: skip
    parts = [_CONDITION.fullmatch(part) for part in where.split(" AND ") if part]
    return all(
        part is not None and compare[part[2]](int(str(row.get(part[1], 0))), int(part[3]))
        for part in parts
    )


def _sorted(rows: list[Row], sort: str) -> list[Row]:
    name, _, direction = sort.partition(" ")
    if not rows or name not in rows[0]:
        return rows
    return sorted(rows, key=lambda row: int(str(row[name])), reverse=direction.upper() == "DESC")


def _messages(state: PhoneState) -> list[Row]:
    """Kind 1 was received, 2 was sent."""
    found = [
        (message.sent, thread.number, message.text, 2 if message.mine else 1)
        for thread in state.threads
        for message in thread.messages
    ]
    return [
        {"_id": number, "address": address, "date": int(sent * 1000), "type": kind, "body": text}
        for number, (sent, address, text, kind) in enumerate(sorted(found, key=_first), 1)
    ]


def _first(found: tuple[float, str, str, int]) -> float:
    return found[0]


def _inbox(state: PhoneState) -> list[Row]:
    return [row for row in _messages(state) if row["type"] == 1]


def _calls(state: PhoneState) -> list[Row]:
    return [
        {"_id": number, "name": name or None, "number": phone, "type": kind, "duration": seconds,
         "date": int((state.started - age) * 1000)}
        for number, (name, phone, kind, seconds, age) in enumerate(_CALLS, 1)
    ]  # fmt: skip


def _contacts(state: PhoneState) -> list[Row]:
    return [
        {"_id": number, "display_name": contact.name, "data1": contact.phone}
        for number, contact in enumerate(state.contacts, 1)
    ]


def _events(state: PhoneState) -> list[Row]:
    return [
        {"_id": number, "title": title, "eventLocation": place,
         "dtstart": int((state.started + ahead) * 1000),
         "dtend": int((state.started + ahead + length) * 1000)}
        for number, (title, place, ahead, length) in enumerate(_EVENTS, 1)
    ]  # fmt: skip


def _media(kind: str) -> Callable[[PhoneState], list[Row]]:
    def rows(state: PhoneState) -> list[Row]:
        return [
            {"_id": number, "_data": f"{_SHARED}/{path}", "_size": size, "duration": 61_000,
             "date_modified": int(state.started - age), "artist": "<unknown>",
             "title": path.rsplit("/", 1)[-1].rsplit(".", 1)[0]}
            for number, (each, path, size, age) in enumerate(_FILES, 1)
            if kind in (each, "file")
        ]  # fmt: skip

    return rows


_PROVIDERS: Mapping[str, Callable[[PhoneState], list[Row]]] = {
    "sms": _messages,
    "sms/inbox": _inbox,
    "call_log/calls": _calls,
    "com.android.contacts/data/phones": _contacts,
    "com.android.calendar/events": _events,
    "media/external/images/media": _media("images"),
    "media/external/video/media": _media("video"),
    "media/external/audio/media": _media("audio"),
    "media/external/downloads": _media("downloads"),
    "media/external/file": _media("file"),
}
