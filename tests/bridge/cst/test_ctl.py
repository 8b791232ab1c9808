"""The CTL parser on every prefix and chunking of a corpus, against a simple reading."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.conversation.frames import ContractErrorKind
from bridge.cst.ctl import CtlParser
from bridge.cst.ctl_events import (
    ArgumentPiece,
    CallEnd,
    CallStart,
    Event,
    Fault,
    Limits,
    Stop,
    Text,
)
from tests.bridge.cst.corpus import BOUNDS, HANDWRITTEN, HEAD, PARTS, Stream, doc, generated
from tests.bridge.cst.feeding import glued
from tests.bridge.cst.reference import TOOLS, read

CORPUS = [*HANDWRITTEN, *generated(50, seed=1)]
by_name = pytest.mark.parametrize("stream", CORPUS, ids=lambda stream: stream.name)
handwritten = pytest.mark.parametrize("stream", HANDWRITTEN, ids=lambda stream: stream.name)

Call = tuple[str, str, dict[str, bytes], bytes]


def parser(length_prefix: bool = False, limits: Limits | None = None) -> CtlParser:
    return CtlParser(TOOLS, length_prefix=length_prefix, limits=limits)


def feed(stream: Stream, sizes: Iterable[int], clean: bool | None = True) -> list[Event]:
    """All events when ``stream`` comes in pieces of ``sizes``; ``clean`` None: not closed."""
    one = parser(stream.length_prefix)
    events: list[Event] = []
    at = 0
    for size in sizes:
        if at >= len(stream.data):
            break
        events += one.feed(stream.data[at : at + size])
        at += size
    events += one.feed(stream.data[at:])
    return glued(events + ([] if clean is None else one.close(clean=clean)))


def prefix(stream: Stream, size: int) -> Stream:
    return Stream(stream.name, stream.data[:size], length_prefix=stream.length_prefix)


def calls(events: Iterable[Event], data: bytes) -> list[Call]:
    """The executable calls with the values that their confirmed pieces add up to."""
    found: list[Call] = []
    values: dict[str, bytes] = {}
    for event in events:
        match event:
            case CallStart():
                values = {}
            case ArgumentPiece(_, key, piece):
                values[key] = values.get(key, b"") + piece
            case CallEnd(id_, name, start, stop):
                found.append((id_, name, values, data[start:stop]))
    return found


def end(events: list[Event]) -> str:
    """How the stream stands: an error kind, "stop", "open" inside a frame, or ""."""
    match events[-1] if events else None:
        case Fault(kind):
            return kind.value
        case Stop():
            return "stop"
        case CallStart() | ArgumentPiece():
            return "open"
        case _:
            return ""


def three_feeds(stream: Stream, clean: bool | None) -> list[Event]:
    """Whole, byte by byte, and 50 random chunkings give the same events; returns them."""
    whole = feed(stream, [], clean)
    assert feed(stream, [1] * len(stream.data), clean) == whole
    pick = random.Random(stream.name)
    for _ in range(50):
        largest = pick.choice((2, 5, 20, 100))
        sizes = [pick.randint(0, largest) for _ in range(len(stream.data))]
        assert feed(stream, sizes, clean) == whole
    return whole


@pytest.mark.parametrize("stream", [*HANDWRITTEN, *BOUNDS], ids=lambda stream: stream.name)
def test_the_corpus_means_what_it_says(stream: Stream) -> None:
    """Hand-written expectation, parser and reference agree on calls and on the end."""
    events = feed(stream, [], clean=None)
    wanted = read(stream.data, length_prefix=stream.length_prefix)
    assert (len(wanted.calls), wanted.end) == (stream.calls, stream.end)
    assert (len(calls(events, stream.data)), end(events)) == (stream.calls, stream.end)
    assert feed(stream, [1] * len(stream.data), clean=None) == events


@by_name
def test_chunking_changes_nothing(stream: Stream) -> None:
    """Whole = byte by byte = random chunkings, event for event once pieces are joined."""
    three_feeds(stream, True)
    for clean in (None, False):
        assert feed(stream, [1] * len(stream.data), clean) == feed(stream, [], clean)


@by_name
def test_every_prefix_is_confirmation_faithful(stream: Stream) -> None:
    """S1, S2, S3: at each prefix exactly the calls whose frames are whole in it, never fewer
    later, each byte for byte that of the full stream; events only ever grow."""
    full = read(stream.data, length_prefix=stream.length_prefix).calls
    one, grown, before = parser(stream.length_prefix), [], 0
    for size in range(len(stream.data) + 1):
        part = prefix(stream, size)
        now = calls(feed(part, [], clean=None), part.data)
        assert now == read(part.data, length_prefix=stream.length_prefix).calls
        assert now == full[: len(now)]
        assert all(source.endswith(b"end\n") for *_, source in now)
        assert len(now) >= before
        before = len(now)
        grown += one.feed(stream.data[size - 1 : size] if size else b"")
        assert glued(grown) == feed(part, [], clean=None)
    assert before == len(full)


@by_name
def test_text_is_everything_before_the_first_frame(stream: Stream) -> None:
    """Confirmed text equals the reference's, only a fence just before a frame is dropped."""
    one = parser(stream.length_prefix)
    events = glued(one.feed(stream.data + b"\n"))
    wanted = read(stream.data + b"\n", length_prefix=stream.length_prefix)
    texts = [event.data for event in events if isinstance(event, Text)]
    assert b"".join(texts) == wanted.text


@handwritten
def test_no_damaged_framing_byte_is_skipped(stream: Stream) -> None:
    """Any byte flipped, deleted or inserted: parser and reference accept the same calls."""
    pick = random.Random(stream.name)
    places = range(len(stream.data))
    for at in places if len(places) < 60 else pick.sample(places, 60):
        byte = stream.data[at : at + 1]
        swap = pick.choice(b" \n\r\t\0aE09<`'\"(") if pick.random() < 0.7 else byte[0] ^ 32
        other = bytes([swap])
        for put in (other, b"", byte + other):
            damaged = stream.data[:at] + put + stream.data[at + 1 :] + b"\n"
            wanted = read(damaged, length_prefix=stream.length_prefix)
            odd = Stream("damaged", damaged, length_prefix=stream.length_prefix)
            events = feed(odd, [], clean=None)
            assert calls(events, damaged) == wanted.calls, damaged
            assert end(events) == wanted.end, damaged


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from(PARTS) | st.binary(max_size=3), max_size=30).map(b"".join),
    st.booleans(),
    st.lists(st.integers(1, 9), max_size=60),
)
def test_any_bytes_parse_like_the_reference(
    data: bytes, length_prefix: bool, sizes: list[int]
) -> None:
    """Arbitrary glue of grammar and noise: same calls and end, whatever the chunks."""
    data += b"\n"  # the reference judges whole lines only
    stream = Stream("any", data, length_prefix=length_prefix)
    events = feed(stream, [], clean=None)
    wanted = read(data, length_prefix=length_prefix)
    assert calls(events, data) == wanted.calls
    assert end(events) == wanted.end
    assert feed(stream, sizes, clean=True) == feed(stream, [], clean=True)


def test_a_value_confirms_as_it_arrives() -> None:
    """Body bytes come out with the chunk that brought them; only a possible TAG waits."""
    one = parser()
    one.feed(b"call c1 type_text\narg text <<EOF\n")
    assert one.feed(b"a long line") == [ArgumentPiece("c1", "text", b"a long line")]
    assert one.feed(b"\nEO") == [ArgumentPiece("c1", "text", b"\n")]
    assert one.feed(b"F") == []
    assert one.feed(b"x") == [ArgumentPiece("c1", "text", b"EOFx")]


def test_text_confirms_as_it_arrives() -> None:
    """Only what may still become a call line or a fence waits."""
    one = parser()
    assert one.feed(b"I will ca") == [Text(b"I will ca")]
    assert one.feed(b"ll it\nca") == [Text(b"ll it\n")]
    assert one.feed(b"ll c1") == []
    assert one.feed(b"!") == [Text(b"call c1!")]


def test_one_piece_per_argument_and_chunk() -> None:
    """A body of many lines in one chunk is one event, not one event a line."""
    events = parser().feed(doc(b"line\n" * 1000))
    assert len([event for event in events if isinstance(event, ArgumentPiece)]) == 1
    assert len(parser().feed(b"line\n" * 1000)) == 1


def only_fault(events: list[Event]) -> Fault:
    assert isinstance(events[-1], Fault)
    return events[-1]


@pytest.mark.parametrize(("over", "kind"), [(0, None), (1, ContractErrorKind.LINE_TOO_LONG)])
def test_the_line_bound_holds_to_the_byte(over: int, kind: ContractErrorKind | None) -> None:
    """8192 bytes without the LF are a line, one more is not, with or without its LF."""
    line = b"arg app " + b"x" * (8192 - len(b"arg app ") + over)
    stream = Stream("long line", b"call c1 open_app\n" + line + b"\nend\n")
    events = three_feeds(stream, None)
    if kind is None:
        assert isinstance(events[-1], CallEnd)
    else:
        assert (only_fault(events).kind, only_fault(events).arrived) == (kind, 8193)
        unfinished = Stream("long line", b"call c1 open_app\n" + line)
        assert feed(unfinished, [], None) == events


def test_a_call_line_over_the_bound_is_line_too_long() -> None:
    """The bound holds for a call line whose rest never ends."""
    assert only_fault(parser().feed(b"call c1 tap " + b"x" * 9000)).kind == "line_too_long"


@pytest.mark.parametrize("over", [0, 1])
def test_the_argument_bound_holds_to_the_byte(over: int) -> None:
    """1 MiB by heredoc is a value, one byte more is a limit error where it arrived."""
    body = b"x" * (1024 * 1024 - 1 + over) + b"\n"
    one = parser()
    events = one.feed(doc(body))
    if over:
        head = len(b"call c1 type_text\narg text <<EOF\n")
        assert (only_fault(events).kind, only_fault(events).position) == ("limit", head + 1048576)
        assert sum(len(e.data) for e in events if isinstance(e, ArgumentPiece)) == 1024 * 1024
    else:
        assert isinstance(events[-1], CallEnd)


@pytest.mark.parametrize("data", [doc(b"x" * 10 + b"\n"), b"call c1 t\narg k abcdefghijk\nend\n"])
@pytest.mark.parametrize("bound", [10, 11])
def test_a_smaller_argument_bound_gives_the_same_events_in_any_chunks(
    data: bytes, bound: int
) -> None:
    """The bound counts bytes of the value, not of chunks."""
    whole = glued(parser(limits=Limits(argument=bound)).feed(data))
    one = parser(limits=Limits(argument=bound))
    assert glued([e for at in range(len(data)) for e in one.feed(data[at : at + 1])]) == whole
    assert end(whole) == ("limit" if bound == 10 else "")


@pytest.mark.parametrize("size", [1, 1000, 8 * 1024 * 1024])
def test_pending_memory_does_not_grow_with_the_body(size: int) -> None:
    """Whatever the size of the body, all that the parser holds is a few hundred bytes."""
    one = parser(limits=Limits(argument=size + 1))
    head = b"call c1 type_text\narg text <<EOF\n"
    for at in range(0, size, 65536):
        one.feed((head if not at else b"") + b"y" * min(65536, size - at))
    assert len(pickle.dumps(one)) < 1500


@pytest.mark.parametrize(
    ("data", "kind", "declared", "arrived"),
    [
        (b"call c1 tap 1 2\n", "bad_call", None, 15),
        (b"call c1 tap\narg x\n", "bad_arg", None, 5),
        (b"call c1 tap\nx 1\n", "unexpected_line", None, 3),
        (b"call c1 tap\narg x 9\nabc", "body_eof", 9, 3),
        (b"call c1 tap\narg x <<EOF\nabc\nEO", "heredoc_eof", None, 6),
        (b"call c1 tap\narg x " + b"y" * 8192, "line_too_long", None, 8193),
        (b"call c1 tap\narg x 1048577\n", "limit", 1048577, 0),
        (b"call c1 tap\narg x 1", "unexpected_line", None, 7),
        (b"call c1 tap", "unexpected_line", None, 11),
    ],
)
def test_all_seven_kinds_are_reached_with_their_counts(
    data: bytes, kind: str, declared: int | None, arrived: int
) -> None:
    """Each kind says what was declared and what arrived."""
    fault = only_fault(three_feeds(Stream("fault", data, length_prefix=True), True))
    assert (fault.kind, fault.declared, fault.arrived) == (kind, declared, arrived)
    assert fault.call_id == "c1"


@pytest.mark.parametrize(
    ("data", "clean", "ended"),
    [
        (HEAD[:-1], True, ""),
        (HEAD[:-1], False, "unexpected_line"),
        (HEAD[:-2], True, "unexpected_line"),
        (doc(b"x\n")[:-5], True, "unexpected_line"),
        (doc(b"x\n")[:-6], True, "heredoc_eof"),
        (b"call c1 tap\n", True, "unexpected_line"),
        (HEAD + b"call c2 ta", True, "unexpected_line"),
        (HEAD + b"cal", True, ""),
        (HEAD + b"``", True, ""),
    ],
)
def test_the_end_of_the_stream(data: bytes, clean: bool, ended: str) -> None:
    """A bare end counts only after a clean stop; a bare TAG ends its value, not the call."""
    assert end(three_feeds(Stream("cut", data), clean)) == ended


def test_nothing_comes_out_after_a_fault_or_a_stop() -> None:
    """No resynchronisation: a whole frame behind it is not executed."""
    for data in (b"call c1 tap\nx\n", HEAD + b"Done.\n"):
        one = parser()
        one.feed(data)
        assert one.feed(b"call c9 current_app\nend\n") == []
        assert one.close(clean=True) == []
