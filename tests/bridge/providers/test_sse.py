from __future__ import annotations

import random

import pytest

from bridge.providers.sse import MAX_EVENT, MAX_LINE, ServerSentEvent, SseDecoder, SseError
from tests.shared_data import shared_data

SIZES = [1, 2, 3, 7, 1000]


def messages(*data: str) -> list[ServerSentEvent]:
    return [ServerSentEvent("message", text) for text in data]


CASES: dict[str, tuple[bytes, list[ServerSentEvent]]] = {
    "LF": (b"data: a\n\ndata: b\n\n", messages("a", "b")),
    "CRLF": (b"data: a\r\n\r\ndata: b\r\n\r\n", messages("a", "b")),
    "lone CR": (b"data: a\r\rdata: b\r\r", messages("a", "b")),
    "mixed ends": (b"data: a\r\n\ndata: b\n\rdata: c\r\r\n", messages("a", "b", "c")),
    "no space": (b"data:a\n\n", messages("a")),
    "one space only": (b"data:  a\n\n", messages(" a")),
    "several data lines": (b"data: a\ndata\ndata: b\n\n", messages("a\n\nb")),
    "named": (b"event: error\ndata: a\n\n", [ServerSentEvent("error", "a")]),
    "name lasts one event": (
        b"event: x\ndata: a\n\ndata: b\n\n",
        [ServerSentEvent("x", "a"), *messages("b")],
    ),
    "no data, no event": (b"event: x\n\ndata: a\n\n", messages("a")),
    "empty data": (b"data:\n\ndata: a\n\n", messages("a")),
    "retry only": (b"retry: 10\n\ndata: a\n\n", messages("a")),
    "id then comment": (b"id: 7\ndata: a\n\n: ping\n\ndata: b\n\n", messages("a", "b")),
    "id with NUL": (b"id: 7\0\ndata: a\n\n", messages("a")),
    "event only, then data": (b"event: x\n\nevent: y\ndata: a\n\n", [ServerSentEvent("y", "a")]),
    "CR that ends a chunk is half of CRLF": (
        b"data: a\r\n\r\n\r\ndata: b\r\n\r\n",
        messages("a", "b"),
    ),
    "blank lines only": (b"\n\n\r\r\n\ndata: a\n\n", messages("a")),
    "field without value": (b"data\n\ndata: a\n\n", messages("a")),
    "colon in the value": (b"data: a: b\n\n", messages("a: b")),
    "comment between the lines of an event": (b"data: a\n: x\ndata: b\n\n", messages("a\nb")),
    "bare comment": (b":\n\n:\n\ndata: a\n\n", messages("a")),
    "unknown field": (b"colour: red\ndata: a\n\n", messages("a")),
    "BOM": (b"\xef\xbb\xbfdata: a\n\n", messages("a")),
    "BOM later is text": (b"data: a\n\ndata: \xef\xbb\xbfb\n\n", messages("a", "\ufeffb")),
    "U+2028, U+0085, VT, FF": (
        'data: {"t":"a\u2028b\u0085c\x0bd\x0ce"}\n\n'.encode(),
        messages('{"t":"a\u2028b\u0085c\x0bd\x0ce"}'),
    ),
    "NUL": (b"data: a\0b\n\n", messages("a\0b")),
    "many bytes a character": ("data: 你好😀\n\n".encode(), messages("你好😀")),
    "comment is not UTF-8": (b": \xff\ndata: a\n\n", messages("a")),
    "cut at the end": (b"data: a\n\ndata: b\n", messages("a")),
    "nothing": (b"", []),
}


def decode(stream: bytes, size: int) -> list[ServerSentEvent]:
    decoder = SseDecoder()
    return [
        event
        for start in range(0, len(stream), size)
        for event in decoder.feed(stream[start : start + size])
    ]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CASES)
def test_every_rule_of_the_format_holds_at_every_chunk_size(name: str, size: int) -> None:
    """The events of a stream do not depend on how the network cut it."""
    stream, expected = CASES[name]
    assert decode(stream, size) == expected


def test_random_cuts_give_the_same_events() -> None:
    """Fifty seeded cuts of all cases in a row change nothing."""
    stream = b"".join(
        case for name, (case, _) in CASES.items() if "BOM" not in name and "cut" not in name
    )
    whole = decode(stream, len(stream))
    dice = random.Random(7)
    for _ in range(50):
        decoder, events, start = SseDecoder(), [], 0
        while start < len(stream):
            end = start + dice.choice([0, 1, 2, 5, 40])
            events += decoder.feed(stream[start:end])
            start = end
        assert events == whole


@pytest.mark.parametrize("size", SIZES)
def test_text_that_is_not_utf8_is_an_error(size: int) -> None:
    """No replacement character enters the text of a model."""
    with pytest.raises(SseError, match="UTF-8"):
        decode(b"data: a\xffb\n\n", size)


def test_events_before_a_fault_in_the_same_chunk_are_not_lost() -> None:
    """Where the chunk was cut makes no difference to what came before the broken line."""
    with pytest.raises(SseError) as caught:
        SseDecoder().feed(b"data: a\n\ndata: b\n\ndata: \xff\n\ndata: c\n\n")
    assert caught.value.events == messages("a", "b")


def test_a_line_may_reach_its_limit_and_not_more() -> None:
    """The line limit counts the bytes of the line without its end, also without any line end."""
    assert SseDecoder(max_line=8).feed(b"data: ab\n\n") == messages("ab")
    with pytest.raises(SseError, match="longer than 8"):
        SseDecoder(max_line=8).feed(b"data: abc")


def test_an_event_of_many_lines_has_a_limit() -> None:
    """Small lines cannot add up to an event without bound."""
    decoder = SseDecoder(max_event=100)
    with pytest.raises(SseError, match="larger than 100"):
        for _ in range(100):
            decoder.feed(b"data: 12345\n")


def test_an_answer_has_a_limited_number_of_events() -> None:
    """A server that never stops talking is an error, also when every event is small."""
    decoder = SseDecoder(max_events=2)
    assert len(decoder.feed(b"data: a\n\ndata: b\n\n")) == 2
    with pytest.raises(SseError, match="more than 2 events"):
        decoder.feed(b"data: c\n\n")


def test_the_limits_are_those_of_the_documentation() -> None:
    """A line of 8 MiB is read and one byte more is not, an event of 16 MiB likewise."""
    value = b"x" * (MAX_LINE - len(b"data: "))
    [event] = SseDecoder().feed(b"data: " + value + b"\n\n")
    assert len(event.data) == len(value)
    for size in (len(value) + 8, 1 << 20):
        stream = b"data: " + value + b"x\n\n"
        with pytest.raises(SseError, match="8388608"):
            decode(stream, size)
    two = b"data: " + value + b"\n"
    assert len(SseDecoder().feed(two + two + b"\n")) == 1
    with pytest.raises(SseError, match=str(MAX_EVENT)):
        SseDecoder().feed(two + two + b"data: x\n\n")


@pytest.mark.parametrize("size", [1000, 100_000])
def test_a_long_line_in_small_pieces_comes_out_whole(size: int) -> None:
    """Half a megabyte of one line is joined, however many pieces it came in."""
    decoder, piece, events = SseDecoder(), b"y" * size, []
    events += decoder.feed(b"data: ")
    for _ in range(500_000 // size):
        events += decoder.feed(piece)
    events += decoder.feed(b"\n\n")
    assert [len(each.data) for each in events] == [500_000]


def test_close_tells_of_an_unfinished_event() -> None:
    """An event cut off by the end of the stream is noticed, a complete stream is not."""
    for stream, unfinished in ((b"data: a", True), (b"data: a\n", True), (b"data: a\n\n", False)):
        decoder = SseDecoder()
        decoder.feed(stream)
        assert decoder.close() is unfinished


@pytest.mark.parametrize("name", ["chat_plain", "chat_tools", "msg_tools", "resp_tools"])
def test_recorded_streams_give_the_same_events_at_every_chunk_size(name: str) -> None:
    """A real server's stream has as many events as it has data lines."""
    stream = shared_data(f"streams/{name}.sse").read_bytes()
    whole = decode(stream, len(stream))
    assert len(whole) == stream.count(b"data: ")
    assert all(decode(stream, size) == whole for size in SIZES)
