"""Notifications from ``dumpsys notification``: those on show, and what is left of those removed.

Their text is written unescaped by whoever sent it, so it could look like a further notification.
The form without text is asked for as well: a head that is not in it is no notification.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from device_tools.adb import AdbPhone
from device_tools.result import ToolResult, done
from device_tools.system.ask import ask, listing, moment, one_line

_HEAD = re.compile(r"^ {4}NotificationRecord\(\S+: pkg=(\S+) user=.*$", re.MULTILINE)
_ARCHIVED = re.compile(
    r"^ +StatusBarNotification\(pkg=(\S+) user=.*?(?:channel=([^\s()]+).*)?$", re.M
)
_WHEN = re.compile(r"^ +when=(\d+)", re.MULTILINE)
_CATEGORY = re.compile(r"\bcategory=(\w+)")
# a value ends where the line that follows begins like a further extra, or closes the list
_EXTRA = re.compile(
    r"^ +android\.(title|text|bigText|subText)=(?:\w+ )?\((.*?)\)\s*$"
    r"(?=\n +(?:[\w.]+=|\}|\[\d+\]=)|\Z)",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Notification:
    """``when`` in milliseconds since the epoch, 0 when not told; ``ongoing`` ones stay until
    their app takes them away. Texts are "" where the phone does not tell them."""

    package: str
    title: str
    text: str
    when: int
    category: str = ""
    ongoing: bool = False


def parse_heads(text: str) -> frozenset[str]:
    """The first line of each record."""
    return frozenset(match[0] for match in _HEAD.finditer(text))


def parse_notifications(text: str, heads: Collection[str] | None = None) -> list[Notification]:
    """``dumpsys notification [--noredact]``, newest first; None as ``heads`` trusts every head."""
    marks = [mark for mark in _HEAD.finditer(text) if heads is None or mark[0] in heads]
    starts = [mark.start() for mark in marks] + [len(text)]
    records = [
        _record(mark, text[mark.end() : end]) for mark, end in zip(marks, starts[1:], strict=True)
    ]
    return sorted(records, key=lambda record: -record.when)


def parse_archive(text: str) -> list[tuple[str, str]]:
    """(package, channel) of the notifications that were removed last."""
    place = text.rfind("\n  mArchive=Archive (")
    return _ARCHIVED.findall(text, place) if place >= 0 else []


def _record(mark: re.Match[str], body: str) -> Notification:
    body = body.split("\n      publicNotification=", 1)[0]
    extras: dict[str, str] = {}
    for name, value in _EXTRA.findall(body):
        extras.setdefault(name, value)
    when, category = _WHEN.search(body), _CATEGORY.search(mark[0])
    text = extras.get("text", "")
    big = extras.get("bigText", "")
    return Notification(
        package=mark[1],
        title=extras.get("title", ""),
        text=big if len(big) > len(text) else text,
        when=int(when[1]) if when else 0,
        category=category[1] if category else "",
        ongoing="ONGOING_EVENT" in mark[0] or "\n      flags=ONGOING_EVENT" in body,
    )


def shown_notifications(phone: AdbPhone) -> list[Notification]:
    """What is on show now; see ``ask`` for errors."""
    text = ask(phone, "dumpsys", "notification", "--noredact")
    return parse_notifications(text, parse_heads(ask(phone, "dumpsys", "notification")))


def recent_notifications(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    package = arguments.get("package")
    records = [
        record
        for record in shown_notifications(phone)
        if (record.title or record.text) and package in (None, record.package)
    ]
    shown = records[: arguments.get("limit", 20)]
    lines = [
        f"{moment(item.when)} {item.package}: {one_line(item.title, 200)}"
        f"{' | ' if item.title and item.text else ''}{one_line(item.text)}"
        f"{' (ongoing)' if item.ongoing else ''}"
        for item in shown
    ]
    found = [
        {"package": item.package, "title": one_line(item.title), "text": one_line(item.text),
         "time": moment(item.when), "ongoing": item.ongoing}
        for item in shown
    ]  # fmt: skip
    nothing = "no notification is shown"
    return done(listing(lines, total=len(records), nothing=nothing), notifications=found)


def notification_history(phone: AdbPhone, _arguments: Mapping[str, Any]) -> ToolResult:
    removed = parse_archive(ask(phone, "dumpsys", "notification"))
    lines = [f"{package} (channel {channel or 'unknown'})" for package, channel in removed]
    found = [{"package": package, "channel": channel} for package, channel in removed]
    return done(listing(lines, nothing="the phone remembers none"), removed=found)
