"""The records the apps of the virtual phone keep."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import time as seconds_now


@dataclass
class Message:
    """``time`` as the app shows it, ``sent`` in seconds since the epoch."""

    text: str
    time: str
    mine: bool = False
    sent: float = field(default_factory=seconds_now)


@dataclass
class Thread:
    """A conversation, newest message last."""

    name: str
    number: str
    messages: list[Message]
    unread: bool = False


@dataclass
class Note:
    title: str
    body: str


@dataclass
class Contact:
    name: str
    phone: str


@dataclass
class Notification:
    """``thread`` is the conversation it opens ("" = nothing)."""

    package: str
    title: str
    text: str
    thread: str = ""
    when: float = field(default_factory=seconds_now)
