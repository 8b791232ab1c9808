"""Deviations on the Responses wire, as bytes of our own making."""

from __future__ import annotations

from typing import Any

from tests.bridge.providers.deviations.row import Row
from tests.doubles.responses_stream import USAGE, call, events, joined, stream, terminal

F, G = 'f {"p": 1}', 'g {"p": 2}'
ONE, TWO = call("a", "f", '{"p":1}'), call("b", "g", '{"p":2}')
CUT = call("a", "f", '{"p":"ab')
AT_CAP = {**USAGE, "output_tokens": 60}
DELTA, DONE = "response.function_call_arguments.delta", "response.function_call_arguments.done"


def without(all_events: list[dict[str, Any]], *kinds: str) -> list[dict[str, Any]]:
    return [each for each in all_events if each["type"] not in kinds]


def bare(all_events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without the numbers that some servers leave out."""
    numbers = ("sequence_number", "output_index", "content_index")
    return [{key: each[key] for key in each if key not in numbers} for each in all_events]


_ERROR = "an event named error on the Responses and the Anthropic wire"
_EMPTY = "Responses wire: the terminal output is empty or missing"
_NO_END = "Responses wire: the terminal event is missing, or says incomplete"
_DONE_ONLY = "Responses wire: arguments only at the end of the call, or other ones there"
_BARE = "Responses wire: no numbers, wrong event names, unknown status"
_CUT = "Responses wire: a call that was cut is reported as completed"

ROWS: tuple[Row, ...] = (
    Row(
        32,
        _ERROR,
        joined(events(ONE)[:4])
        + joined([{"type": "error", "code": "server_is_overloaded", "message": "busy"}]),
        wire="responses",
        refused="no_end",
        error="busy",
    ),
    Row(39, _EMPTY, stream(ONE, TWO, output=[]), wire="responses", eos=(F, G)),
    Row(39, _EMPTY, stream(ONE, output=[], usage=None), wire="responses", eos=(F,)),
    Row(
        40,
        _NO_END,
        joined(without(events(ONE), "response.completed")),
        wire="responses",
        inc=(F,),
        refused="no_end",
        error="without saying it was done",
    ),
    Row(
        40,
        _NO_END,
        joined(events(ONE)[:4]),
        wire="responses",
        refused="no_end",
        error="without saying it was done",
    ),
    Row(
        40,
        _NO_END,
        stream(CUT, kind="incomplete", incomplete_details={"reason": "max_output_tokens"}),
        wire="responses",
        refused="truncated",
    ),
    Row(41, _DONE_ONLY, joined(without(events(ONE), DELTA)), wire="responses", eos=(F,)),
    Row(
        41,
        _DONE_ONLY,
        joined([{**each, "delta": ""} if each["type"] == DELTA else each for each in events(ONE)]),
        wire="responses",
        eos=(F,),
    ),
    Row(
        41,
        _DONE_ONLY,
        joined(
            [
                {**each, "arguments": '{"p":9}'} if each["type"] == DONE else each
                for each in events(ONE)
            ]
        ),
        wire="responses",
        refused="malformed_call",
    ),
    Row(42, _BARE, joined(bare(events(ONE, TWO))), wire="responses", eos=(F, G)),
    Row(
        42,
        _BARE,
        stream(ONE, TWO).replace(b"event: response.", b"event: x."),
        wire="responses",
        eos=(F, G),
    ),
    Row(
        42,
        _BARE,
        stream(ONE, status="requires_action"),
        wire="responses",
        inc=(F,),
        refused="unknown_end",
    ),
    Row(
        43,
        _CUT,
        stream(CUT, usage=AT_CAP),
        wire="responses",
        refused="malformed_call",
    ),
    Row(
        43,
        _CUT,
        joined([*events(CUT)[:-1], terminal([CUT.item], usage=AT_CAP)]),
        wire="responses",
        refused="truncated",
        cap=60,
    ),
    Row(43, _CUT, stream(ONE, usage=AT_CAP), wire="responses", inc=(F,), refused="truncated",
        cap=60),
)  # fmt: skip
