"""Neutral events of one model response, whatever wire they came over."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FinishReason(StrEnum):
    """Normalised end of a response; UNKNOWN also when the server sent a word we do not know."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class TextDelta:
    text: str


@dataclass(frozen=True)
class ReasoningDelta:
    """Shown as reasoning; never executed, never part of the answer."""

    text: str


@dataclass(frozen=True)
class CallDelta:
    """A fragment of a native tool call, as the wire gave it; "" where it gave nothing.

    ``key`` is the wire's own name of the call's place (an index): opaque, it may repeat for
    different calls and be missing. ``whole``: the arguments came as one object, not as text.
    """

    key: str = ""
    id: str = ""
    name: str = ""
    arguments: str = ""
    whole: bool = False


@dataclass(frozen=True)
class Usage:
    """Tokens of this response; None where the server did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True)
class Finish:
    """Terminal evidence of a response. ``raw`` is the server's own word."""

    reason: FinishReason
    raw: str = ""


StreamEvent = TextDelta | ReasoningDelta | CallDelta | Usage | Finish
