"""Streams of three model APIs for benchmarks: recorded ones of a folder, or made here.

A made stream holds one call with ``DELTAS`` argument fragments, in the shape that each API
documents; figures in docs/benchmarks.md say which ones were used.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

DELTAS = 500
PIECES = ['{"path":"notes.txt","text":"', *["one word "] * (DELTAS - 2), '"}']

RECORDED = {"chat": "chat_tools.sse", "responses": "resp_tools.sse", "anthropic": "msg_tools.sse"}


def streams(folder: Path | None) -> Mapping[str, bytes]:
    """Bytes by wire."""
    if folder is not None:
        return {wire: (folder / name).read_bytes() for wire, name in RECORDED.items()}
    return {"chat": chat(), "responses": responses(), "anthropic": anthropic()}


def chat() -> bytes:
    def chunk(delta: Any, reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
                "model": "m", "choices": [choice]}  # fmt: skip

    first = {"index": 0, "id": "a", "type": "function"}
    call = {**first, "function": {"name": "write_file", "arguments": ""}}
    deltas = [{"tool_calls": [{"index": 0, "function": {"arguments": text}}]} for text in PIECES]
    end = {**chunk({}), "choices": [], "usage": {
        "prompt_tokens": 9, "completion_tokens": DELTAS, "total_tokens": DELTAS + 9}}  # fmt: skip
    chunks = [chunk({"role": "assistant", "content": None}), chunk({"tool_calls": [call]})]
    chunks += [chunk(delta) for delta in deltas] + [chunk({}, "tool_calls"), end]
    return _plain(chunks) + b"data: [DONE]\n\n"


def responses() -> bytes:
    item = {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "write_file"}
    done = {**item, "arguments": "".join(PIECES), "status": "completed"}
    whole = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "output": [],
             "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}  # fmt: skip
    usage = {"input_tokens": 9, "output_tokens": DELTAS, "total_tokens": DELTAS + 9,
             "input_tokens_details": {"cached_tokens": 0},
             "output_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
    place = {"item_id": "fc_1", "output_index": 0}
    kind = "response.function_call_arguments"
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**whole, "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0,
         "item": {**item, "arguments": "", "status": "in_progress"}},
        *({"type": f"{kind}.delta", **place, "delta": text} for text in PIECES),
        {"type": f"{kind}.done", **place, "arguments": "".join(PIECES)},
        {"type": "response.output_item.done", "output_index": 0, "item": done},
        {"type": "response.completed",
         "response": {**whole, "status": "completed", "output": [done], "usage": usage}},
    ]  # fmt: skip
    return _named({**event, "sequence_number": n} for n, event in enumerate(events))


def anthropic() -> bytes:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
               "stop_reason": None, "usage": {"input_tokens": 9, "output_tokens": 1}}  # fmt: skip
    block = {"type": "tool_use", "id": "toolu_1", "name": "write_file", "input": {}}
    deltas = ({"type": "input_json_delta", "partial_json": text} for text in PIECES)
    return _named(
        [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"},
             "usage": {"output_tokens": DELTAS}},
            {"type": "message_stop"},
        ]
    )  # fmt: skip


def _plain(events: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)


def _named(events: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(
        b"event: %b\ndata: %b\n\n" % (event["type"].encode(), json.dumps(event).encode())
        for event in events
    )
