"""Bytes of Anthropic Messages answers for the scripted model server.

``message([text("Hi"), tool("toolu_1", "tap", '{"x": 1}')], "tool_use")`` is a whole stream; the
parts are there for streams that are wrong on purpose.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

USAGE = {
    "input_tokens": 3,
    "cache_creation_input_tokens": 20,
    "cache_read_input_tokens": 100,
    "output_tokens": 1,
}


@dataclass(frozen=True)
class Block:
    """A content block as it begins, and its deltas."""

    start: dict[str, Any]
    deltas: Sequence[dict[str, Any]] = field(default=())


def named(data: dict[str, Any]) -> bytes:
    """One event, named after its type as the API does it."""
    return b"event: %s\ndata: %s\n\n" % (data["type"].encode(), json.dumps(data).encode())


def text(words: str, size: int = 4) -> Block:
    return Block(
        {"type": "text", "text": ""},
        [{"type": "text_delta", "text": piece} for piece in pieces(words, size)],
    )


def thinking(words: str, signature: str) -> Block:
    return Block(
        {"type": "thinking", "thinking": "", "signature": ""},
        [
            *({"type": "thinking_delta", "thinking": piece} for piece in pieces(words, 4)),
            {"type": "signature_delta", "signature": signature},
        ],
    )


def tool(call_id: str, name: str, arguments: str, kind: str = "tool_use") -> Block:
    return Block(
        {"type": kind, "id": call_id, "name": name, "input": {}},
        [
            {"type": "input_json_delta", "partial_json": piece}
            for piece in ["", *pieces(arguments, 5)]
        ],
    )


def pieces(words: str, size: int) -> list[str]:
    return [words[start : start + size] for start in range(0, len(words), size)]


def start(usage: dict[str, Any] | None = None) -> bytes:
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": usage or USAGE,
    }  # fmt: skip
    return named({"type": "message_start", "message": message})


def begin(index: int, block: dict[str, Any]) -> bytes:
    return named({"type": "content_block_start", "index": index, "content_block": block})


def delta(index: int, piece: dict[str, Any]) -> bytes:
    return named({"type": "content_block_delta", "index": index, "delta": piece})


def end(index: int) -> bytes:
    return named({"type": "content_block_stop", "index": index})


def whole(index: int, block: Block) -> list[bytes]:
    return [begin(index, block.start), *(delta(index, each) for each in block.deltas), end(index)]


def reason(word: str | None, usage: dict[str, Any] | None = None, **more: Any) -> bytes:
    return named(
        {
            "type": "message_delta",
            "delta": {"stop_reason": word, "stop_sequence": None, **more},
            "usage": usage or {"output_tokens": 9},
        }
    )


STOP = named({"type": "message_stop"})
PING = named({"type": "ping"})


def message(blocks: Sequence[Block], word: str | None, **more: Any) -> bytes:
    """A whole, well-formed answer."""
    steps = [start(), PING]
    for index, block in enumerate(blocks):
        steps += whole(index, block)
    return b"".join([*steps, reason(word, **more), STOP])
