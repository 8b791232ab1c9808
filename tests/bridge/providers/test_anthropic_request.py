"""The Anthropic request as it reaches a server."""

from __future__ import annotations

from dataclasses import replace
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
from bridge.providers.anthropic import AnthropicWire
from bridge.providers.endpoint import HttpLimits, Server
from bridge.providers.provider import HttpProvider
from bridge.providers.wire import RequestOptions
from device_tools.cancel import CancelScope
from device_tools.catalog import PHONE_TOOLS
from device_tools.result import Image
from tests.doubles.anthropic_stream import message, text
from tests.doubles.provider_server import Answer, Request, ScriptedServer

PICTURE = Image(b"\x89PNG", "image/png", 1, 1, "a picture")
SENT_PICTURE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="},
}
HELLO = ModelRequest("be brief", (UserMessage("hello"),))
OPTIONS = RequestOptions("claude-test")
BUDGET = RequestOptions("claude-sonnet-4-5", thinking="high", reasons=True)
TAP = ToolCall("a", "tap", {"x": 1})
SIGNED: dict[str, Any] = {"type": "thinking", "thinking": "", "signature": "Eq+/=é", "new": None}
USED: dict[str, Any] = {"type": "tool_use", "id": "a", "name": "tap", "input": {"x": 1}}


def sent(request: ModelRequest, options: RequestOptions = OPTIONS, key: str = "k") -> Request:
    with ScriptedServer([Answer([message([text("ok")], "end_turn")])]) as server:
        limits = HttpLimits(attempts=1)
        provider = HttpProvider(
            "t",
            AnthropicWire(),
            options,
            Server(server.base_url, key),
            CancelScope(),
            limits=limits,
        )
        with provider.stream(request) as events:
            list(events)
        return server.requests[0]


def body(request: ModelRequest, options: RequestOptions = OPTIONS) -> Any:
    return sent(request, options).json


def messages(*history: Message) -> Any:
    """What was sent, without the marks for the cache."""
    sent = body(ModelRequest("", history))["messages"]
    for each in sent:
        for block in each["content"]:
            block.pop("cache_control", None)
    return sent


def said(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def result(call_id: str, content: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def test_a_request_has_the_required_parts() -> None:
    """Path, key and version in headers, a cap although none was asked for, no tools of its own."""
    request = sent(HELLO, key="sk-ant-1")
    assert request.path == "/v1/messages"
    assert request.headers["x-api-key"] == "sk-ant-1"
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in request.headers
    assert request.json == {
        "model": "claude-test",
        "max_tokens": 8192,
        "system": [{**words("be brief"), "cache_control": {"type": "ephemeral"}}],
        "messages": [said("user", words("hello"))],
        "stream": True,
    }


def test_the_cap_is_the_users_or_the_requests() -> None:
    """The user's addition to the body goes before the request's cap."""
    capped = replace(HELLO, max_output_tokens=99)
    assert body(capped)["max_tokens"] == 99
    assert body(capped, replace(OPTIONS, extra={"max_tokens": 7}))["max_tokens"] == 7


def test_tools_are_offered_with_their_schemas() -> None:
    """Name, description and schema of each; the provider's own search only when switched on."""
    offered = body(replace(HELLO, tools=PHONE_TOOLS[:1]))["tools"]
    tool = PHONE_TOOLS[0]
    assert offered == [
        {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
    ]
    searching = body(HELLO, replace(OPTIONS, web_search=True))["tools"]
    assert searching == [{"type": "web_search_20250305", "name": "web_search", "max_uses": 5}]


def test_the_blocks_of_a_reply_go_back_unchanged() -> None:
    """Signed, redacted and unknown fields, in their order; text and calls are not sent beside."""
    redacted = {"type": "redacted_thinking", "data": "x=="}
    items = (SIGNED, words("I tap. "), redacted, {**USED, "caller": {"type": "direct"}})
    history = (
        UserMessage("go"),
        AssistantMessage("I tap. ", (TAP,), items),
        ToolAnswers((ToolAnswer("a", "exit=0\n"),)),
    )
    assert messages(*history)[1:] == [
        {"role": "assistant", "content": list(items)},
        said("user", result("a", "exit=0\n")),
    ]


def test_replies_without_blocks_go_back_as_text_and_calls() -> None:
    """All answers of the turn come first in one message, pictures inside, then the note."""
    history = (
        UserMessage("go", (PICTURE,)),
        AssistantMessage("I look.", (TAP, ToolCall("b", "look", {}))),
        ToolAnswers((ToolAnswer("a", "exit=0\n"), ToolAnswer("b", "seen", (PICTURE,))), "Hurry."),
    )
    assert messages(*history) == [
        said("user", words("go"), SENT_PICTURE),
        said("assistant", words("I look."), USED, {**USED, "id": "b", "name": "look", "input": {}}),
        said(
            "user",
            result("a", "exit=0\n"),
            result("b", [words("seen"), SENT_PICTURE]),
            words("Hurry."),
        ),
    ]


def test_roles_alternate_and_nothing_empty_is_sent() -> None:
    """Messages of one role in a row become one; blank texts, which are refused, are left out."""
    history = (
        UserMessage("go"),
        AssistantMessage(""),
        UserMessage("on", (PICTURE,)),
        AssistantMessage("", (TAP,), (words(""), SIGNED, USED)),
        ToolAnswers((ToolAnswer("a", "exit=0\n"),), " \n"),
        UserMessage("and on"),
    )
    assert messages(*history) == [
        said("user", words("go"), words("on"), SENT_PICTURE),
        said("assistant", SIGNED, USED),
        said("user", result("a", "exit=0\n"), words("and on")),
    ]


def test_a_paused_reply_is_sent_again_as_the_last_message() -> None:
    """The server goes on from there; what it then says joins the same message."""
    searched = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    paused = AssistantMessage("", (), (words("I look. "), searched))
    assert messages(UserMessage("go"), paused)[-1] == said("assistant", *paused.items)
    rest = AssistantMessage("", (TAP,), (words("So."), USED))
    history = (UserMessage("go"), paused, rest, ToolAnswers((ToolAnswer("a", "exit=0\n"),)))
    assert messages(*history)[1] == said("assistant", *paused.items, *rest.items)


def test_what_will_not_change_is_marked_for_the_cache() -> None:
    """The user's last message but one, at its end; a picture or an answer can carry the mark."""
    answered = ToolAnswers((ToolAnswer("a", "exit=0\n"),))
    turns: list[Message] = [UserMessage("go", (PICTURE,)), AssistantMessage("", (TAP,)), answered]
    for _ in range(3):
        sent = body(ModelRequest("", tuple(turns)))["messages"]
        marks = [
            (number, place)
            for number, message in enumerate(sent)
            for place, block in enumerate(message["content"])
            if "cache_control" in block
        ]
        assert marks == [(len(turns) - 3, len(sent[len(turns) - 3]["content"]) - 1)]
        turns += [AssistantMessage("", (TAP,)), answered]
    assert "cache_control" not in str(body(HELLO)["messages"])


def test_an_id_that_repeats_is_renamed_with_its_answer() -> None:
    """In later turns and in one message; the rest of the block stays."""
    answers = ToolAnswers((ToolAnswer("a", "exit=0\n"),))
    twice = (ToolCall("a", "tap", {"x": 1}), ToolCall("call_2", "tap", {"x": 1}))
    history = (
        UserMessage("go"),
        AssistantMessage("", (TAP,), (SIGNED, USED)),
        answers,
        AssistantMessage("", (TAP,)),
        answers,
        AssistantMessage("", twice, (USED, USED)),
        ToolAnswers((ToolAnswer("a", "exit=0\n"), ToolAnswer("call_2", "exit=2\n"))),
    )
    contents = [each["content"] for each in messages(*history)]
    asked = [b["id"] for blocks in contents for b in blocks if b["type"] == "tool_use"]
    told = [b["tool_use_id"] for blocks in contents for b in blocks if b["type"] == "tool_result"]
    assert asked == told == ["a", "a_2", "a_3", "a_4"]
    assert contents[1] == [SIGNED, USED]


def test_blocks_that_do_not_match_the_calls_are_not_sent() -> None:
    """An answer always has its call, even when the kept blocks lost one."""
    history = (
        UserMessage("go"),
        AssistantMessage("", (TAP, replace(TAP, id="b")), (SIGNED, USED)),
        ToolAnswers((ToolAnswer("a", "exit=0\n"), ToolAnswer("b", "exit=0\n"))),
    )
    assert messages(*history)[1] == said("assistant", USED, {**USED, "id": "b"})


@pytest.mark.parametrize(
    ("model", "thinking", "expected"),
    [
        ("claude-sonnet-4-5-20250929", "low", {"type": "enabled", "budget_tokens": 2048}),
        ("claude-opus-4-20250514", "high", {"type": "enabled", "budget_tokens": 4096}),
        ("claude-3-7-sonnet-latest", "medium", {"type": "enabled", "budget_tokens": 4096}),
        ("claude-opus-4-6", "high", {"type": "adaptive", "display": "summarized"}),
        ("claude-haiku-5-5", "low", {"type": "adaptive", "display": "summarized"}),
    ],
)
def test_thinking_is_asked_for_as_the_model_wants_it(
    model: str, thinking: str, expected: dict[str, Any]
) -> None:
    """A budget below the cap for older models, an effort for the others."""
    asked = body(HELLO, RequestOptions(model, thinking=thinking, reasons=True))
    assert asked["thinking"] == expected
    effort = {"effort": thinking} if expected["type"] == "adaptive" else None
    assert asked.get("output_config") == effort


def test_thinking_is_left_out_where_it_cannot_be() -> None:
    """A model that is not known to think, no setting, or a cap without room for a budget."""
    for options in (replace(BUDGET, reasons=False), replace(BUDGET, thinking="")):
        assert "thinking" not in body(HELLO, options)
    assert "thinking" not in body(replace(HELLO, max_output_tokens=2000), BUDGET)


def test_a_budget_is_not_sent_while_the_thinking_of_a_call_is_lost() -> None:
    """The API refuses calls without their thinking; the next turn may think again."""
    history = (
        UserMessage("go"),
        AssistantMessage("", (TAP,)),
        ToolAnswers((ToolAnswer("a", "exit=2\n"),)),
    )
    assert "thinking" not in body(ModelRequest("", history), BUDGET)
    kept = (history[0], AssistantMessage("", (TAP,), (SIGNED, USED)), history[2])
    assert "thinking" in body(ModelRequest("", (*history, *kept[1:])), BUDGET)


def test_thinking_off_removes_every_override() -> None:
    """Whatever the user's additions say about thinking is gone, the rest stays."""
    extra = {
        "thinking": {"type": "enabled", "budget_tokens": 9000},
        "output_config": {"effort": "max", "format": {"type": "json_schema"}},
        "reasoning_effort": "high",
        "temperature": 1,
    }
    off = replace(BUDGET, thinking="off", extra=extra)
    asked = body(HELLO, off)
    assert not {"thinking", "reasoning_effort"} & asked.keys()
    assert asked["output_config"] == {"format": {"type": "json_schema"}}
    assert asked["temperature"] == 1
    assert body(HELLO, replace(off, thinking=""))["thinking"] == extra["thinking"]


def test_the_users_additions_cannot_take_over() -> None:
    """Messages, tools and stream are the runtime's."""
    for field in ("messages", "tools", "stream", "system"):
        with pytest.raises(ConfigurationError, match=field):
            body(HELLO, replace(OPTIONS, extra={field: []}))
