"""Spools: decoded text with offsets that never move."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from alpine.output import Spool


def fed(data: bytes, sizes: list[int], **limits: int) -> Spool:
    spool = Spool(**limits)
    at = 0
    while at < len(data):
        size = sizes[at % len(sizes)] if sizes else len(data)
        spool.feed(data[at : at + size])
        at += size
    spool.feed(b"", last=True)
    return spool


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400), st.lists(st.integers(1, 7), max_size=5))
def test_cutting_changes_nothing_and_no_byte_is_lost(data: bytes, sizes: list[int]) -> None:
    """Whatever the pieces: the text is that of the whole, and it tells every byte."""
    text = fed(data, sizes).read(0, 10**6).text
    assert text == data.decode("utf-8", "backslashreplace").replace("\0", "\\x00")


@settings(max_examples=200, deadline=None)
@given(
    st.text("abcdef\n", max_size=300),
    st.lists(st.integers(1, 40), max_size=5),
    st.integers(0, 320),
    st.integers(1, 60),
)
def test_an_offset_means_the_same_character_for_ever(
    text: str, sizes: list[int], offset: int, count: int
) -> None:
    """What is kept stands where it stood; what was dropped is skipped and shows in start."""
    excerpt = fed(text.encode(), sizes, head=50, tail=80).read(offset, count)
    assert excerpt.total == len(text)
    assert excerpt.text == text[excerpt.start : excerpt.end]
    assert excerpt.start >= min(offset, len(text))
    if len(text) <= 130 or offset < 50 or offset >= len(text) - 80:
        assert excerpt.start == min(offset, len(text))
        assert excerpt.end >= min(offset + min(count, 1), len(text))


def test_reading_on_goes_over_the_gap_once() -> None:
    """Page after page, each character that is kept comes exactly once."""
    text = "".join(f"{n:05}\n" for n in range(4000))
    spool = fed(text.encode(), [97], head=1000, tail=5000)
    seen, offset = [], 0
    while (part := spool.read(offset, 333)).text:
        seen.append(part)
        offset = part.end
    assert all(part.text == text[part.start : part.end] for part in seen)
    assert seen[-1].end == len(text)
    kept = sum(len(part.text) for part in seen)
    assert 6000 <= kept <= 1000 + 5000 + 4096


def test_memory_does_not_grow_with_the_output() -> None:
    """50 million characters in single-byte lines hold less than a few megabytes."""
    import tracemalloc

    spool = Spool()
    tracemalloc.start()
    for _ in range(800):
        spool.feed(b"y\n" * 32768)
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert spool.total == 800 * 65536
    assert used < 4_000_000


def test_a_summary_has_both_ends() -> None:
    """60 % from the beginning, 40 % from the end, and how much is missing."""
    spool = fed(b"a" * 500 + b"b" * 500, [], head=100, tail=100)
    assert spool.summary(10) == "aaaaaa\n[... 990 of 1000 characters left out ...]\nbbbb"
    assert fed(b"short", []).summary(10) == "short"
