"""What a carrier emits while a response streams in: an append-only sequence, never taken back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bridge.conversation.messages import ToolCall


class ContractErrorKind(StrEnum):
    """The seven ways a model can break the call grammar."""

    BAD_CALL = "bad_call"
    BAD_ARG = "bad_arg"
    UNEXPECTED_LINE = "unexpected_line"
    BODY_EOF = "body_eof"
    HEREDOC_EOF = "heredoc_eof"
    LINE_TOO_LONG = "line_too_long"
    LIMIT = "limit"


@dataclass(frozen=True)
class TextConfirmed:
    """Assistant text that no later byte can turn into a frame."""

    text: str


@dataclass(frozen=True)
class CallOpened:
    id: str
    name: str


@dataclass(frozen=True)
class ArgumentConfirmed:
    """A confirmed piece of the value of ``key``; ``text`` may be empty on its header. Native
    calls have the key "": their pieces are JSON text of all arguments."""

    id: str
    key: str
    text: str


@dataclass(frozen=True)
class CallReady:
    """Irrevocable: the runtime executes this call or records an explicit refusal."""

    call: ToolCall


@dataclass(frozen=True)
class CallRefused:
    """A call that will never be confirmed: nothing runs, the runtime answers it with the error
    word ``error`` and the reason ``why``."""

    call: ToolCall
    error: str
    why: str


@dataclass(frozen=True)
class ContractError:
    """The reply broke the grammar; ``message`` goes back to the model and teaches the right frame.

    ``position`` is the byte offset in the reply; counts are None where the kind has none.
    ``call_id`` names the call that stays unfinished ("" when none was open).
    """

    kind: ContractErrorKind
    message: str
    position: int
    declared: int | None = None
    arrived: int | None = None
    call_id: str = ""


@dataclass(frozen=True)
class StopReading:
    """Everything behind the last confirmed call is a guess: close the response."""


Frame = (
    TextConfirmed
    | CallOpened
    | ArgumentConfirmed
    | CallReady
    | CallRefused
    | ContractError
    | StopReading
)
