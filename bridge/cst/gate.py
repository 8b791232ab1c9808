"""The finish-reason gate as data: what a response's end does to calls that still wait for it.

A call that was confirmed inside the stream stands whatever the end says. The page
docs/finish-reasons.md shows this table and is checked against it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from bridge.conversation.stream import Finish, FinishReason


class Ending(StrEnum):
    """How a response ended. LENGTH also when the output tokens reached the cap, whatever the
    server said: reasons can lie. MISSING: the stream ended without evidence."""

    TOOL_CALLS = "tool_calls"
    STOP = "stop"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    PAUSE = "pause"
    UNKNOWN = "unknown"
    MISSING = "missing"


class CallState(StrEnum):
    """The state of the last call. Native: its arguments are one JSON object (WHOLE), not one byte
    (EMPTY), or anything else (BROKEN). CTL: its frame is closed (WHOLE), closed but for the
    newline of ``end`` (BARE_END), or open (BROKEN). XML: the block is closed, or it is not.
    """

    WHOLE = "whole"
    EMPTY = "empty"
    BARE_END = "bare_end"
    BROKEN = "broken"


@dataclass(frozen=True)
class Verdict:
    """``runs``: the calls that wait for the end execute, in order. Else each of them is answered
    with the error word ``error``; in the CTL modes the contract error is that answer."""

    runs: bool
    error: str = ""


ERRORS: Mapping[str, str] = {
    "malformed_call": "its arguments are not exactly one JSON object",
    "contradictory_end": "the reply's end contradicts its calls",
    "truncated": "the reply was cut at the limit of output tokens",
    "filtered": "a content filter ended the reply",
    "paused": "the provider paused its reply",
    "unknown_end": "the reply ended for a reason that is not known",
    "no_end": "the reply broke off",
    "over_limit": "the reply broke a limit of the protocol, and what it holds is not known",
}
"""Error words of refused calls, and what they say to the model."""

_ENDED = {
    Ending.STOP: Verdict(False, "contradictory_end"),
    Ending.LENGTH: Verdict(False, "truncated"),
    Ending.CONTENT_FILTER: Verdict(False, "filtered"),
    Ending.PAUSE: Verdict(False, "paused"),
    Ending.UNKNOWN: Verdict(False, "unknown_end"),
    Ending.MISSING: Verdict(False, "no_end"),
}
_RUNS = Verdict(True)
_NATIVE = {
    CallState.WHOLE: {**_ENDED, Ending.TOOL_CALLS: _RUNS},
    CallState.EMPTY: {**_ENDED, Ending.TOOL_CALLS: _RUNS},
    CallState.BROKEN: {**_ENDED, Ending.TOOL_CALLS: Verdict(False, "malformed_call")},
}
_UNFINISHED = Verdict(False, "unexpected_line")
_CTL = {
    CallState.WHOLE: dict.fromkeys(Ending, _RUNS),
    CallState.BARE_END: {**dict.fromkeys(Ending, _UNFINISHED), Ending.STOP: _RUNS},
    CallState.BROKEN: dict.fromkeys(Ending, _UNFINISHED),
}
_XML_ENDED = {**_ENDED, Ending.TOOL_CALLS: Verdict(False, "contradictory_end")}
_XML = {
    CallState.WHOLE: {**_XML_ENDED, Ending.STOP: _RUNS},
    CallState.BROKEN: {**_XML_ENDED, Ending.STOP: Verdict(False, "malformed_call")},
}

TABLE: Mapping[str, Mapping[CallState, Mapping[Ending, Verdict]]] = {
    "native-eos": _NATIVE,
    "native-inc": _NATIVE,
    "ctl": _CTL,
    "ctl-heredoc": _CTL,
    "xml": _XML,
}
"""Mode, state of the last call, end of the response. In ``native-eos`` and ``xml`` every call
waits for the end, in ``native-inc`` the last one (all that are left once calls interleave), in
the CTL modes only a frame whose ``end`` has no newline."""


def most(earlier: int | None, later: int | None) -> int | None:
    """The larger count of output tokens: a smaller one takes no evidence of a cut back."""
    return later if earlier is None else max(earlier, later or 0)


def ending(finish: Finish | None, output_tokens: int | None, output_cap: int | None) -> Ending:
    """The end of a response; ``output_tokens`` is None where the server did not say."""
    if finish is None:
        return Ending.MISSING
    cut = output_cap is not None and output_tokens is not None and output_tokens >= output_cap
    if cut and finish.reason in (FinishReason.STOP, FinishReason.TOOL_CALLS):
        return Ending.LENGTH
    return Ending(finish.reason.value)
