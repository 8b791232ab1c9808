"""One-time codes received by SMS: code, sender and time, never the message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from device_tools.adb import AdbPhone
from device_tools.errors import NotAvailable
from device_tools.otp import find_code
from device_tools.result import ToolResult, done
from device_tools.system.ask import listing, moment, now, one_line
from device_tools.system.content import Query, fetch
from device_tools.system.notifications import shown_notifications

_MOST_CODES, _MOST_MESSAGES = 5, 200
_SMS_APPS = ("messaging", "mms", "sms", "messages")


@dataclass(frozen=True)
class Received:
    """One message; ``when`` in milliseconds since the epoch."""

    sender: str
    text: str
    when: int


def read_sms_code(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    minutes = arguments.get("minutes", 15)
    clock = now(phone) * 1000
    source, messages = _received(phone, clock - minutes * 60_000)
    wanted = arguments.get("sender", "").casefold()
    found = [
        {"code": code, "sender": one_line(message.sender, 60), "time": moment(message.when)}
        for message in messages
        if wanted in message.sender.casefold() and (code := find_code(message.text))
    ][:_MOST_CODES]
    lines = [f"{item['code']} from {item['sender']} at {item['time']}" for item in found]
    nothing = f"no one-time code in the last {minutes} minutes ({source})"
    result = done(listing(lines, nothing=nothing), codes=found, source=source)
    return replace(result, secrets=tuple(item["code"] for item in found))


def _received(phone: AdbPhone, since: int) -> tuple[str, list[Received]]:
    """Newest first. Where adb may not read messages, the notifications of them have to do."""
    query = Query(
        "content://sms/inbox", ("_id", "date"), ("address", "body"), f"date > {since}", "date DESC"
    )
    try:
        rows = fetch(phone, query)
    except NotAvailable:
        return "notifications", [
            Received(item.title, item.text, item.when)
            for item in shown_notifications(phone)
            if item.when > since and _is_sms(item.package)
        ]
    rows = rows[:_MOST_MESSAGES]
    return "messages", [Received(r["address"], r["body"], int(r["date"] or 0)) for r in rows]


def _is_sms(package: str) -> bool:
    return any(part in _SMS_APPS for part in package.lower().split("."))
