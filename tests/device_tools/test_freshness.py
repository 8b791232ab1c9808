"""Elements found again, or not, on a screen that has changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from device_tools.elements import Element
from device_tools.errors import InvalidCall, StaleScreen
from device_tools.freshness import (
    element_by_index,
    relocate,
    require_inside,
    require_same_screen,
)
from device_tools.hierarchy import Bounds
from device_tools.observation import observation_of_dump

SIZE = (1000, 2000)
ROW = (
    '<node class="android.widget.CheckBox" package="a.b" resource-id="a.b:id/box" text="{}" '
    'checkable="true" clickable="true" checked="{}" bounds="[0,{}][1000,{}]" />'
)


def screen(*rows: tuple[str, int], checked: str = "false") -> tuple[Element, ...]:
    body = "".join(ROW.format(text, checked, top, top + 100) for text, top in rows)
    return observation_of_dump(f'<hierarchy rotation="0">{body}</hierarchy>').elements


def test_an_element_is_found_at_its_place_whatever_its_state() -> None:
    """A box that was checked meanwhile is still the same box."""
    before, after = screen(("A", 0), ("B", 100)), screen(("A", 0), ("B", 100), checked="true")
    assert relocate(before[1], after, SIZE).flags == ("checked",)


def test_an_element_that_moved_a_little_is_followed() -> None:
    """A row pushed down by a banner is acted on where it is now."""
    assert relocate(screen(("A", 0))[0], screen(("A", 150)), SIZE).bounds.top == 150


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        ([("B", 0)], 'not there any more; at its place now: .1. checkbox "B"'),
        ([("A", 1500)], "not there any more; at its place now: nothing"),
        ([("A", 110), ("A", 210)], "several look like it"),
    ],
)
def test_gone_far_away_or_ambiguous_is_stale(now: list[tuple[str, int]], reason: str) -> None:
    """Nothing is acted on when the element cannot be told for sure, and the reason is named."""
    with pytest.raises(StaleScreen, match=reason):
        relocate(screen(("A", 0))[0], screen(*now), SIZE)


@pytest.mark.parametrize(("x", "y", "field"), [(1000, 5, "x"), (5, 2000, "y"), (-1, 5, "x")])
def test_a_point_outside_names_the_coordinate(x: int, y: int, field: str) -> None:
    """The refusal carries the field's name and the allowed range."""
    with pytest.raises(InvalidCall, match=f"{field} = ") as caught:
        require_inside(x, y, SIZE, "screen")
    assert caught.value.field == field
    require_inside(999, 1999, SIZE, "screen")


def test_another_window_activity_or_rotation_is_stale() -> None:
    """Each of the three differing alone is enough, and says what is there now."""
    seen = observation_of_dump(
        f'<hierarchy rotation="0">{ROW.format("A", "false", 0, 9)}</hierarchy>'
    )
    require_same_screen(seen, seen.focus, 0)
    with pytest.raises(StaleScreen, match="rotation 0 in o1, 1 now"):
        require_same_screen(seen, seen.focus, 1)
    for change in ({"package": "x.y"}, {"activity": ".Other"}, {"window": "Shade"}):
        with pytest.raises(StaleScreen, match="another screen is in front"):
            require_same_screen(seen, replace(seen.focus, **change), 0)


def test_a_number_beyond_the_list_is_refused() -> None:
    """The refusal tells how long the list is."""
    seen = observation_of_dump(
        f'<hierarchy rotation="0">{ROW.format("A", "false", 0, 9)}</hierarchy>'
    )
    assert element_by_index(seen, 1).bounds == Bounds(0, 0, 1000, 9)
    with pytest.raises(InvalidCall, match="elements 1 to 1"):
        element_by_index(seen, 2)
