"""Neutral events of one model response, whatever wire they came over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol


class FinishReason(StrEnum):
    """Normalised end of a response; UNKNOWN also when the server sent a word we do not know.

    PAUSE: a hosted tool reached the server's limit; the same content is sent again, nothing runs.
    """

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    PAUSE = "pause"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class TextDelta:
    text: str


@dataclass(frozen=True)
class ReasoningDelta:
    """Shown as reasoning; never executed, never part of the answer. ``summary``: the server says
    that it is a summary of the reasoning and not the reasoning itself."""

    text: str
    summary: bool = False


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
class CallClosed:
    """The wire says that nothing more comes for the call at ``key`` (a block or item is done).

    ``arguments`` is their whole text where the wire repeats it (it must equal what arrived, and
    counts when nothing arrived), None where it does not.
    """

    key: str
    arguments: str | None = None


@dataclass(frozen=True)
class OpaqueItem:
    """One complete output item of the provider, to be replayed unchanged and in order within
    this run. It lives in memory only: no record, no log."""

    item: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class HostedTool:
    """A tool that the provider runs itself (web search) started or ended; it is never a call."""

    id: str
    name: str
    ended: bool = False
    failed: bool = False


@dataclass(frozen=True)
class Citation:
    """A source of the text ``[start, end)``, counted in characters of all text so far (None when
    the server gave no usable place)."""

    url: str
    title: str = ""
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class Usage:
    """Tokens of this response so far; None where the server did not say. A later one replaces
    an earlier one field by field, it is never added.

    ``input_tokens`` includes those read from and written to a cache, ``output_tokens`` the
    reasoning ones.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True)
class Finish:
    """Terminal evidence of a response. ``raw`` is the server's own word."""

    reason: FinishReason
    raw: str = ""


StreamEvent = (
    TextDelta
    | ReasoningDelta
    | CallDelta
    | CallClosed
    | OpaqueItem
    | HostedTool
    | Citation
    | Usage
    | Finish
)


class ModelStream(Protocol):
    """The events of one response, to be read once."""

    def __iter__(self) -> Iterator[StreamEvent]:
        """Raises ProviderError when it breaks, Cancelled."""

    def expect_end(self) -> None:
        """Nothing but the end and the usage matters any more: wait only seconds for them."""
