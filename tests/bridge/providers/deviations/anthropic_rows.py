"""Deviations on the Anthropic Messages wire, as bytes of our own making."""

from __future__ import annotations

from tests.bridge.providers.deviations.row import Row
from tests.doubles.anthropic_stream import (
    STOP,
    begin,
    delta,
    end,
    message,
    named,
    reason,
    start,
    tool,
    whole,
)

F, G = 'f {"p": 1}', 'g {"p": 2}'
ONE, TWO = tool("a", "f", '{"p":1}'), tool("b", "g", '{"p":2}')
TOOL_USE = reason("tool_use") + STOP


def parts(index: int, block: object) -> bytes:
    return b"".join(whole(index, block))  # type: ignore[arg-type]


_BLOCK_TWICE = "the end of a call's block twice"
_ERROR = "an event named error on the Responses and the Anthropic wire"
_PARTIAL = "Anthropic wire: no input at the start of a call, usage in part, no message_stop"

ROWS: tuple[Row, ...] = (
    Row(
        11,
        "{} and then the real object",
        message([ONE], "tool_use"),
        wire="anthropic",
        eos=(F,),
    ),
    Row(
        12,
        "the first bytes of the arguments are lost",
        message([tool("a", "f", 'p":1}')], "tool_use"),
        wire="anthropic",
        refused="malformed_call",
    ),
    Row(
        21,
        "the same id twice in one reply",
        message([tool("f:3", "f", '{"p":1}'), tool("f:3", "g", '{"p":2}')], "tool_use"),
        wire="anthropic",
        inc=(F,),
        refused="malformed_call",
    ),
    Row(
        22,
        _BLOCK_TWICE,
        start() + parts(0, ONE) + end(0) + TOOL_USE,
        wire="anthropic",
        inc=(F,),
        refused="no_end",
        error="which had ended",
    ),
    Row(
        26,
        "finish reason tool_calls without any call",
        message([], "tool_use"),
        wire="anthropic",
    ),
    Row(
        32,
        _ERROR,
        start() + begin(0, ONE.start) + delta(0, ONE.deltas[1])
        + named({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}),
        wire="anthropic",
        refused="no_end",
        error="overloaded_error: busy",
    ),
    Row(
        44,
        _PARTIAL,
        start({"input_tokens": 3})
        + begin(0, {"type": "tool_use", "id": "a", "name": "f"})
        + delta(0, {"type": "input_json_delta", "partial_json": '{"p":1}'})
        + end(0) + TOOL_USE,
        wire="anthropic",
        eos=(F,),
    ),
    Row(
        44,
        _PARTIAL,
        start() + parts(0, ONE) + parts(1, TWO) + reason("tool_use"),
        wire="anthropic",
        inc=(F, G),
        refused="unknown_end",
    ),
    Row(
        45,
        "Anthropic wire: arguments that cannot be read become {}",
        start()
        + begin(0, {"type": "tool_use", "id": "a", "name": "f", "input": {}})
        + end(0) + reason("max_tokens") + STOP,
        wire="anthropic",
        refused="truncated",
    ),
)  # fmt: skip
