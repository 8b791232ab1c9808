"""What the CTL parser says, and the bounds it keeps."""

from __future__ import annotations

from dataclasses import dataclass

from bridge.conversation.frames import ContractErrorKind as Kind


@dataclass(frozen=True)
class Limits:
    """Bounds in bytes (lines without their LF) and in numbers."""

    line: int = 8 * 1024
    argument: int = 1024 * 1024
    arguments_per_call: int = 64
    calls_per_message: int = 64


@dataclass(frozen=True)
class Text:
    """Bytes that no later byte can turn into a frame."""

    data: bytes


@dataclass(frozen=True)
class CallStart:
    id: str
    name: str


@dataclass(frozen=True)
class ArgumentPiece:
    """Confirmed bytes of the value of ``key``; one piece per argument and fed chunk."""

    id: str
    key: str
    data: bytes


@dataclass(frozen=True)
class CallEnd:
    """The call is whole: its frame is the bytes ``start`` to ``stop`` of the stream."""

    id: str
    name: str
    start: int
    stop: int


@dataclass(frozen=True)
class Fault:
    """The grammar was broken at byte ``position``; ``line`` is the line to blame, if one is."""

    kind: Kind
    position: int
    what: str
    line: bytes = b""
    declared: int | None = None
    arrived: int | None = None
    call_id: str = ""
    tool: str = ""


@dataclass(frozen=True)
class Stop:
    """What follows the last whole call is a guess of the model: read no further."""


Event = Text | CallStart | ArgumentPiece | CallEnd | Fault | Stop
