"""Deviations on the Chat Completions wire, as bytes of our own making.

Sources of each row: see docs/deviations.md. ``call(index, id, name, arguments)`` is one entry of
``tool_calls``; a field that is None is left out of the bytes.
"""

from __future__ import annotations

from typing import Any

from bridge.providers.chat_quirks import ChatQuirks
from tests.bridge.providers.deviations.row import Row
from tests.doubles.provider_server import DONE, chat_chunk, event

F, G = 'f {"p": 1}', 'g {"p": 2}'
TOOLS = chat_chunk(finish="tool_calls")
STOP = chat_chunk(finish="stop")
LENGTH = chat_chunk(finish="length")


def call(index: Any = None, id: Any = None, name: Any = None, arguments: Any = None) -> Any:
    function = {"name": name, "arguments": arguments}
    whole = {
        "index": index,
        "id": id,
        "function": {key: value for key, value in function.items() if value is not None} or None,
    }
    return {key: value for key, value in whole.items() if value is not None}


def calls(*entries: Any) -> bytes:
    """One chunk with these entries."""
    return chat_chunk({"tool_calls": list(entries)})


def text(words: str) -> bytes:
    return chat_chunk({"content": words})


ONE = calls(call(0, "a", "f", '{"p":1}'))
TWO = ONE + calls(call(1, "b", "g", '{"p":2}'))
END = TOOLS + DONE

_NO_INDEX = "calls without an index"
_ZERO = "index 0 for every parallel call"
_INTERLEAVED = "fragments of several calls interleaved"
_OBJECT = "arguments as an object instead of text"
_NAME = "the name again in every chunk"
_NULL = 'id and name null, or the word "null", on later chunks'
_STOP = "finish reason stop although there are calls"
_CAP = "finish reason tool_calls although the output limit cut the call"
_ERROR = "an error object inside a stream that began with 200"
_WRAPPED = "a proxy sends comments as data"
_LEAK = "calls written as text or inside the reasoning"
_USAGE = "usage in a vendor's own place, or in every chunk"
_TWO_ENDS = "two different finish reasons"
_NONE = "finish reason tool_calls without any call"

ROWS: tuple[Row, ...] = (
    Row(
        1,
        _NO_INDEX,
        calls(call(None, "a", "f", ""))
        + calls(call(None, None, None, '{"p":1}'))
        + calls(call(None, "b", "g", '{"p":2}'))
        + END,
        eos=(F, G),
    ),
    Row(
        1,
        _NO_INDEX,
        calls(call(None, "a", "f"))
        + calls(call(None, "b", "g"))
        + calls(call(None, None, None, '{"p":1}'))
        + END,
        refused="malformed_call",
        fault="bad_call",
    ),
    Row(
        2,
        _ZERO,
        calls(call(0, "a", "f", '{"p":'))
        + calls(call(0, None, None, "1}"))
        + calls(call(0, "b", "g", '{"p":'))
        + calls(call(0, None, None, "2}"))
        + END,
        eos=(F, G),
    ),
    Row(
        3,
        "indexes that start at 1 or leave gaps",
        calls(call(1, "a", "f", '{"p":1}')) + calls(call(4, "b", "g", '{"p":2}')) + END,
        eos=(F, G),
    ),
    Row(
        4,
        "one chunk holds the same index twice",
        calls(call(0, "a", "f"), call(0, None, None, '{"p"'), call(0, None, None, ":1}")) + END,
        eos=(F,),
    ),
    Row(
        5,
        "arguments go on at an index where no call began",
        calls(call(0, "a", "f")) + calls(call(1, None, None, '{"p":1}')) + END,
        refused="malformed_call",
        fault="bad_call",
    ),
    Row(
        6,
        _INTERLEAVED,
        calls(call(0, "a", "f", '{"p"'))
        + calls(call(1, "b", "g", '{"p"'))
        + calls(call(0, None, None, ":1}"))
        + calls(call(1, None, None, ":2}"))
        + END,
        eos=(F, G),
    ),
    Row(
        6,
        _INTERLEAVED,
        calls(call(0, "a", "f", '{"p"'))
        + calls(call(1, "b", "g", '{"p"'))
        + calls(call(0, None, None, ":1}"))
        + calls(call(1, None, None, ":2}"))
        + LENGTH
        + DONE,
        refused="truncated",
    ),
    Row(7, "whole arguments in one chunk", ONE + END, eos=(F,)),
    Row(7, "whole arguments in one chunk", TWO + END, eos=(F, G)),
    Row(8, _OBJECT, calls(call(0, "a", "f", {"p": 1})) + END, eos=(F,)),
    Row(
        8,
        _OBJECT,
        calls(call(0, "a", "f", "{")) + calls(call(0, None, None, {"p": 1})) + END,
        refused="malformed_call",
    ),
    Row(
        9,
        "empty arguments of a tool that needs none",
        calls(call(0, "a", "f", "")) + END,
        eos=("f {}",),
    ),
    Row(
        10,
        "the arguments are lost and the stream dies",
        calls(call(0, "a", "f")),
        refused="no_end",
        error="without saying it was done",
    ),
    Row(
        11,
        "{} and then the real object",
        calls(call(0, "a", "f", "{}")) + calls(call(0, None, None, '{"p":1}')) + END,
        refused="malformed_call",
    ),
    Row(
        12,
        "the first bytes of the arguments are lost",
        calls(call(0, "a", "f", 'p":1}')) + END,
        refused="malformed_call",
    ),
    Row(
        13,
        "duplicated arguments",
        calls(call(0, "a", "f", '{"p":1')) + calls(call(0, None, None, '{"p":1,"q":1}')) + END,
        refused="malformed_call",
    ),
    Row(
        14,
        "the id again in every chunk",
        calls(call(0, "a", "f", '{"p"')) + calls(call(0, "a", None, ":1}")) + END,
        eos=(F,),
    ),
    Row(
        15,
        'id and name "" on later chunks',
        calls(call(0, "a", "f", '{"p"')) + calls(call(0, "", "", ":1}")) + END,
        eos=(F,),
    ),
    Row(
        16,
        _NULL,
        ONE
        + event(
            {
                "choices": [
                    {
                        "delta": {
                            "tool_calls": [
                                {
                                    "index": 0,
                                    "id": None,
                                    "function": {"name": None, "arguments": " "},
                                }
                            ]
                        }
                    }
                ]
            }
        )
        + END,
        eos=(F,),
    ),
    Row(
        16,
        _NULL,
        calls(call(0, "a", "f", '{"p"')) + calls(call(0, "null", "null", ":1}")) + END,
        eos=(F,),
        quirks=ChatQuirks(null_words=True),
    ),
    Row(
        16,
        _NULL,
        calls(call(0, "a", "f", '{"p"')) + calls(call(0, "null", None, ":1}")) + END,
        refused="malformed_call",
    ),
    Row(
        17,
        _NAME,
        calls(call(0, "a", "f", '{"p"')) + calls(call(0, None, "f", ":1}")) + END,
        eos=(F,),
    ),
    Row(
        17,
        _NAME,
        calls(call(0, "a", "f", '{"p"')) + calls(call(0, None, "g", ":1}")) + END,
        refused="malformed_call",
    ),
    Row(
        18,
        "the name in fragments",
        calls(call(0, "a", "get_")) + calls(call(0, None, "x", "{}")) + END,
        eos=("get_x {}",),
    ),
    Row(19, "no id at all", calls(call(0, None, "f", '{"p":1}')) + END, eos=(F,)),
    Row(19, "no id at all", calls(call(0, "", "f", '{"p":1}')) + END, eos=(F,)),
    Row(
        21,
        "the same id twice in one reply",
        calls(call(0, "f:1", "f", '{"p":1}')) + calls(call(1, "f:1", "g", '{"p":2}')) + END,
        inc=(F,),
        refused="malformed_call",
    ),
    Row(23, _STOP, ONE + STOP + DONE, refused="contradictory_end"),
    Row(23, _STOP, TWO + STOP + DONE, inc=(F,), refused="contradictory_end"),
    Row(23, _STOP, ONE + STOP + DONE, eos=(F,), quirks=ChatQuirks(stop_with_calls=True)),
    Row(
        24,
        _CAP,
        calls(call(0, "a", "f", '{"p":1')) + TOOLS + chat_chunk(usage=(9, 60)) + DONE,
        refused="truncated",
        cap=60,
    ),
    Row(
        24,
        _CAP,
        TWO + TOOLS + chat_chunk(usage=(9, 60)) + DONE,
        inc=(F,),
        refused="truncated",
        cap=60,
    ),
    Row(
        25,
        "finish reason tool_calls although a stop string cut the call",
        calls(call(0, "a", "f", '{"p":"abc')) + END,
        refused="malformed_call",
    ),
    Row(26, _NONE, END),
    Row(26, _NONE, text("I will look.") + END, text="I will look."),
    Row(27, _TWO_ENDS, ONE + TOOLS + STOP + DONE, refused="unknown_end"),
    Row(27, _TWO_ENDS, ONE + STOP + TOOLS + DONE, refused="unknown_end"),
    Row(
        28,
        "no finish reason, only [DONE]",
        ONE + DONE,
        refused="no_end",
        error="without saying it was done",
    ),
    Row(
        28,
        "no finish reason, only [DONE]",
        text("Hello") + DONE,
        error="without saying it was done",
        text="Hello",
    ),
    Row(
        29,
        "the stream ends without finish reason and [DONE]",
        calls(call(0, "a", "f", '{"p":')),
        refused="no_end",
        error="without saying it was done",
    ),
    Row(30, "[DONE] is missing, the finish reason is there", ONE + TOOLS, eos=(F,)),
    Row(
        31,
        _ERROR,
        ONE + event({"error": {"code": 502, "message": "upstream died"}}),
        refused="no_end",
        error="error: upstream died",
    ),
    Row(
        31,
        _ERROR,
        TWO + event({"choices": [], "error": {"message": "tool_use_failed"}}) + END,
        inc=(F,),
        refused="no_end",
        error="tool_use_failed",
    ),
    Row(
        31,
        _ERROR,
        ONE + event({"choices": [], "x_groq": {"id": "r", "error": "tool_use_failed"}}) + END,
        refused="no_end",
        error="tool_use_failed",
    ),
    Row(
        31,
        _ERROR,
        ONE
        + event(
            {
                "choices": [
                    {
                        "index": 0,
                        "delta": {},
                        "finish_reason": "error",
                        "error": {"code": 429, "message": "slow down"},
                    }
                ]
            }
        )
        + DONE,
        refused="no_end",
        error="slow down",
    ),
    Row(
        31,
        _ERROR,
        ONE + event({"object": "error", "message": "engine is dead", "code": 500}) + DONE,
        refused="no_end",
        error="engine is dead",
    ),
    Row(31, _ERROR, ONE + event({"error": 502}) + END, refused="no_end", error="error: 502"),
    Row(
        33,
        "chunks with empty choices",
        event({"choices": [], "prompt_filter_results": [{"prompt_index": 0}]})
        + ONE
        + TOOLS
        + chat_chunk(usage=(9, 5))
        + DONE,
        eos=(F,),
    ),
    Row(
        34,
        _USAGE,
        ONE + TOOLS + event({"choices": [], "x_groq": {"usage": {"completion_tokens": 60}}}) + DONE,
        refused="truncated",
        cap=60,
    ),
    Row(
        34,
        _USAGE,
        event(
            {
                "choices": [{"delta": {"tool_calls": [call(0, "a", "f", '{"p":1}')]}}],
                "usage": {"prompt_tokens": 9, "completion_tokens": 60},
            }
        )
        + event({"choices": [{"delta": {}, "finish_reason": "tool_calls"}], "usage": None})
        + DONE,
        refused="truncated",
        cap=60,
    ),
    Row(
        34,
        _USAGE,
        ONE
        + event(
            {
                "choices": [{"delta": {}, "finish_reason": "tool_calls"}],
                "timings": {"prompt_n": 4, "cache_n": 5, "predicted_n": 60},
            }
        )
        + DONE,
        refused="truncated",
        cap=60,
    ),
    Row(
        34,
        _USAGE,
        ONE
        + event(
            {
                "choices": [
                    {"delta": {}, "finish_reason": "tool_calls", "usage": {"completion_tokens": 60}}
                ]
            }
        )
        + DONE,
        refused="truncated",
        cap=60,
    ),
    Row(
        35,
        "content null and the role in every chunk",
        chat_chunk({"role": "assistant", "content": None})
        + chat_chunk(
            {"role": "assistant", "content": None, "tool_calls": [call(0, "a", "f", '{"p":1}')]}
        )
        + chat_chunk({"role": "assistant", "content": None}, finish="tool_calls")
        + DONE,
        eos=(F,),
    ),
    Row(
        35,
        "content null and the role in every chunk",
        chat_chunk({"role": "tool", "tool_calls": [call(0, "a", "f", '{"p":1}')]}) + END,
        error="not the assistant's",
    ),
    Row(
        36,
        "keep-alive comments",
        b": OPENROUTER PROCESSING\n\n:\n\n\n\n" + ONE + b": keep-alive\n\n" + END,
        eos=(F,),
    ),
    Row(
        37,
        _WRAPPED,
        b"data: : OPENROUTER PROCESSING\n\n" + ONE + END,
        error="not JSON",
    ),
    Row(
        37,
        _WRAPPED,
        b"data: : OPENROUTER PROCESSING\n\n" + ONE + END,
        eos=(F,),
        quirks=ChatQuirks(comments_as_data=True),
    ),
    Row(38, "data: without a space", (ONE + END).replace(b"data: ", b"data:"), eos=(F,)),
    Row(
        46,
        _LEAK,
        text('<tool_call>\n{"name":"f","arguments":{"p":1}}\n</tool_call>') + STOP + DONE,
        text='<tool_call>\n{"name":"f","arguments":{"p":1}}\n</tool_call>',
    ),
    Row(
        46,
        _LEAK,
        text('```json\n{"name":"f","arguments":{"p":1}}\n```') + STOP + DONE,
        text='```json\n{"name":"f","arguments":{"p":1}}\n```',
    ),
    Row(
        46,
        _LEAK,
        chat_chunk({"reasoning_content": '<tool_call>{"name":"f"}</tool_call>'}) + STOP + DONE,
    ),
)
