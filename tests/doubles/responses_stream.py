"""Well-formed streams of the Responses API, as bytes of our own making.

    stream(message("Hello"), call("c1", "tap", '{"x":1}'))

Each item becomes its events and a place in the terminal output; ``stream`` numbers them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.doubles.provider_server import Answer, Step, cut

Json = dict[str, Any]
USAGE: Json = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 7},
    "output_tokens": 30,
    "output_tokens_details": {"reasoning_tokens": 11},
    "total_tokens": 130,
}


@dataclass(frozen=True)
class Output:
    """A complete output item and the events between its ``added`` and its ``done``."""

    item: Json
    begun: Json
    inner: Callable[[Json], list[Json]]


def event(data: Json) -> bytes:
    """One event; its SSE name is its type."""
    text = json.dumps(data, ensure_ascii=False)
    return f"event: {data['type']}\ndata: {text}\n\n".encode()


def pieces(text: str, size: int = 5) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def message(
    text: str,
    *,
    item_id: str = "msg_1",
    annotations: Sequence[Json] = (),
    refusal: bool = False,
    **fields: Any,
) -> Output:
    """A message of one part; ``fields`` are further ones of the item (``phase``)."""
    kind, name = ("refusal", "refusal") if refusal else ("output_text", "text")
    rest: Json = {} if refusal else {"annotations": list(annotations), "logprobs": []}
    part = {"type": kind, name: text, **rest}
    item = {"id": item_id, "type": "message", "role": "assistant", **fields}

    def inner(place: Json) -> list[Json]:
        place = {**place, "content_index": 0}
        extra: Json = {} if refusal else {"logprobs": []}
        empty = {"type": kind, name: "", **({} if refusal else {"annotations": [], "logprobs": []})}
        return [
            {"type": "response.content_part.added", **place, "part": empty},
            *(
                {"type": f"response.{kind}.delta", **place, "delta": piece, **extra}
                for piece in pieces(text)
            ),
            *(
                {
                    "type": "response.output_text.annotation.added",
                    **place,
                    "annotation_index": number,
                    "annotation": annotation,
                }
                for number, annotation in enumerate(annotations)
            ),
            {"type": f"response.{kind}.done", **place, name: text, **extra},
            {"type": "response.content_part.done", **place, "part": part},
        ]

    return Output(
        {**item, "status": "completed", "content": [part]},
        {**item, "status": "in_progress", "content": []},
        inner,
    )


def call(call_id: str, name: str, arguments: str, *, item_id: str = "", **fields: Any) -> Output:
    item = {
        "id": item_id or f"fc_{call_id}",
        "type": "function_call",
        "call_id": call_id,
        "name": name,
        **fields,
    }

    def inner(place: Json) -> list[Json]:
        kind = "response.function_call_arguments"
        return [
            *({"type": f"{kind}.delta", **place, "delta": piece} for piece in pieces(arguments)),
            {"type": f"{kind}.done", **place, "arguments": arguments, "name": name},
        ]

    return Output(
        {**item, "status": "completed", "arguments": arguments},
        {**item, "status": "in_progress", "arguments": ""},
        inner,
    )


def reasoning(*summary: str, item_id: str = "rs_1", encrypted: str = "gAAA-opaque") -> Output:
    """Reasoning with a summary of several parts; its encrypted content is whole at the end."""
    parts = [{"type": "summary_text", "text": text} for text in summary]
    item = {"id": item_id, "type": "reasoning"}

    def inner(place: Json) -> list[Json]:
        events: list[Json] = []
        for number, text in enumerate(summary):
            at = {**place, "summary_index": number}
            kind = "response.reasoning_summary"
            part = {"type": "summary_text", "text": ""}
            events.append({"type": f"{kind}_part.added", **at, "part": part})
            events += [{"type": f"{kind}_text.delta", **at, "delta": p} for p in pieces(text)]
            events.append({"type": f"{kind}_text.done", **at, "text": text})
            events.append({"type": f"{kind}_part.done", **at, "part": parts[number]})
        return events

    return Output(
        {**item, "summary": parts, "encrypted_content": encrypted},
        {**item, "summary": [], "encrypted_content": encrypted[:4]},
        inner,
    )


def search(item_id: str = "ws_1", status: str = "completed") -> Output:
    item = {"id": item_id, "type": "web_search_call", "action": {"type": "search", "query": "q"}}

    def inner(place: Json) -> list[Json]:
        kind = "response.web_search_call"
        return [{"type": f"{kind}.{word}", **place} for word in ("in_progress", "searching")]

    return Output({**item, "status": status}, {**item, "status": "in_progress"}, inner)


def item_events(output: Output, index: int) -> list[Json]:
    place = {"item_id": output.item["id"], "output_index": index}
    return [
        {"type": "response.output_item.added", "output_index": index, "item": output.begun},
        *output.inner(place),
        {"type": "response.output_item.done", "output_index": index, "item": output.item},
    ]


def response(status: str, output: Sequence[Json], **fields: Any) -> Json:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": status,
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        **fields,
    }


def terminal(
    output: Sequence[Json],
    *,
    kind: str = "completed",
    status: str = "",
    usage: Json | None = USAGE,
    **fields: Any,
) -> Json:
    """The last event; ``fields`` are further ones of its response."""
    whole = response(status or kind, output, usage=usage, **fields)
    return {"type": f"response.{kind}", "response": whole}


def events(*outputs: Output, **end: Any) -> list[Json]:
    """All events of an answer, numbered; ``end`` are the arguments of ``terminal``, ``output``
    another terminal output than the items."""
    output = end.pop("output", [each.item for each in outputs])
    all_events = [
        {"type": "response.created", "response": response("in_progress", [])},
        {"type": "response.in_progress", "response": response("in_progress", [])},
    ]
    for index, each in enumerate(outputs):
        all_events += item_events(each, index)
    all_events.append(terminal(output, **end))
    return [{**each, "sequence_number": number} for number, each in enumerate(all_events)]


def stream(*outputs: Output, **end: Any) -> bytes:
    """``events`` as bytes."""
    return joined(events(*outputs, **end))


def joined(all_events: Sequence[Json]) -> bytes:
    return b"".join(map(event, all_events))


def answer(data: bytes | Sequence[Json], size: int = 0) -> Answer:
    """An answer of these bytes or events, in steps of ``size`` (0: one step)."""
    whole = data if isinstance(data, bytes) else joined(data)
    steps: list[Step] = cut(whole, size) if size else [whole]
    return Answer(steps)
