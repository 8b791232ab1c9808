"""Marks in a stream, whatever the cuts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from alpine.marks import MarkScanner

MARK = b"\nabab-mark "


@given(
    st.binary(max_size=60).filter(lambda data: MARK not in data + MARK[:-1]),
    st.lists(st.integers(1, 7), max_size=60),
)
def test_the_output_in_front_of_a_mark_is_whole_for_every_cutting(
    output: bytes, sizes: list[int]
) -> None:
    """Nothing of the output is lost, nothing of the mark is shown, and the line is read."""
    scanner, stream = MarkScanner(MARK), output + MARK + b"5 0\n"
    out, at = b"", 0
    for size in [*sizes, len(stream)]:
        out += scanner.feed(stream[at : at + size])
        at += size
    assert (out, scanner.line, scanner.rest()) == (output, "5 0", b"")


@given(st.lists(st.sampled_from([b"\n", b"abab", b"-mark", b"\nabab-mar", b"x"]), max_size=12))
def test_output_that_only_begins_like_the_mark_is_output(pieces: list[bytes]) -> None:
    """Without a mark every byte comes out in the end."""
    scanner = MarkScanner(MARK)
    out = b"".join(scanner.feed(piece) for piece in pieces)
    assert out + scanner.rest() == b"".join(pieces)
    assert scanner.line is None
