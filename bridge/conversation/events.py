"""Events of a run: the one stream that the record, the terminal, ``--json`` and reports share.

They are raw here. ``bridge.store.redaction`` turns each into the ``Redacted`` record that may
be stored or shown; nothing else leaves the process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from enum import StrEnum
from typing import Any

from device_tools.schema import RiskGroup

SENSITIVE_PICTURE = ", not kept: the screen shows a secret"
"""Ends the note of a picture of which not even a small copy may be kept."""
_UNRECORDED = {"recorded": False}


def recorded_fields(kind: Any) -> tuple[Field[Any], ...]:
    """The fields of an event or of its class that its record has; the others tell the redaction
    what to hide."""
    return tuple(item for item in fields(kind) if item.metadata.get("recorded", True))


class RunStatus(StrEnum):
    """How a run ended."""

    DONE = "done"
    FAILED = "failed"
    LIMIT = "limit"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    """The process died; written by whoever opens the record next."""


@dataclass(frozen=True)
class RunStarted:
    """``images`` are the notes of the user's own pictures. ``base_url`` is the server where it is
    not the provider's own, ``continues`` the run before this one in the same session."""

    task: str
    device: str
    provider: str
    model: str
    protocol: str
    images: tuple[str, ...] = ()
    base_url: str = ""
    continues: str = ""


@dataclass(frozen=True)
class ResponseStarted:
    turn: int


@dataclass(frozen=True)
class AssistantText:
    """``secrets`` are values that must not be stored from here on."""

    turn: int
    text: str
    secrets: tuple[str, ...] = field(default=(), metadata=_UNRECORDED, repr=False)


@dataclass(frozen=True)
class ReasoningText:
    """The reasoning of one response as far as the server shows it, bounded; no part of the answer.
    ``summary``: all of it is the server's summary of the reasoning."""

    turn: int
    text: str
    summary: bool


@dataclass(frozen=True)
class HostedToolStarted:
    """The provider began to run a tool of its own (web search): never a call of ours."""

    turn: int
    id: str
    name: str


@dataclass(frozen=True)
class HostedToolEnded:
    turn: int
    id: str
    name: str
    failed: bool


@dataclass(frozen=True)
class CallIntended:
    """Written and synced before the call executes. ``frame`` is the confirmed source text.
    ``hidden`` names the arguments that must not be stored."""

    turn: int
    call_id: str
    name: str
    group: RiskGroup
    arguments: Mapping[str, Any]
    frame: str = ""
    hidden: tuple[str, ...] = field(default=(), metadata=_UNRECORDED)


@dataclass(frozen=True)
class CallFinished:
    """The answer of a call, refused ones too (those have no intent). ``secrets`` are values that
    must not be stored from here on; ``storable`` stands in the record instead of ``text``.
    ``arguments`` and ``frame`` are those of the call, also of one without an intent."""

    turn: int
    call_id: str
    name: str
    group: RiskGroup
    outcome: str
    exit_code: int
    error: str
    text: str
    milliseconds: float
    images: tuple[str, ...] = ()
    secrets: tuple[str, ...] = field(default=(), metadata=_UNRECORDED, repr=False)
    storable: str | None = field(default=None, metadata=_UNRECORDED, repr=False)
    arguments: Mapping[str, Any] = field(default_factory=dict, metadata=_UNRECORDED, repr=False)
    frame: str = field(default="", metadata=_UNRECORDED, repr=False)


@dataclass(frozen=True)
class ContractFault:
    turn: int
    kind: str
    message: str


@dataclass(frozen=True)
class Notice:
    """Something a reader of the record should know: a retry, a cut, a dropped picture."""

    turn: int
    text: str


@dataclass(frozen=True)
class Approval:
    """The user was asked whether a call may run: ``answer`` is yes, no or always."""

    turn: int
    call_id: str
    name: str
    answer: str


@dataclass(frozen=True)
class SteeringQueued:
    """A message of the user during the run, the ``number``-th of it; synced before it is
    acknowledged. ``source`` is where it was written: terminal or socket."""

    number: int
    text: str
    source: str


@dataclass(frozen=True)
class SteeringRead:
    """The message goes out with the next request; ``turn`` is the turn that reads it."""

    turn: int
    number: int
    text: str


@dataclass(frozen=True)
class Paused:
    """The run stands still before a request or a call, after ``turn`` turns began."""

    turn: int


@dataclass(frozen=True)
class Resumed:
    turn: int


@dataclass(frozen=True)
class ResponseFinished:
    """Tokens are None where the server did not say, always so for the output of a reply that was
    not read to its end. ``cost`` is None when it or the price is unknown. ``raw_reason`` is the
    server's own word for the end, "" without one."""

    turn: int
    reason: str
    text: str
    input_tokens: int | None
    output_tokens: int | None
    milliseconds: float
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None
    raw_reason: str = ""


@dataclass(frozen=True)
class RunFinished:
    """The one terminal event. ``summary`` is for people, ``output`` the answer asked for.

    ``totals``: turns, calls, seconds, the sums of the tokens and of the cost as far as they are
    known (None: never known), ``currency``, and ``unreported``: replies that do not count in
    these sums, or not wholly. ``unread``: messages of the user that no turn has read.
    """

    status: RunStatus
    exit_code: int
    summary: str
    output: str = ""
    error: str = ""
    advice: str = ""
    totals: Mapping[str, Any] = field(default_factory=dict)
    unread: tuple[str, ...] = ()


RunEvent = (
    RunStarted
    | ResponseStarted
    | AssistantText
    | ReasoningText
    | HostedToolStarted
    | HostedToolEnded
    | CallIntended
    | CallFinished
    | ContractFault
    | Notice
    | Approval
    | SteeringQueued
    | SteeringRead
    | Paused
    | Resumed
    | ResponseFinished
    | RunFinished
)
