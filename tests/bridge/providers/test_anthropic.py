"""The Anthropic wire read over a real socket, with bytes of our own making and recordings."""

from __future__ import annotations

import json

import pytest

from bridge.conversation.stream import (
    CallClosed,
    CallDelta,
    Finish,
    FinishReason,
    OpaqueItem,
    ReasoningDelta,
    TextDelta,
    Usage,
)
from tests.bridge.providers.anthropic_reading import (
    KEY,
    PIECE,
    SIGNATURE,
    failure,
    finish_of,
    items_of,
    judged,
    read,
)
from tests.doubles.anthropic_stream import (
    STOP,
    begin,
    delta,
    end,
    message,
    named,
    reason,
    start,
    text,
    thinking,
    tool,
    whole,
)
from tests.doubles.provider_server import HangUp, cut
from tests.shared_data import shared_data


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
