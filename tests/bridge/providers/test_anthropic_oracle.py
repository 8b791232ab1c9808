"""The official package and this wire read the same well-formed streams alike."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from bridge.conversation.messages import ModelRequest, UserMessage
from bridge.conversation.stream import (
    CallDelta,
    Finish,
    OpaqueItem,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    Usage,
)
from bridge.providers.anthropic import AnthropicWire
from bridge.providers.endpoint import HttpLimits, Server
from bridge.providers.provider import HttpProvider
from bridge.providers.wire import RequestOptions
from device_tools.cancel import CancelScope
from device_tools.catalog import PHONE_TOOLS
from tests.doubles.anthropic_stream import Block, message, text, thinking, tool
from tests.doubles.provider_server import Answer, ScriptedServer, cut
from tests.shared_data import shared_data

anthropic = pytest.importorskip("anthropic", reason="the official package is not installed")

LETTERS = 'abc {}[]":,\\\n\t\u2028é思😀0'


def ours(stream: bytes, size: int) -> list[StreamEvent]:
    with ScriptedServer([Answer(cut(stream, size))]) as server:
        provider = HttpProvider(
            "test",
            AnthropicWire(),
            RequestOptions("m"),
            Server(server.base_url, "k"),
            CancelScope(),
            limits=HttpLimits(attempts=1),
        )
        request = ModelRequest("", (UserMessage("go"),), PHONE_TOOLS)
        with provider.stream(request) as events:
            return list(events)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with anthropic.Anthropic(api_key="k", max_retries=0) as made:
        yield made


def theirs(client: Any, stream: bytes, size: int) -> Any:
    with ScriptedServer([Answer(cut(stream, size))]) as server:
        there = client.with_options(base_url=server.base_url.removesuffix("/v1"))
        asked = [{"role": "user", "content": "go"}]
        with there.messages.stream(model="m", max_tokens=9, messages=asked) as answer:
            return answer.get_final_message()


def words(rng: random.Random) -> str:
    return "x" + "".join(rng.choices(LETTERS, k=rng.randrange(40)))


def blocks(rng: random.Random) -> list[Block]:
    made: list[Block] = []
    for number in range(rng.randrange(1, 6)):
        arguments = json.dumps(
            {words(rng): words(rng), "n": [1.5, None, number]}, ensure_ascii=False
        )
        made.append(
            rng.choice(
                [
                    text(words(rng), rng.randrange(1, 9)),
                    thinking(words(rng), words(rng)),
                    tool(f"toolu_{number}", "tap", rng.choice([arguments, ""])),
                    Block({"type": "redacted_thinking", "data": words(rng)}),
                ]
            )
        )
    return made


def agree(client: Any, stream: bytes, size: int) -> None:
    events, final = ours(stream, size), theirs(client, stream, size)
    items = [event.item for event in events if isinstance(event, OpaqueItem)]
    content = [block.to_dict() for block in final.content]
    assert items == content
    told = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert told == "".join(each["text"] for each in content if each["type"] == "text")
    thought = "".join(event.text for event in events if isinstance(event, ReasoningDelta))
    assert thought == "".join(each["thinking"] for each in content if each["type"] == "thinking")
    begun = [event.id for event in events if isinstance(event, CallDelta) and event.id]
    assert begun == [each["id"] for each in content if each["type"] == "tool_use"]
    finish = events[-1]
    assert isinstance(finish, Finish) and finish.raw == final.stop_reason
    counted = [event for event in events if isinstance(event, Usage)][-1]
    told_usage = final.usage
    read, written = told_usage.cache_read_input_tokens, told_usage.cache_creation_input_tokens
    assert counted.output_tokens == told_usage.output_tokens
    assert counted.input_tokens == told_usage.input_tokens + (read or 0) + (written or 0)
    assert (counted.cached_tokens, counted.cache_write_tokens) == (read, written)


@pytest.mark.parametrize("seed", range(12))
def test_well_formed_streams_mean_the_same_to_both(seed: int, client: Any) -> None:
    """Blocks, text, thinking, calls, usage and reason equal those of the official package."""
    rng = random.Random(seed)
    made = blocks(rng)
    called = any(block.start["type"] == "tool_use" for block in made)
    agree(
        client,
        message(made, "tool_use" if called else "end_turn"),
        rng.choice([5, 17, 1000, 1 << 20]),
    )


def test_a_recorded_answer_means_the_same_to_both(client: Any) -> None:
    """Text of a real server; its calls lack the input that the official package relies on."""
    agree(client, shared_data("streams/msg_plain.sse").read_bytes(), 100)
