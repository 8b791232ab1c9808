"""The messages of a Chat Completions request."""

from __future__ import annotations

import re
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
from bridge.providers.chat_messages import request_body
from bridge.providers.chat_quirks import STRICT, ChatQuirks
from device_tools.result import Image

PICTURE = Image(b"\xff\xd8", "image/jpeg", 1, 1, "screen 1")


def turn(*ids: str, note: str = "") -> list[Any]:
    """One reply with these calls, and its answers; the last answer has a picture."""
    calls = tuple(ToolCall(each, "f", {"p": 1}) for each in ids)
    answers = [ToolAnswer(each, f"exit=0\n{each}") for each in ids[:-1]]
    last = ToolAnswer(ids[-1], "exit=0\nlast", (PICTURE,))
    return [AssistantMessage("", calls), ToolAnswers((*answers, last), note)]


def sent(messages: list[Any], quirks: ChatQuirks = STRICT) -> list[dict[str, Any]]:
    """The messages behind the system prompt and the task."""
    request = ModelRequest("s", (UserMessage("go"), *messages))
    messages_sent: list[dict[str, Any]] = request_body(request, "m", quirks=quirks)["messages"]
    return messages_sent[2:]


def test_answers_are_contiguous_and_pictures_follow_as_the_user() -> None:
    """No message stands between a reply and all its answers; pictures and notes come behind."""
    messages = sent(turn("a", "b", note="this was the last turn"))
    assert [each["role"] for each in messages] == ["assistant", "tool", "tool", "user"]
    assert [each["tool_call_id"] for each in messages[1:3]] == ["a", "b"]
    text, picture = messages[3]["content"]
    assert "screen 1" in text["text"] and "last turn" in text["text"]
    assert picture["image_url"]["url"] == "data:image/jpeg;base64,/9g="


def test_ids_that_repeat_across_turns_are_unique_in_requests() -> None:
    """A model that numbers its calls anew in each turn gets no refusal; answers keep to calls."""
    messages = sent([*turn("f:0", "f:1"), *turn("f:0"), *turn("f:0")])
    asked = [call["id"] for each in messages for call in each.get("tool_calls", ())]
    answered = [each["tool_call_id"] for each in messages if each["role"] == "tool"]
    assert asked == answered == ["f:0", "f:1", "f:0_2", "f:0_3"]


@pytest.mark.parametrize("length", [9, 24])
def test_ids_have_the_shape_that_the_server_asks_for(length: int) -> None:
    """Foreign ids become letters and digits of the length, always the same ones; fit ones stay."""
    fit = "a1" * (length // 2) + "Z" * (length % 2)
    quirks = ChatQuirks(id_length=length)
    conversation = [*turn(fit, "call_0"), *turn("call_0", fit)]
    messages = sent(conversation, quirks)
    asked = [call["id"] for each in messages for call in each.get("tool_calls", ())]
    answered = [each["tool_call_id"] for each in messages if each["role"] == "tool"]
    assert asked == answered
    assert asked[0] == fit
    assert len(set(asked)) == 4
    assert all(re.fullmatch(f"[A-Za-z0-9]{{{length}}}", each) for each in asked)
    assert sent(conversation, quirks) == messages


def test_a_reply_without_calls_is_plain_text() -> None:
    """No empty list of calls is sent: some servers refuse it."""
    assert sent([AssistantMessage("ok")]) == [{"role": "assistant", "content": "ok"}]
