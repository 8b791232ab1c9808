"""The body of a Responses request: what is sent, what is replayed, what is never sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from bridge.conversation.messages import (
    AssistantMessage,
    Message,
    ModelRequest,
    ToolAnswer,
    ToolAnswers,
    ToolCall,
    UserMessage,
)
from bridge.errors import ConfigurationError
from bridge.providers.responses import ResponsesWire
from bridge.providers.wire import RequestOptions
from device_tools.result import Image
from device_tools.schema import ToolSpec, arguments_schema
from tests.doubles.responses_stream import Json, call, message, reasoning

TAP = ToolSpec("tap", "Tap.", arguments_schema({"x": {"type": "integer"}}, ["x"]))
PICTURE = Image(b"\x89PNG", "image/png", 1, 1, "a picture")
DATA_URL = "data:image/png;base64,iVBORw=="
ASK = UserMessage("go")


def body(
    *messages: Message,
    tools: Sequence[ToolSpec] = (),
    cap: int | None = None,
    **options: Any,
) -> Json:
    request = ModelRequest("be brief", messages, tuple(tools), cap)
    return ResponsesWire().body(request, RequestOptions("m", **options))


def test_the_smallest_request() -> None:
    """Streamed, stored nowhere, without reference to an earlier response."""
    assert body(ASK) == {
        "model": "m",
        "instructions": "be brief",
        "input": [{"type": "message", "role": "user", "content": "go"}],
        "stream": True,
        "store": False,
    }


def test_tools_are_flat_and_may_be_called_in_parallel() -> None:
    """Not strict: the schema goes as it is checked."""
    sent = body(ASK, tools=[TAP], cap=500)
    assert sent["tools"] == [
        {"type": "function", "name": "tap", "description": "Tap.",
         "parameters": dict(TAP.parameters), "strict": False},
    ]  # fmt: skip
    assert (sent["parallel_tool_calls"], sent["max_output_tokens"]) == (True, 500)


def test_web_search_is_sent_only_when_it_is_on() -> None:
    """It is the only hosted tool, in native and in text modes."""
    assert body(ASK, web_search=True)["tools"] == [{"type": "web_search"}]
    assert body(ASK, tools=[TAP], web_search=True)["tools"][-1] == {"type": "web_search"}
    assert "tools" not in body(ASK)


@pytest.mark.parametrize(
    ("options", "include", "reasoning_field"),
    [
        ({}, None, None),
        ({"thinking": "high"}, None, None),
        ({"reasons": True}, ["reasoning.encrypted_content"], None),
        (
            {"reasons": True, "thinking": "high"},
            ["reasoning.encrypted_content"],
            {"effort": "high", "summary": "auto"},
        ),
        ({"reasons": True, "thinking": "off"}, ["reasoning.encrypted_content"], None),
    ],
)
def test_reasoning_is_asked_for_only_where_the_model_is_known_to_reason(
    options: Json, include: Any, reasoning_field: Any
) -> None:
    """Encrypted reasoning for exact replay, effort and summary for an explicit wish."""
    sent = body(ASK, **options)
    assert (sent.get("include"), sent.get("reasoning")) == (include, reasoning_field)


def test_thinking_off_takes_every_override_out_of_the_users_additions() -> None:
    """The other additions stay."""
    extra = {
        "reasoning": {"effort": "high"},
        "reasoning_effort": "high",
        "thinking": {"type": "enabled"},
        "chat_template_kwargs": {"enable_thinking": True, "other": 1},
        "temperature": 0,
    }
    sent = body(ASK, reasons=True, thinking="off", extra=extra)
    assert not {"reasoning", "reasoning_effort", "thinking"} & set(sent)
    assert (sent["chat_template_kwargs"], sent["temperature"]) == ({"other": 1}, 0)
    on = body(ASK, reasons=True, thinking="low", extra=extra)
    assert on["reasoning"] == {"effort": "high", "summary": "auto"}


@pytest.mark.parametrize("field", ["previous_response_id", "conversation", "store", "input"])
def test_the_users_additions_cannot_break_the_promises(field: str) -> None:
    """A field that is the runtime's own is refused with words."""
    with pytest.raises(ConfigurationError, match=field):
        body(ASK, extra={field: "x"})


def test_pictures_go_into_messages_and_into_tool_answers() -> None:
    """Both take them natively; the runtime's note follows the answers as the user's."""
    reply = AssistantMessage("I look.", (ToolCall("c1", "tap", {"x": 1}),))
    answers = ToolAnswers((ToolAnswer("c1", "exit=0", (PICTURE,)),), "one turn is left")
    image = {"type": "input_image", "image_url": DATA_URL, "detail": "auto"}
    assert body(UserMessage("look", (PICTURE,)), reply, answers)["input"] == [
        {"type": "message", "role": "user",
         "content": [{"type": "input_text", "text": "look"}, image]},
        {"type": "message", "role": "assistant",
         "content": [{"type": "output_text", "text": "I look.", "annotations": []}]},
        {"type": "function_call", "call_id": "c1", "name": "tap", "arguments": '{"x": 1}'},
        {"type": "function_call_output", "call_id": "c1",
         "output": [{"type": "input_text", "text": "exit=0"}, image]},
        {"type": "message", "role": "user", "content": "one turn is left"},
    ]  # fmt: skip


def test_a_text_answer_is_plain_text() -> None:
    """The list form is for pictures only: not every server knows it."""
    reply = AssistantMessage("", (ToolCall("c1", "tap", {}),))
    sent = body(ASK, reply, ToolAnswers((ToolAnswer("c1", "exit=0"),)))["input"]
    assert sent[1]["type"] == "function_call"
    assert sent[2:] == [{"type": "function_call_output", "call_id": "c1", "output": "exit=0"}]


def items(*arguments: str, call_id: str = "c1") -> tuple[Json, ...]:
    parts = [reasoning("r"), message("I tap.", phase="commentary", future_field={"a": [1]})]
    return tuple(
        each.item
        for each in [*parts, *(call(call_id, "tap", each, caller="direct") for each in arguments)]
    )


def test_the_providers_items_are_replayed_unchanged_and_in_order() -> None:
    """Known or not, every field goes back; text and calls are not sent beside them."""
    given = items('{ "x":1}')
    reply = AssistantMessage("I tap.", (ToolCall("c1", "tap", {"x": 1}),), given)
    sent = body(ASK, reply, ToolAnswers((ToolAnswer("c1", "exit=0"),)))["input"]
    assert tuple(sent[1:-1]) == given
    assert sent[-1]["call_id"] == "c1"


@pytest.mark.parametrize(
    ("given", "calls"),
    [
        (items('{"x":'), ("c1",)),
        (items("[1]"), ("c1",)),
        (items('{"x": 1}', call_id="odd id"), ("call_1",)),
        (items('{"x": 1}'), ()),
        (items(), ("c1",)),
    ],
)
def test_items_that_do_not_fit_the_calls_are_not_replayed(
    given: tuple[Json, ...], calls: tuple[str, ...]
) -> None:
    """Broken arguments, another id or another number of calls would be refused by the server."""
    reply = AssistantMessage("I tap.", tuple(ToolCall(c, "tap", {}) for c in calls), given)
    answers = ToolAnswers(tuple(ToolAnswer(c, "exit=2") for c in calls))
    sent = body(ASK, reply, answers)["input"]
    kinds = ["message", "message"] + ["function_call"] * len(calls)
    assert [each["type"] for each in sent] == kinds + ["function_call_output"] * len(calls)
    assert [e["call_id"] for e in sent if "call_id" in e] == [*calls, *calls]
    assert all(each["arguments"] == "{}" for each in sent if "arguments" in each)


def test_an_id_that_comes_again_is_renamed_with_its_answer() -> None:
    """Some models repeat their ids in every turn; a conversation never holds one twice."""
    history: list[Message] = [ASK]
    for given in (items('{"x": 1}'), items('{"x": 1}'), ()):
        history.append(AssistantMessage("", (ToolCall("c1", "tap", {"x": 1}),), given))
        history.append(ToolAnswers((ToolAnswer("c1", "exit=0"),)))
    sent = body(*history)["input"]
    asked = [each["call_id"] for each in sent if each["type"] == "function_call"]
    told = [each["call_id"] for each in sent if each["type"] == "function_call_output"]
    assert asked == told == ["c1", "c1_2", "c1_3"]


def test_the_key_is_in_the_header_only() -> None:
    """Without a key there is no header at all."""
    assert ResponsesWire().headers("sk-1") == {"Authorization": "Bearer sk-1"}
    assert ResponsesWire().headers(None) == {}
