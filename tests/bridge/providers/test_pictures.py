"""Models that read no pictures get words instead, on every wire."""

from __future__ import annotations

import pytest

from bridge.conversation.messages import (
    AssistantMessage,
    ModelRequest,
    ToolAnswer,
    ToolAnswers,
    ToolCall,
    UserMessage,
)
from bridge.errors import ProviderError
from bridge.providers.anthropic import AnthropicWire
from bridge.providers.chat_completions import ChatWire
from bridge.providers.endpoint import HttpLimits, Server
from bridge.providers.provider import HttpProvider
from bridge.providers.responses import ResponsesWire
from bridge.providers.wire import RequestOptions, Wire
from device_tools.cancel import CancelScope
from device_tools.result import Image
from tests.doubles.provider_server import Answer, ScriptedServer

PICTURE = Image(b"\xff\xd8jpeg", "image/jpeg", 1, 1, "screen o1")
REQUEST = ModelRequest(
    "s",
    (
        UserMessage("look", (PICTURE,)),
        AssistantMessage("", (ToolCall("a", "observe_screen", {}),)),
        ToolAnswers((ToolAnswer("a", "exit=0\nScreen o1", (PICTURE,)),)),
    ),
)
REFUSAL = Answer(
    [b'{"error":{"message":"image input is not supported - you may need the mmproj"}}'],
    400,
    "application/json",
)


def failure(wire: Wire, pictures: bool) -> tuple[str, ProviderError]:
    """The body that was sent, and the error of a server that refuses everything."""
    options = RequestOptions("m", pictures=pictures)
    with ScriptedServer([REFUSAL]) as server:
        provider = HttpProvider(
            "test", wire, options, Server(server.base_url), CancelScope(),
            limits=HttpLimits(attempts=1),
        )  # fmt: skip
        with pytest.raises(ProviderError) as caught, provider.stream(REQUEST):
            pass
        return server.requests[0].body.decode(), caught.value


@pytest.mark.parametrize("wire", [ChatWire(), ResponsesWire(), AnthropicWire()])
def test_no_picture_is_sent_to_a_model_that_reads_none(wire: Wire) -> None:
    """Each picture leaves a line in its place; nothing of its bytes goes out."""
    with_pictures, _ = failure(wire, pictures=True)
    in_words, _ = failure(wire, pictures=False)
    assert "/9hqcGVn" in with_pictures and "not sent" not in with_pictures
    assert "/9hqcGVn" not in in_words and "image/jpeg" not in in_words
    assert in_words.count("not sent: the picture screen o1") == 2


def test_a_refused_picture_names_the_setting() -> None:
    """Who talks to a text model for the first time learns what to do."""
    _, error = failure(ChatWire(), pictures=True)
    assert "image input is not supported" in error.message
    assert "BRIDGE_PICTURES=false" in error.advice
