"""Which calls the Anthropic wire lets run, whatever its server does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.conversation.frames import CallReady, CallRefused
from bridge.conversation.stream import (
    CallClosed,
    CallDelta,
    Finish,
    FinishReason,
    OpaqueItem,
)
from bridge.cst.carriers import CARRIERS
from bridge.errors import ProviderError
from bridge.providers.anthropic import AnthropicWire
from bridge.providers.endpoint import Server
from bridge.providers.provider import HttpProvider
from device_tools.cancel import CancelScope
from device_tools.catalog import PHONE_TOOLS
from tests.bridge.providers.anthropic_reading import (
    LIMITS,
    NATIVE,
    OPTIONS,
    TEXT,
    finish_of,
    items_of,
    judged,
    read,
)
from tests.doubles.anthropic_stream import (
    STOP,
    Block,
    begin,
    end,
    message,
    pieces,
    reason,
    start,
    text,
    thinking,
    tool,
    whole,
)
from tests.doubles.provider_server import Answer, ScriptedServer
from tests.shared_data import shared_data


def test_a_recorded_answer_that_is_cut_anywhere_runs_nothing() -> None:
    """No prefix of a stream without its message_stop lets a call run."""
    recorded = shared_data("streams/msg_tools.sse").read_bytes()
    body = recorded.index(b"event: message_stop")
    ends = [*range(0, body, 997), body - 1, body]
    for size in ends[1:]:
        try:
            events = read(recorded[:size])
        except ProviderError:
            continue
        assert judged(events) == ["write_file unknown_end"]
        assert finish_of(events).raw == "tool_use (message_stop is missing)"
        assert items_of(events) == []


@pytest.mark.parametrize(
    ("word", "error"),
    [
        ("end_turn", "contradictory_end"),
        ("stop_sequence", "contradictory_end"),
        ("max_tokens", "truncated"),
        ("model_context_window_exceeded", "truncated"),
        ("refusal", "filtered"),
        ("pause_turn", "paused"),
        ("odd", "unknown_end"),
    ],
)
def test_only_tool_use_lets_calls_run(word: str, error: str) -> None:
    """Whole calls under any other reason are refused, each with the word for it."""
    assert judged(read(message([tool("t", "tap", '{"x": 1}')], word))) == [f"tap {error}"]


def test_a_reply_that_used_all_its_tokens_was_cut() -> None:
    """Reasons can lie: at the cap even tool_use counts as the limit, at the default cap too."""
    for cap in (9, None):
        request = replace(NATIVE, max_output_tokens=cap)
        used = {"output_tokens": cap or 8192}
        call = whole(0, tool("t", "tap", "{}"))
        events = read(start(), *call, reason("tool_use", used), STOP, request=request)
        assert judged(events) == ["tap truncated"]


def test_arguments_at_the_start_of_a_call() -> None:
    """An object there with no fragments is whole; the placeholder is never joined to anything."""
    given = {"x": 1, "y": 2}
    at_once = Block({"type": "tool_use", "id": "a", "name": "tap", "input": given})
    events = read(message([at_once], "tool_use"))
    assert judged(events) == ["tap {'x': 1, 'y': 2}"]
    assert items_of(events) == [at_once.start]
    both = Block(at_once.start, tool("a", "tap", '{"x": 3}').deltas)
    assert judged(read(message([both], "tool_use"))) == ["tap malformed_call"]


def test_a_call_without_arguments_counts_only_with_terminal_evidence() -> None:
    """No fragments are ``{}`` after tool_use and message_stop, and nothing before."""
    call = tool("a", "observe_screen", "")
    assert judged(read(message([call], "tool_use"))) == ["observe_screen {}"]
    bare = Block({"type": "tool_use", "id": "a", "name": "observe_screen"})
    events = read(message([bare], "tool_use"))
    assert judged(events) == ["observe_screen {}"]
    assert items_of(events) == [{**bare.start, "input": {}}]
    events = read(start(), *whole(0, call), reason("tool_use"))
    assert judged(events) == ["observe_screen unknown_end"]


@pytest.mark.parametrize(
    "arguments", ['{"x": 1', '{}{"x": 1}', 'x": 1}', '{"x": 1, "x": 2}', "[1]", '{"x": "\\ud800"}']
)
def test_broken_arguments_never_run_and_go_back_empty(arguments: str) -> None:
    """Nothing is repaired; the call's block stays in its place for the replay."""
    events = read(message([thinking("t", "s"), tool("a", "tap", arguments)], "tool_use"))
    assert judged(events) == ["tap malformed_call"]
    assert [item["type"] for item in items_of(events)] == ["thinking", "tool_use"]
    assert items_of(events)[1]["input"] == {}


def test_an_id_twice_in_one_message_is_refused() -> None:
    """Neither the same call nor another one runs under an id that was used."""
    for second in ("tap", "observe_screen"):
        calls = [tool("grep:3", "tap", '{"x": 1}'), tool("grep:3", second, '{"x": 1}')]
        said = judged(read(message(calls, "tool_use")))
        assert len(said) == 2 and all("malformed_call" in each for each in said)


def test_a_second_end_of_a_block_runs_its_call_at_most_once() -> None:
    """The first end confirms in native-inc; the second breaks the answer off before the next."""
    steps = [start(), *whole(0, tool("a", "tap", "{}")), begin(1, text("").start), end(0), STOP]
    reader = CARRIERS["native-inc"].reader(PHONE_TOOLS, None)
    frames = []
    with ScriptedServer([Answer(steps)]) as server:
        provider = HttpProvider(
            "test", AnthropicWire(), OPTIONS, Server(server.base_url), CancelScope(), limits=LIMITS
        )
        with provider.stream(NATIVE) as events, pytest.raises(ProviderError, match="had ended"):
            for event in events:
                frames += reader.feed(event)
    frames += reader.close(None)
    assert sum(isinstance(frame, CallReady | CallRefused) for frame in frames) == 1


def test_a_call_that_was_not_ended_is_refused() -> None:
    """tool_use and message_stop do not make up for a block that is still open."""
    steps = whole(0, tool("a", "tap", '{"x": 1}'))[:-1]
    events = read(start(), *steps, reason("tool_use"), STOP)
    assert judged(events) == ["tap unknown_end"]
    assert finish_of(events).raw == "tool_use (a call was not ended)"
    assert items_of(events) == []


def test_calls_where_none_were_offered_are_a_contradiction() -> None:
    """A text carrier sees text only; the end is unknown and the blocks are not replayed."""
    events = read(message([text("Hi"), tool("a", "tap", "{}")], "tool_use"), request=TEXT)
    assert not [event for event in events if isinstance(event, CallDelta | CallClosed | OpaqueItem)]
    assert finish_of(events) == Finish(
        FinishReason.UNKNOWN, "tool_use (native tool calls though none were offered)"
    )


@pytest.mark.parametrize("size", [1, 3, 100])
def test_calls_confirm_by_the_end_of_their_block_at_any_cut(size: int) -> None:
    """In native-inc two calls of one message run in order, however their arguments are cut."""
    calls = [
        Block(tool("a", "tap", "").start,
              [{"type": "input_json_delta", "partial_json": p} for p in pieces('{"x": 1}', size)]),
        tool("b", "tap", '{"x": 2}'),
    ]  # fmt: skip
    assert judged(read(message(calls, "tool_use")), "native-inc") == [
        "tap {'x': 1}",
        "tap {'x': 2}",
    ]
