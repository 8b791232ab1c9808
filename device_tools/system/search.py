"""Searching the user's own data: messages, calls, contacts, events, media and files.

Rows are fetched newest first and compared here: no word of a query reaches a shell or a database.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from device_tools.adb import AdbPhone
from device_tools.errors import NotAvailable
from device_tools.result import ToolResult, done
from device_tools.system.ask import listing, moment, now, one_line
from device_tools.system.content import Query, fetch

Row = Mapping[str, str]
_MEDIA = "content://media/external"
_FILE_NUMBERS = ("_id", "date_modified", "_size")
_CALLS = {"1": "incoming", "2": "outgoing", "3": "missed", "5": "rejected", "6": "blocked"}
_RECORDING = ("record", "录音", "voice", "call")
_DAY = 86_400_000


def search_messages(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    def line(row: Row) -> str:
        way = "to" if row["type"] in ("2", "4", "5", "6") else "from"
        return (
            f"{moment(row['date'])} {way} {one_line(row['address'], 60)}: {one_line(row['body'])}"
        )

    since = _since(phone, arguments)
    rows = fetch(
        phone,
        Query(
            "content://sms", ("_id", "date", "type"), ("address", "body"), f"date > {since}",
            "date DESC",
        ),
    )  # fmt: skip
    return _found(rows, arguments, line)


def search_call_history(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    def line(row: Row) -> str:
        name = f" {one_line(row['name'], 80)}" if row["name"] else ""
        kind = _CALLS.get(row["type"], "other")
        return f"{moment(row['date'])} {kind} {row['number']}{name}, {row['duration'] or 0} s"

    since = _since(phone, arguments)
    rows = fetch(
        phone,
        Query(
            "content://call_log/calls", ("_id", "date", "type", "duration"), ("number", "name"),
            f"date > {since}", "date DESC",
        ),
    )  # fmt: skip
    return _found(rows, arguments, line)


def search_contacts(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    rows = fetch(
        phone,
        Query("content://com.android.contacts/data/phones", ("_id",), ("data1", "display_name")),
    )
    rows.sort(key=lambda row: row["display_name"].casefold())
    return _found(rows, arguments, lambda row: f"{row['display_name']}: {row['data1']}")


def search_calendar(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    def line(row: Row) -> str:
        place = f" at {one_line(row['eventLocation'], 100)}" if row["eventLocation"] else ""
        title = one_line(row["title"], 200) or "without title"
        return f"{moment(row['dtstart'])} to {moment(row['dtend'])}: {title}{place}"

    days = arguments.get("days", 30)
    clock = now(phone) * 1000
    rows = fetch(
        phone,
        Query(
            "content://com.android.calendar/events", ("_id", "dtstart", "dtend"),
            ("eventLocation", "title"),
            f"dtstart > {clock - days * _DAY} AND dtstart < {clock + days * _DAY}", "dtstart ASC",
        ),
    )  # fmt: skip
    return _found(rows, arguments, line)


def search_media(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    rows = [row for kind in ("images", "video") for row in _files(phone, f"{_MEDIA}/{kind}/media")]
    rows.sort(key=_age)
    return _found(rows, arguments, _file_line)


def search_audio(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    def line(row: Row) -> str:
        seconds = int(row["duration"] or 0) // 1000
        artist = f" by {one_line(row['artist'], 80)}" if row["artist"] != "<unknown>" else ""
        return f"{one_line(row['title'], 120)}{artist}, {seconds} s, {one_line(row['_data'], 200)}"

    query = Query(
        f"{_MEDIA}/audio/media", ("_id", "date_modified", "duration"), ("_data", "artist", "title"),
        sort="date_modified DESC",
    )  # fmt: skip
    return _found(fetch(phone, query), arguments, line)


def search_recordings(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    rows = _files(phone, f"{_MEDIA}/audio/media")
    kept = [row for row in rows if any(word in row["_data"].casefold() for word in _RECORDING)]
    return _found(kept, arguments, _file_line)


def search_files(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    return _found(_files(phone, f"{_MEDIA}/file"), arguments, _file_line)


def search_downloads(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    try:
        rows = _files(phone, f"{_MEDIA}/downloads")
    except NotAvailable:
        # the collection came with Android 10
        rows = [
            row for row in _files(phone, f"{_MEDIA}/file") if "/download" in row["_data"].lower()
        ]
    return _found(rows, arguments, _file_line)


def _files(phone: AdbPhone, uri: str) -> list[dict[str, str]]:
    return fetch(phone, Query(uri, _FILE_NUMBERS, ("_data",), sort="date_modified DESC"))


def _file_line(row: Row) -> str:
    stamp = moment(int(row["date_modified"] or 0) * 1000)
    return f"{one_line(row['_data'], 300)}, {int(row['_size'] or 0):,} bytes, {stamp}"


def _age(row: Row) -> int:
    return -int(row["date_modified"] or 0)


def _since(phone: AdbPhone, arguments: Mapping[str, Any]) -> int:
    """Milliseconds since the epoch on the phone's own clock."""
    return now(phone) * 1000 - int(arguments.get("days", 30)) * _DAY


def _found(
    rows: list[dict[str, str]], arguments: Mapping[str, Any], line: Callable[[Row], str]
) -> ToolResult:
    """The rows that hold every word of the query, as many as asked for."""
    words = arguments.get("query", "").casefold().split()
    kept = [row for row in rows if _holds(row, words)]
    shown = kept[: arguments.get("limit", 20)]
    found = [{key: one_line(value) for key, value in row.items()} for row in shown]
    return done(listing([line(row) for row in shown], total=len(kept)), found=found)


def _holds(row: Row, words: list[str]) -> bool:
    text = "\n".join(row.values()).casefold()
    return all(word in text for word in words)
