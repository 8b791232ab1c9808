"""The official ``openai`` package reads the same well-formed streams to the same result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from bridge.conversation.messages import (
    AssistantMessage,
    ModelRequest,
    ToolAnswer,
    ToolAnswers,
    ToolCall,
    UserMessage,
)
from bridge.conversation.stream import CallDelta, OpaqueItem, TextDelta, Usage
from bridge.providers.endpoint import HttpLimits, Server
from bridge.providers.provider import HttpProvider
from bridge.providers.responses import ResponsesWire
from bridge.providers.wire import RequestOptions
from device_tools.cancel import CancelScope
from device_tools.result import Image
from device_tools.schema import ToolSpec, arguments_schema
from tests.doubles.provider_server import ScriptedServer
from tests.doubles.responses_stream import (
    Output,
    answer,
    call,
    message,
    reasoning,
    search,
    stream,
)
from tests.shared_data import shared_data

openai = pytest.importorskip("openai", reason="the oracle is an optional package")

TAP = ToolSpec("tap", "Tap.", arguments_schema({"x": {"type": "integer"}}, ["x"]))
REQUEST = ModelRequest(
    "be brief",
    (
        UserMessage("look", (Image(b"\x89PNG", "image/png", 1, 1, "a picture"),)),
        AssistantMessage("I tap.", (ToolCall("c0", "tap", {"x": 1}),)),
        ToolAnswers((ToolAnswer("c0", "exit=0"),), "go on"),
    ),
    (TAP,),
    500,
)
LINK = {"type": "url_citation", "url": "https://a.test/", "title": "A",
        "start_index": 0, "end_index": 3}  # fmt: skip
STREAMS: dict[str, Sequence[Output]] = {
    "text": [message("Hello, 世界 😀\n\u2028 end")],
    "call": [call("c1", "tap", '{"x": 12345678}')],
    "everything": [
        reasoning("First.", "Second."),
        search(),
        message("I tap.", annotations=[LINK], phase="commentary"),
        call("c1", "tap", '{"x": 1}'),
        call("c2", "tap", "{}"),
    ],
    "refusal": [message("I can't help with that.", refusal=True)],
    "without arguments": [call("c1", "tap", "")],
    "long": [message("word " * 200), call("c1", "tap", json.dumps({"x": "y" * 1000}))],
}


def ours(data: bytes, size: int) -> tuple[str, list[tuple[str, str, str]], Any, list[Any]]:
    with ScriptedServer([answer(data, size)]) as server:
        model = HttpProvider(
            "test",
            ResponsesWire(),
            RequestOptions("m"),
            Server(server.base_url, "sk-1"),
            CancelScope(),
            limits=HttpLimits(attempts=1),
        )
        with model.stream(REQUEST) as stream_of_events:
            got = list(stream_of_events)
    text = "".join(each.text for each in got if isinstance(each, TextDelta))
    slots: dict[str, list[str]] = {}
    for each in got:
        if isinstance(each, CallDelta):
            slot = slots.setdefault(each.key, ["", "", ""])
            slot[0] += each.id
            slot[1] += each.name
            slot[2] += each.arguments
    usage = next(each for each in got if isinstance(each, Usage))
    items = [each.item for each in got if isinstance(each, OpaqueItem)]
    return text, [(s[0], s[1], s[2]) for s in slots.values()], usage, items


def theirs(data: bytes, size: int) -> Any:
    with ScriptedServer([answer(data, size)]) as server:
        client = openai.OpenAI(base_url=server.base_url, api_key="sk-1", max_retries=0)
        with client, client.responses.stream(model="m", input="hello") as events:
            return events.get_final_response()


@pytest.mark.parametrize("size", [0, 101])
@pytest.mark.parametrize("name", STREAMS)
def test_well_formed_streams_mean_the_same_to_the_official_package(name: str, size: int) -> None:
    """Text, calls, usage and, where the answer is a clean end, the items of the output."""
    outputs = STREAMS[name]
    data = stream(*outputs)
    text, calls, usage, items = ours(data, size)
    final = theirs(data, size)
    said = [
        getattr(part, "text", "") or getattr(part, "refusal", "")
        for item in final.output
        if item.type == "message"
        for part in item.content
    ]
    assert text == "".join(said)
    assert calls == [
        (item.call_id, item.name, item.arguments)
        for item in final.output
        if item.type == "function_call"
    ]
    assert (usage.input_tokens, usage.output_tokens) == (
        final.usage.input_tokens,
        final.usage.output_tokens,
    )
    assert usage.cached_tokens == final.usage.input_tokens_details.cached_tokens
    assert usage.reasoning_tokens == final.usage.output_tokens_details.reasoning_tokens
    if name != "refusal":
        assert [item["id"] for item in items] == [item.id for item in final.output]


def test_the_official_package_reads_the_recording_to_the_same_text() -> None:
    """A real server's bytes, which have no numbers at all."""
    data = shared_data("streams/resp_plain.sse").read_bytes()
    with ScriptedServer([answer(data)]) as server:
        client = openai.OpenAI(base_url=server.base_url, api_key="sk-1", max_retries=0)
        with client, client.responses.create(model="m", input="x", stream=True) as events:
            deltas = [e.delta for e in events if e.type == "response.output_text.delta"]
    assert ours(data, 0)[0] == "".join(deltas)


def test_our_requests_have_the_shape_that_the_official_types_describe() -> None:
    """Every input item and tool has the keys its type requires, and none it does not know."""
    from openai.types import responses as types

    body = ResponsesWire().body(REQUEST, RequestOptions("m", reasons=True, thinking="low"))
    known = openai.types.responses.response_create_params.ResponseCreateParamsBase.__annotations__
    assert set(body) - {"stream"} <= set(known)
    shapes = {
        "function_call": types.ResponseFunctionToolCallParam,
        "function_call_output": types.response_input_item_param.FunctionCallOutput,
        "function": types.FunctionToolParam,
    }
    checked = 0
    for item in [*body["input"], *body["tools"]]:
        shape = shapes.get(item["type"])
        if shape is not None:
            assert shape.__required_keys__ <= set(item) <= set(shape.__annotations__)
            checked += 1
    assert checked == 3
