"""Damaged Responses streams: events lost, doubled, moved, stripped of what names their item."""

from __future__ import annotations

import json
import random

import pytest

from bridge.conversation.frames import CallReady
from bridge.conversation.stream import Finish, FinishReason, OpaqueItem, StreamEvent
from bridge.cst.carriers import CARRIERS
from bridge.errors import ProviderError
from bridge.providers.responses_answer import ResponsesAnswer
from bridge.providers.sse import ServerSentEvent
from bridge.providers.wire import Peer
from device_tools.schema import ToolSpec, arguments_schema
from tests.doubles.responses_stream import Json, call, events, message, reasoning, search

TAP = ToolSpec("tap", "Tap.", arguments_schema({"x": {"type": "integer"}}, ["x"]))
OUTPUTS = (
    reasoning("First.", "Second."),
    search(),
    message("I tap twice, 两次."),
    call("c1", "tap", '{"x": 123456789}'),
    call("c2", "tap", '{"x": 987654321, "y": [1, 22, 333]}'),
    message("There.", item_id="msg_2"),
)
CALLS = {
    (each.item["call_id"], each.item["arguments"]) for each in OUTPUTS if each.item.get("name")
}
NAMES = ("item_id", "output_index", "content_index", "item", "delta", "arguments", "response")


def damaged(rng: random.Random) -> list[Json]:
    told = events(*OUTPUTS)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(told))
        match rng.randrange(5):
            case 0:
                del told[at]
            case 1:
                told.insert(rng.randrange(len(told)), told[at])
            case 2:
                told.insert(rng.randrange(len(told)), told.pop(at))
            case 3:
                dropped = rng.choice(NAMES)
                told[at] = {key: value for key, value in told[at].items() if key != dropped}
            case _:
                odd = rng.choice(["fc_c1", "msg_1", "", 0, None, [], {}])
                told[at] = {**told[at], rng.choice(NAMES): odd}
    return told


def heard(told: list[Json]) -> list[StreamEvent]:
    answer = ResponsesAnswer(Peer("server"), native=True, note=lambda text: None)
    got: list[StreamEvent] = []
    for each in told:
        got += answer.feed(ServerSentEvent("message", json.dumps(each)))
        if answer.done:
            break
    return got + answer.close()


@pytest.mark.parametrize("seed", range(10))
def test_a_damaged_stream_runs_only_what_its_terminal_output_confirms(seed: int) -> None:
    """Whatever is lost or moved: a provider error, or calls that are those of the output."""
    rng = random.Random(seed)
    ended = 0
    for _ in range(50):
        try:
            got = heard(damaged(rng))
        except ProviderError:
            continue
        ended += 1
        finish = got[-1]
        assert isinstance(finish, Finish)
        reader = CARRIERS["native-eos"].reader((TAP,), None)
        frames = [frame for event in got for frame in reader.feed(event)]
        frames += reader.close(finish)
        ran = [f.call for f in frames if isinstance(f, CallReady)]
        assert {(each.id, each.source) for each in ran} <= CALLS
        assert len(ran) == len({each.id for each in ran})
        kept = [event.item for event in got if isinstance(event, OpaqueItem)]
        if kept:
            assert finish.reason is FinishReason.TOOL_CALLS
            assert kept == [each.item for each in OUTPUTS]
    assert ended > 5
