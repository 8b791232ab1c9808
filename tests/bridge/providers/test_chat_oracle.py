"""The official ``openai`` package reads the same well-formed Chat streams to the same result."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from bridge.conversation.frames import CallReady
from bridge.conversation.messages import ModelRequest, UserMessage
from bridge.conversation.stream import Finish, FinishReason, StreamEvent, TextDelta, Usage
from bridge.cst.carriers import CARRIERS
from bridge.providers.chat_completions import ChatWire
from bridge.providers.endpoint import HttpLimits, Server
from bridge.providers.provider import HttpProvider
from bridge.providers.wire import RequestOptions
from device_tools.cancel import CancelScope
from device_tools.catalog import PHONE_TOOLS
from tests.doubles.provider_server import DONE, Answer, ScriptedServer, chat_chunk, cut, event
from tests.shared_data import shared_data

openai = pytest.importorskip("openai", reason="the official package is not installed")

LETTERS = 'abc {}[]":,\\\n\t\u2028\u0085é思😀0'
Calls = list[tuple[str, str, dict[str, Any]]]


def words(pick: random.Random, most: int) -> str:
    return "".join(pick.choices(LETTERS, k=pick.randint(0, most)))


def chopped(pick: random.Random, text: str) -> list[str]:
    pieces = []
    while text:
        size = pick.randint(1, 9)
        pieces.append(text[:size])
        text = text[size:]
    return pieces


def generated(pick: random.Random) -> bytes:
    """Text, then calls whose fragments interleave, then reason and usage, as documented."""
    chunks = [chat_chunk({"role": "assistant", "content": None})]
    chunks += [chat_chunk({"content": piece}) for piece in chopped(pick, words(pick, 40))]
    fragments: list[list[Any]] = []
    for index in range(pick.randint(0, 3)):
        arguments = json.dumps({"p": words(pick, 20), "q": index}, ensure_ascii=pick.random() < 0.5)
        head = {"index": index, "id": f"call_{index}", "type": "function"}
        fragments.append(
            [{**head, "function": {"name": f"tool_{index}", "arguments": ""}}]
            + [{"index": index, "function": {"arguments": piece}}
               for piece in chopped(pick, arguments)]
        )  # fmt: skip
    called = bool(fragments)
    # all calls begin in order, then their arguments come in any order
    opened = [chat_chunk({"tool_calls": [each.pop(0)]}) for each in fragments]
    chunks += opened
    while fragments := [each for each in fragments if each]:
        chunks.append(chat_chunk({"tool_calls": [pick.choice(fragments).pop(0)]}))
    chunks.append(chat_chunk(finish="tool_calls" if called else "stop"))
    usage = {
        "prompt_tokens": pick.randint(1, 999), "completion_tokens": pick.randint(1, 999),
        "total_tokens": 1, "prompt_tokens_details": {"cached_tokens": pick.randint(0, 9)},
        "completion_tokens_details": {"reasoning_tokens": pick.randint(0, 9)},
    }  # fmt: skip
    chunks.append(event({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
                         "choices": [], "usage": usage}))  # fmt: skip
    return b"".join(chunks) + DONE


def ours(stream: bytes, size: int) -> list[StreamEvent]:
    with ScriptedServer([Answer(cut(stream, size))]) as server:
        provider = HttpProvider(
            "test", ChatWire(), RequestOptions("m"), Server(server.base_url, "k"), CancelScope(),
            limits=HttpLimits(attempts=1),
        )  # fmt: skip
        request = ModelRequest("s", (UserMessage("go"),), PHONE_TOOLS)
        with provider.stream(request) as events:
            return list(events)


def our_calls(events: list[StreamEvent]) -> Calls:
    reader = CARRIERS["native-eos"].reader(PHONE_TOOLS, None)
    for each in events:
        reader.feed(each)
    frames = reader.close(Finish(FinishReason.TOOL_CALLS))
    ready = [frame.call for frame in frames if isinstance(frame, CallReady)]
    return [(call.id, call.name, dict(call.arguments)) for call in ready]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with openai.OpenAI(api_key="k", max_retries=0) as made:
        yield made


def theirs(client: Any, stream: bytes, size: int) -> Any:
    with ScriptedServer([Answer(cut(stream, size))]) as server:
        there = client.with_options(base_url=server.base_url)
        with there.chat.completions.stream(
            model="m", messages=[{"role": "user", "content": "go"}]
        ) as read:
            return read.get_final_completion()


def compare(stream: bytes, size: int, client: Any) -> None:
    events, completion = ours(stream, size), theirs(client, stream, size)
    [choice] = completion.choices
    text = "".join(each.text for each in events if isinstance(each, TextDelta))
    assert text == (choice.message.content or "")
    assert our_calls(events) == [
        (call.id, call.function.name, json.loads(call.function.arguments))
        for call in choice.message.tool_calls or []
    ]
    finish = events[-1]
    assert isinstance(finish, Finish)
    assert finish.raw == choice.finish_reason
    [usage] = [each for each in events if isinstance(each, Usage)][-1:]
    assert usage.input_tokens == completion.usage.prompt_tokens
    assert usage.output_tokens == completion.usage.completion_tokens
    for mine, details, name in (
        (usage.cached_tokens, completion.usage.prompt_tokens_details, "cached_tokens"),
        (usage.reasoning_tokens, completion.usage.completion_tokens_details, "reasoning_tokens"),
    ):
        assert mine == (getattr(details, name) if details else None)


@pytest.mark.parametrize("seed", range(20))
def test_well_formed_streams_mean_the_same_to_both(seed: int, client: Any) -> None:
    """Text, calls, usage and reason equal those of the official package, however bytes are cut."""
    pick = random.Random(seed)
    compare(generated(pick), pick.choice([3, 50, 5000]), client)


@pytest.mark.parametrize("name", ["chat_plain", "chat_tools"])
def test_recorded_answers_mean_the_same_to_both(name: str, client: Any) -> None:
    """A real server's text, call, usage and reason are read alike."""
    compare(shared_data(f"streams/{name}.sse").read_bytes(), 700, client)
