"""The CTL parser as a state machine, and the bounds of what it holds while a reply streams in."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from bridge.cst.ctl import CtlParser
from bridge.cst.ctl_events import ArgumentPiece, CallEnd, CallStart, Event, Fault, Limits, Stop
from tests.bridge.cst.corpus import PARTS
from tests.bridge.cst.reference import TOOLS, read

HELD = 1000
"""Bytes of a pickled parser that holds no line and no ids: its few fields and two short tables."""


def held(parser: CtlParser) -> int:
    """The size of everything that a parser keeps, but for the names of the tools."""
    return len(pickle.dumps(parser))


class Parsed(RuleBasedStateMachine):
    """``data`` is what was fed; events are judged against the reading of all of it."""

    @initialize(length_prefix=st.booleans())
    def begin(self, length_prefix: bool) -> None:
        self.length_prefix = length_prefix
        self.parser = CtlParser(TOOLS, length_prefix=length_prefix)
        self.data = b""
        self.events: list[Event] = []
        self.closed = False

    @rule(piece=st.sampled_from(PARTS) | st.binary(max_size=3))
    def feed(self, piece: bytes) -> None:
        ended = self.closed or any(isinstance(event, Fault | Stop) for event in self.events)
        events = self.parser.feed(piece)
        assert not (ended and events)
        self.data += b"" if self.closed else piece
        self.events += events

    @precondition(lambda self: not self.closed)
    @rule(clean=st.booleans())
    def close(self, clean: bool) -> None:
        events = self.parser.close(clean=clean)
        self.events += events
        self.closed = True
        if clean and self.data.endswith(b"\nend"):
            self.data += b"\n"
        assert self.parser.feed(b"call c0 tap\nend\n") == self.parser.close(clean=True) == []

    @invariant()
    def the_calls_are_those_of_the_reference(self) -> None:
        wanted = read(self.data, length_prefix=self.length_prefix)
        calls, values = list[Any](), dict[str, bytes]()
        for event in self.events:
            match event:
                case CallStart():
                    values = {}
                case ArgumentPiece(_, key, piece):
                    values[key] = values.get(key, b"") + piece
                case CallEnd(id_, name, start, stop):
                    calls.append((id_, name, values, self.data[start:stop]))
        assert [call[:3] for call in calls] == [call[:3] for call in wanted.calls]
        for (*_, source), (*_, whole) in zip(calls, wanted.calls, strict=True):
            assert source == whole


TestParsed = Parsed.TestCase
TestParsed.settings = settings(max_examples=80, stateful_step_count=25, deadline=None)


def streams(size: int) -> Iterator[tuple[str, bytes, bytes, bool]]:
    """Name, head, one repeated piece of a body of ``size`` bytes, and the mode."""
    heredoc = b"call c1 type_text\narg text <<EOF\n"
    yield "one line", heredoc, b"y" * 64, False
    yield "lines", heredoc, b"a line of forty bytes, LF counted as one\n", False
    yield "near the TAG", heredoc, b"EO\nEOFF\nEOF \n\n", False
    yield "counted", b"call c1 type_text\narg text %d\n" % size, b"z\n" * 32, True
    yield "counted in one line", b"call c1 type_text\narg text %d\n" % size, b"z" * 64, True
    yield "prose", b"", b"I will call c1 when done. ", False
    yield "prose in lines", b"", b"cal\ncall\n```x y\n", False


def largest_held(head: bytes, piece: bytes, length_prefix: bool, size: int, chunk: int) -> int:
    """The most that the parser held after any chunk of a body of ``size`` bytes."""
    limits = Limits(argument=max(size, 1) + 64)
    parser = CtlParser(TOOLS, length_prefix=length_prefix, limits=limits)
    parser.feed(head)
    part = (piece * (chunk // len(piece) + 1))[:chunk]
    most = 0
    for at in range(0, size, chunk):
        parser.feed(part[: size - at])
        most = max(most, held(parser))
    return most


NAMES = [name for name, *_ in streams(9999999)]


@pytest.mark.parametrize("number", range(len(NAMES)), ids=NAMES)
def test_what_is_held_does_not_grow_with_the_body(number: int) -> None:
    """Bodies of 1 byte to 8 MiB, in large and small chunks: the same few fields."""
    for size, chunk in ((1, 1), (100, 7), (10_000, 20), (8 * 1024 * 1024, 65_536)):
        _, head, piece, length_prefix = list(streams(size))[number]
        assert largest_held(head, piece, length_prefix, size, chunk) < HELD


def test_fences_and_blank_lines_before_a_frame_are_held_up_to_the_bound_of_a_line() -> None:
    """They may belong to a frame; a flood of them is text."""
    parser = CtlParser(TOOLS, length_prefix=False)
    most = max(held(parser) for _ in range(5000) if parser.feed(b"```\n\n") is not None)
    assert 8192 < most < HELD + 8192


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_is_held_up_to_its_bound_and_not_a_byte_longer(end: bytes) -> None:
    """An endless arg line is refused at byte 8193, whatever the chunks."""
    for chunk in (1, 1000, 20_000):
        parser = CtlParser(TOOLS, length_prefix=False)
        line = b"arg text " + b"x" * (8192 - len(b"arg text "))
        events: list[Event] = parser.feed(b"call c1 type_text\n")
        for at in range(0, len(line), chunk):
            events += parser.feed(line[at : at + chunk])
        assert held(parser) < HELD + 8192
        assert not any(isinstance(event, Fault) for event in events)
        (fault,) = [e for e in parser.feed(b"x" + end) if isinstance(e, Fault)]
        assert (fault.kind.value, fault.arrived, fault.position) == ("line_too_long", 8193, 18)
