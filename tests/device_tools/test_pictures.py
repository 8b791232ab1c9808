"""The size of a picture for a model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device_tools.pictures import PictureRule, decode


@pytest.mark.parametrize(
    ("rule", "size", "sent"),
    [
        (PictureRule(1280), (1080, 2400), (576, 1280)),
        (PictureRule(1280), (2400, 1080), (1280, 576)),
        (PictureRule(1280), (720, 1280), (720, 1280)),
        (PictureRule(1568, 1_150_000), (1080, 2400), (705, 1568)),
        (PictureRule(2000, 1_000_000), (1000, 1000), (1000, 1000)),
        (PictureRule(2000, 1_000_000), (1080, 2400), (670, 1490)),
    ],
)
def test_the_rule_bounds_side_and_area(
    rule: PictureRule, size: tuple[int, int], sent: tuple[int, int]
) -> None:
    """The tighter bound decides; a picture within both keeps its size."""
    assert rule.fit(size) == sent


@given(
    st.tuples(st.integers(1, 20_000), st.integers(1, 20_000)),
    st.integers(64, 4000),
    st.none() | st.integers(10_000, 4_000_000),
)
def test_no_size_exceeds_the_rule(size: tuple[int, int], longest: int, pixels: int | None) -> None:
    """Never larger than the picture or the rule, never nothing."""
    width, height = PictureRule(longest, pixels).fit(size)
    assert 1 <= width <= size[0] and 1 <= height <= size[1]
    assert max(width, height) <= longest
    # a line of one pixel cannot become thinner
    assert pixels is None or width * height <= max(pixels, longest)


def test_other_bytes_are_no_picture() -> None:
    """Nothing, text and a cut JPEG are None and raise nothing."""
    for raw in (b"", b"hello", b"\xff\xd8\xff\xe0\0\x10JFIF"):
        assert decode(raw) is None
