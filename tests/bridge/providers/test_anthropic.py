"""The Anthropic wire read over a real socket, with bytes of our own making and recordings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from bridge.conversation.frames import CallReady, CallRefused
from bridge.conversation.messages import ModelRequest, UserMessage
from bridge.conversation.stream import (
    CallClosed,
    CallDelta,
    Citation,
    Finish,
    FinishReason,
    HostedTool,
    OpaqueItem,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    Usage,
)
from bridge.cst.carriers import CARRIERS
from bridge.errors import ProviderError
from bridge.providers.anthropic import AnthropicWire
from bridge.providers.endpoint import HttpLimits, Server
from bridge.providers.provider import HttpProvider
from bridge.providers.wire import RequestOptions
from device_tools.cancel import CancelScope
from device_tools.catalog import PHONE_TOOLS
from tests.doubles.anthropic_stream import (
    STOP,
    Block,
    begin,
    delta,
    end,
    message,
    named,
    pieces,
    reason,
    start,
    text,
    thinking,
    tool,
    whole,
)
from tests.doubles.provider_server import Answer, HangUp, ScriptedServer, Step, cut
from tests.shared_data import shared_data

KEY = "sk-ant-verysecretkey"
TEXT = ModelRequest("be brief", (UserMessage("hello"),))
NATIVE = replace(TEXT, tools=PHONE_TOOLS)
OPTIONS = RequestOptions("claude-test")
LIMITS = HttpLimits(attempts=1, connect=2.0, first_byte=5.0, idle=5.0)
PIECE = {"type": "input_json_delta", "partial_json": "{"}
SIGNATURE = "EqQBCgIYAhIM+/=é" * 9


def read(
    *steps: Step, request: ModelRequest = NATIVE, options: RequestOptions = OPTIONS
) -> list[StreamEvent]:
    with ScriptedServer([Answer(steps)]) as server:
        address = Server(server.base_url, KEY)
        provider = HttpProvider(
            "test", AnthropicWire(), options, address, CancelScope(), limits=LIMITS
        )
        with provider.stream(request) as events:
            return list(events)


def failure(*steps: Step) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        read(*steps)
    assert KEY not in str(caught.value) + caught.value.advice
    return caught.value


def finish_of(events: Sequence[StreamEvent]) -> Finish:
    assert isinstance(events[-1], Finish)
    return events[-1]


def items_of(events: Sequence[StreamEvent]) -> list[Any]:
    return [event.item for event in events if isinstance(event, OpaqueItem)]


def judged(events: Sequence[StreamEvent], mode: str = "native-eos") -> list[str]:
    """What the carrier lets run or refuses, in order."""
    reader = CARRIERS[mode].reader(PHONE_TOOLS, None)
    frames = [frame for event in events[:-1] for frame in reader.feed(event)]
    frames += reader.close(finish_of(events))
    said = []
    for frame in frames:
        if isinstance(frame, CallReady):
            said.append(f"{frame.call.name} {dict(frame.call.arguments)}")
        elif isinstance(frame, CallRefused):
            said.append(f"{frame.call.name} {frame.error}")
    return said


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_a_message_is_the_same_at_every_chunk_size(size: int) -> None:
    """Thinking, text, calls, usage, blocks and reason arrive whole however they are cut."""
    stream = message(
        [thinking("hm 思考", SIGNATURE), text("你好 \u2028😀"), tool("toolu_1", "tap", '{"x": 1}')],
        "tool_use",
    )
    assert read(*cut(stream, size)) == [
        Usage(123, 1, 100, 20),
        ReasoningDelta("hm 思"),
        ReasoningDelta("考"),
        TextDelta("你好 \u2028"),
        TextDelta("😀"),
        CallDelta("2", "toolu_1", "tap"),
        CallDelta("2", arguments='{"x":'),
        CallDelta("2", arguments=" 1}"),
        CallClosed("2"),
        Usage(123, 9, 100, 20),
        OpaqueItem({"type": "thinking", "thinking": "hm 思考", "signature": SIGNATURE}),
        OpaqueItem({"type": "text", "text": "你好 \u2028😀"}),
        OpaqueItem({"type": "tool_use", "id": "toolu_1", "name": "tap", "input": {"x": 1}}),
        Finish(FinishReason.TOOL_CALLS, "tool_use"),
    ]


@pytest.mark.parametrize("size", [1, 13, 1 << 20])
@pytest.mark.parametrize(
    ("name", "finish", "calls"),
    [("msg_plain.sse", "end_turn", []), ("msg_tools.sse", "tool_use", ["write_file"])],
)
def test_recorded_answers_of_a_real_server(
    name: str, finish: str, calls: list[str], size: int
) -> None:
    """llama-server: no ``input`` at a call's start, usage in parts, foreign message ids."""
    events = read(*cut(shared_data(f"streams/{name}").read_bytes(), size))
    assert finish_of(events).raw == finish
    assert [said.split()[0] for said in judged(events)] == calls
    usage = [event for event in events if isinstance(event, Usage)][-1]
    assert usage.input_tokens == 1 + (usage.cached_tokens or 0) > 30
    assert usage.output_tokens in (10, 97)
    assert len(items_of(events)) == 1


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
    ("word", "expected"),
    [
        ("end_turn", FinishReason.STOP),
        ("stop_sequence", FinishReason.STOP),
        ("tool_use", FinishReason.TOOL_CALLS),
        ("max_tokens", FinishReason.LENGTH),
        ("model_context_window_exceeded", FinishReason.LENGTH),
        ("refusal", FinishReason.CONTENT_FILTER),
        ("pause_turn", FinishReason.PAUSE),
        ("compaction", FinishReason.UNKNOWN),
    ],
)
def test_each_stop_reason(word: str, expected: FinishReason) -> None:
    """Every reason of the API has its meaning, one that is new has none."""
    events = read(message([text("Hi")], word))
    assert finish_of(events) == Finish(expected, word)
    kept = expected in (FinishReason.STOP, FinishReason.TOOL_CALLS, FinishReason.PAUSE)
    assert bool(items_of(events)) == kept


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


def test_a_refusal_says_why() -> None:
    """The server's category and explanation are part of the evidence."""
    details = {"type": "refusal", "category": "cyber", "explanation": "No malware."}
    events = read(message([text("I")], "refusal", stop_details=details))
    assert finish_of(events) == Finish(FinishReason.CONTENT_FILTER, "refusal: cyber: No malware.")


def test_two_reasons_are_none() -> None:
    """A message that ended for two reasons runs nothing."""
    steps = [*whole(0, tool("t", "tap", "{}")), reason("tool_use"), reason("end_turn"), STOP]
    events = read(start(), *steps)
    assert finish_of(events).reason is FinishReason.UNKNOWN
    assert judged(events) == ["tap unknown_end"]


def test_a_reply_that_used_all_its_tokens_was_cut() -> None:
    """Reasons can lie: at the cap even tool_use counts as the limit, at the default cap too."""
    for cap in (9, None):
        request = replace(NATIVE, max_output_tokens=cap)
        used = {"output_tokens": cap or 8192}
        call = whole(0, tool("t", "tap", "{}"))
        events = read(start(), *call, reason("tool_use", used), STOP, request=request)
        assert judged(events) == ["tap truncated"]


def test_usage_is_overwritten_and_never_added() -> None:
    """Later counts replace earlier ones, those that are missing stay."""
    later = {"output_tokens": 50, "output_tokens_details": {"thinking_tokens": 30}}
    last = {"output_tokens": 60, "input_tokens": 4, "cache_read_input_tokens": None}
    events = read(
        start(), *whole(0, text("Hi")), reason(None, later), reason("end_turn", last), STOP
    )
    assert [event for event in events if isinstance(event, Usage)] == [
        Usage(123, 1, 100, 20),
        Usage(123, 50, 100, 20, 30),
        Usage(124, 60, 100, 20, 30),
    ]


def test_names_of_events_do_not_matter() -> None:
    """Data-only streams are told apart by their type; unknown events and pings are ignored."""
    named_stream = message([text("Hi")], "end_turn")
    bare = b"".join(
        line + b"\n" for line in named_stream.split(b"\n") if not line.startswith(b"event:")
    )
    news = b'data: {"type": "brand_new", "index": 0}\n\n'
    assert read(news + bare) == read(named_stream)


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


@pytest.mark.parametrize(
    ("steps", "what"),
    [
        ([*whole(0, text("a")), end(0)], "had ended"),
        ([*whole(0, tool("a", "tap", "{}")), end(0)], "had ended"),
        ([*whole(0, text("a")), delta(0, text("a").deltas[0])], "had ended"),
        ([*whole(0, text("a")), *whole(0, text("b"))], "twice"),
        ([end(0)], "never began"),
        ([delta(4, text("a").deltas[0])], "never began"),
        ([begin(0, {"type": "text"}), delta(0, PIECE)], "input_json_delta"),
        ([begin(0, {"type": "tool_use"}), delta(0, text("a").deltas[0])], "text_delta"),
        ([begin(0, {"type": "text", "text": 1})], "not text"),
        ([begin(0, {"type": "tool_use", "id": "a", "name": "b", "input": "{}"})], "not an object"),
        ([begin(0, {})], "without a type"),
        ([named({"type": "content_block_start", "content_block": {"type": "text"}})], "an index"),
        ([named({"type": "content_block_delta", "index": 0})], "never began"),
        ([begin(0, {"type": "text"}), delta(0, {"type": "text_delta", "text": "\ud800"}), end(0)],
         "half a character"),
        ([begin(0, {"type": "text"}), delta(0, {"type": "text_delta", "text": "\udc00"})],
         "half a character"),
        ([b"data: {\n\n"], "not JSON"),
        ([b"data: : OPENROUTER PROCESSING\n\n"], "not JSON"),
        ([b"data: []\n\n"], "not an object"),
    ],
)  # fmt: skip
def test_what_is_no_message_ends_the_answer_in_words(steps: list[bytes], what: str) -> None:
    """A second end of a block, a foreign fragment, half a character: an error that says so."""
    error = failure(start(), *steps, reason("tool_use"), STOP)
    assert what in error.message and "127.0.0.1" in error.message
    assert "Anthropic Messages" in error.advice


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


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        ("overloaded_error", "try again later"),
        ("rate_limit_error", "wait a little"),
        ("authentication_error", "API key"),
        ("billing_error", "no credit"),
        ("api_error", "provider's status"),
    ],
)
def test_an_error_in_mid_stream_ends_the_answer(kind: str, advice: str) -> None:
    """The server's type and words are told, what to do depends on the type, the key is hidden."""
    said = {"type": "error", "error": {"type": kind, "message": f"Sorry, {KEY}"}}
    for stream in (named(said), b"data: " + json.dumps(said).encode() + b"\n\n"):
        error = failure(start(), *whole(0, tool("a", "tap", "{}")), stream, STOP)
        assert f"{kind}: Sorry, [key]" in error.message
        assert advice in error.advice


def test_errors_without_their_type_are_errors_too() -> None:
    """An error object of another API, or an event that is only named error."""
    for stream in (b'data: {"error": {"message": "no"}}\n\n', b'event: error\ndata: {"x": 1}\n\n'):
        assert "broke off with an error" in failure(start(), stream).message


def test_without_evidence_there_is_no_answer() -> None:
    """The end of the connection, [DONE] and a message_stop without a reason say nothing."""
    called = [start(), *whole(0, tool("a", "tap", "{}"))]
    for steps in (called, [*called, b"data: [DONE]\n\n"], [*called, STOP], [*called, reason(None)]):
        assert "without saying it was done" in failure(*steps).message
    assert "broke off" in failure(*called, reason("tool_use"), HangUp(reset=True)).message


def test_a_connection_that_breaks_after_message_stop_loses_nothing() -> None:
    """The message is whole by then."""
    events = read(message([tool("a", "tap", '{"x": 1}')], "tool_use"), HangUp())
    assert judged(events) == ["tap {'x': 1}"]


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


def test_characters_split_over_fragments_meet_again() -> None:
    """Half an emoji in one fragment and half in the next is one character everywhere."""
    halves = ["a\ud83d", "\ude00b"]
    blocks = [
        Block({"type": "thinking", "thinking": ""},
              [{"type": "thinking_delta", "thinking": half} for half in halves]),
        Block({"type": "text", "text": ""},
              [{"type": "text_delta", "text": half} for half in halves]),
        Block({"type": "tool_use", "id": "a", "name": "type_text", "input": {}},
              [{"type": "input_json_delta", "partial_json": piece}
               for piece in ['{"text": "\ud83d', '\ude00"}']]),
    ]  # fmt: skip
    events = read(message(blocks, "tool_use"))
    assert judged(events) == ["type_text {'text': '😀'}"]
    first, second, third = items_of(events)
    assert (first["thinking"], second["text"]) == ("a😀b", "a😀b")
    assert third["input"] == {"text": "😀"}


def test_every_block_is_kept_as_it_came() -> None:
    """Fields that only the provider understands, redacted and empty thinking: all unchanged."""
    redacted = Block({"type": "redacted_thinking", "data": "RAW=="})
    silent = Block(
        {"type": "thinking", "thinking": "", "signature": "", "new": [1]},
        [
            {"type": "signature_delta", "signature": "a"},
            {"type": "signature_delta", "signature": "b"},
        ],
    )
    call = tool("a", "tap", '{"x": 1.50, "y": [1, null]}')
    caller = Block({**call.start, "caller": {"type": "direct"}}, call.deltas)
    events = read(message([silent, redacted, text("Hi", 1), caller], "tool_use"))
    assert items_of(events) == [
        {"type": "thinking", "thinking": "", "signature": "b", "new": [1]},
        {"type": "redacted_thinking", "data": "RAW=="},
        {"type": "text", "text": "Hi"},
        {"type": "tool_use", "id": "a", "name": "tap", "input": {"x": 1.5, "y": [1, None]},
         "caller": {"type": "direct"}},
    ]  # fmt: skip


def test_a_block_with_unknown_fragments_is_not_passed_off_as_exact() -> None:
    """What cannot be put together again is not replayed as the provider's own."""
    odd = Block({"type": "text", "text": "Hi"}, [{"type": "new_delta", "more": 1}])
    events = read(message([odd], "end_turn"))
    assert TextDelta("Hi") in events
    assert items_of(events) == []


def test_hosted_search_is_shown_and_cited_but_never_a_call() -> None:
    """Start, end and failure are events of their own; sources belong to their block of text."""
    source = {"type": "web_search_result_location", "url": "https://a.example", "title": "A",
              "encrypted_index": "Eo8", "cited_text": "…"}  # fmt: skip
    found = [{"type": "web_search_result", "url": "https://a.example", "encrypted_content": "x"}]
    broken = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
    cited = [*text("It rains.").deltas, {"type": "citations_delta", "citation": source}]
    blocks = [
        text("I look. "),
        tool("srv_1", "web_search", '{"query": "rain"}', "server_tool_use"),
        Block({"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": found}),
        Block({"type": "text", "text": "", "citations": []}, cited),
        tool("srv_2", "web_search", "{}", "server_tool_use"),
        Block({"type": "web_search_tool_result", "tool_use_id": "srv_2", "content": broken}),
    ]
    events = read(message(blocks, "pause_turn"))
    assert judged(events) == []
    assert [event for event in events if isinstance(event, HostedTool | Citation)] == [
        HostedTool("srv_1", "web_search"),
        HostedTool("srv_1", "web_search", ended=True),
        Citation("https://a.example", "A", 8, 17),
        HostedTool("srv_2", "web_search"),
        HostedTool("srv_2", "web_search", ended=True, failed=True),
    ]
    items = items_of(events)
    assert items[1]["input"] == {"query": "rain"}
    assert items[2] == blocks[2].start
    assert items[3] == {"type": "text", "text": "It rains.", "citations": [source]}
    assert finish_of(events).reason is FinishReason.PAUSE


def test_summaries_are_shown_as_what_they_are() -> None:
    """Thinking that was asked for as a summary is marked as one."""
    stream = message([thinking("hm", "s")], "end_turn")
    asked = RequestOptions("claude-opus-4-8", thinking="low", reasons=True)
    older = RequestOptions("claude-sonnet-4-5", thinking="low", reasons=True)
    assert ReasoningDelta("hm", summary=True) in read(stream, options=asked)
    assert ReasoningDelta("hm") in read(stream, options=older)


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
