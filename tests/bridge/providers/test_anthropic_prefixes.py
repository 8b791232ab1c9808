"""The promises of the call carriers kept over the Anthropic wire, for random and damaged streams.

No socket here: the reader of answers and the carriers take thousands of streams.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Sequence
from typing import Any

import pytest

from bridge.conversation.frames import CallReady
from bridge.conversation.stream import Finish
from bridge.cst.carriers import CARRIERS
from bridge.errors import ProviderError
from bridge.providers.anthropic_answer import AnthropicAnswer
from bridge.providers.sse import ServerSentEvent, SseDecoder
from bridge.providers.wire import Peer
from device_tools.catalog import PHONE_TOOLS
from tests.doubles.anthropic_stream import Block, message, text, thinking, tool

CAP = 8192
ODD: Sequence[Any] = (
    None,
    "",
    0,
    -1,
    2.5,
    True,
    [],
    [1],
    {},
    {"type": "text"},
    "\ud800",
    "text",
)


def blocks(rng: random.Random) -> list[Block]:
    source = {"type": "citations_delta", "citation": {"url": "https://a.example", "title": "A"}}
    made = [
        Block({"type": "text", "text": "", "citations": []}, [*text("I look.").deltas, source]),
        thinking("hm", "sig"),
        tool("s", "web_search", '{"query": "rain"}', "server_tool_use"),
        Block({"type": "web_search_tool_result", "tool_use_id": "s", "content": []}),
    ]
    for number in range(rng.randrange(1, 4)):
        arguments = json.dumps({"x": rng.randrange(999), "y": rng.randrange(999)})
        made.append(tool(f"t{number}", "tap", arguments))
    rng.shuffle(made)
    return made


def decoded(stream: bytes) -> list[ServerSentEvent]:
    return SseDecoder().feed(stream)


def calls_run(events: Sequence[ServerSentEvent], mode: str) -> list[str]:
    """The calls that are confirmed, as the loop would run them."""
    answer = AnthropicAnswer(Peer("host"), native=True, output_cap=CAP)
    reader = CARRIERS[mode].reader(PHONE_TOOLS, CAP)
    frames = []
    finish: Finish | None = None
    try:
        for event in events:
            for told in answer.feed(event):
                frames += reader.feed(told)
            if answer.done:
                break
        for told in answer.close():
            if isinstance(told, Finish):
                finish = told
            frames += reader.feed(told)
    except ProviderError:
        finish = None
    frames += reader.close(finish)
    return [str(frame.call) for frame in frames if isinstance(frame, CallReady)]


@pytest.mark.parametrize("mode", ["native-eos", "native-inc"])
@pytest.mark.parametrize("seed", range(8))
def test_a_prefix_runs_only_calls_of_the_whole_stream(mode: str, seed: int) -> None:
    """The same calls in the same order, ever more of them; native-eos none before the end."""
    stream = message(blocks(random.Random(seed)), "tool_use")
    events = decoded(stream)
    whole = calls_run(events, mode)
    assert len(whole) == len(set(whole)) >= 1
    before: list[str] = []
    for size in range(len(events)):
        now = calls_run(events[:size], mode)
        assert now == whole[: len(now)] and len(now) >= len(before)
        assert mode == "native-inc" or now == []
        before = now


@pytest.mark.parametrize("seed", range(80))
def test_damaged_events_end_in_words_and_run_nothing_twice(seed: int) -> None:
    """Whatever a field holds, the answer is read or refused; a repeated event repeats no call."""
    rng = random.Random(seed)
    events = decoded(message(blocks(rng), "tool_use"))
    whole = calls_run(events, "native-inc")
    again = [*events]
    place = rng.randrange(len(events))
    again.insert(rng.randrange(place, len(events)), events[place])
    assert len(calls_run(again, "native-inc")) <= len(whole)
    for _ in range(3):
        place = rng.randrange(len(events))
        events[place] = damaged(rng, events[place])
    for mode in ("native-eos", "native-inc"):
        assert len(calls_run(events, mode)) <= len(whole)


def damaged(rng: random.Random, event: ServerSentEvent) -> ServerSentEvent:
    """One value somewhere in the event becomes an odd one, or is gone."""
    data = json.loads(event.data)
    found = places(data)
    if not found:
        return event
    table, key = rng.choice(found)
    if rng.random() < 0.3:
        del table[key]
    else:
        table[key] = copy.deepcopy(rng.choice(ODD))
    return ServerSentEvent(event.event, json.dumps(data))


def places(data: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    found = [(data, key) for key in data]
    for value in data.values():
        if isinstance(value, dict):
            found += places(value)
    return found
