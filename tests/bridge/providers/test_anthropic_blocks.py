"""The blocks of an Anthropic message: what is kept of them, and what they show."""

from __future__ import annotations

from bridge.conversation.stream import (
    Citation,
    FinishReason,
    HostedTool,
    ReasoningDelta,
    TextDelta,
)
from bridge.providers.wire import RequestOptions
from tests.bridge.providers.anthropic_reading import (
    finish_of,
    items_of,
    judged,
    read,
)
from tests.doubles.anthropic_stream import (
    Block,
    message,
    text,
    thinking,
    tool,
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
