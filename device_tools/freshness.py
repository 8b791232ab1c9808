"""Is the screen still the one that a call was made for? Decided before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence

from device_tools.elements import Element, describe
from device_tools.errors import InvalidCall, StaleScreen
from device_tools.focus import Focus
from device_tools.observation import Observation

_NEAR = 0.12
"""How far, in parts of the screen's longer side, an element may have moved."""


def require_same_screen(observation: Observation, focus: Focus, rotation: int) -> None:
    """Raises StaleScreen unless window, activity and rotation are those of the observation."""
    if rotation != observation.rotation:
        raise StaleScreen(
            f"the screen turned: rotation {observation.rotation} in {observation.id}, "
            f"{rotation} now",
            advice="observe the screen again",
        )
    seen = (observation.focus.package, observation.focus.activity, observation.focus.window)
    if seen != (focus.package, focus.activity, focus.window):
        raise StaleScreen(
            f"another screen is in front: {observation.focus} in {observation.id}, {focus} now",
            advice="observe the screen again",
        )


def require_inside(x: int, y: int, size: tuple[int, int], space: str, names: str = "xy") -> None:
    """Raises InvalidCall naming the coordinate that lies outside ``size``."""
    suffix = names[2:]
    for name, value, end in ((names[0], x, size[0]), (names[1], y, size[1])):
        if not 0 <= value < end:
            field = name + suffix
            raise InvalidCall(
                f"{field} = {value} is outside the {space}, which is {size[0]}x{size[1]}",
                field=field,
                advice=f"{field} must be 0 to {end - 1}",
            )


def element_by_index(observation: Observation, index: int) -> Element:
    """The element the model means; raises InvalidCall when the list is shorter."""
    count = len(observation.elements)
    if index > count:
        raise InvalidCall(
            f"index = {index}: {observation.id} has elements 1 to {count}",
            field="index",
            advice="observe the screen again",
        )
    return observation.elements[index - 1]


def relocate(element: Element, now: Sequence[Element], size: tuple[int, int]) -> Element:
    """The same element on the screen as it is now.

    Same app, resource id, class and name; at the same place, or the only one nearby.

    Raises:
        StaleScreen: gone, moved far away, or several could be it.
    """
    same = [other for other in now if _identity(other) == _identity(element)]
    there = [other for other in same if other.bounds == element.bounds]
    if len(there) == 1:
        return there[0]
    near = [other for other in same if _distance(other, element) <= _NEAR * max(size)]
    if len(near) == 1:
        return near[0]
    what = "several look like it" if len(near) > 1 else "it is not there any more"
    raise StaleScreen(
        f"[{element.index}] {element.role} {element.label!r}: {what}; "
        f"at its place now: {_at(element, now)}",
        advice="observe the screen again",
    )


def _identity(element: Element) -> tuple[str, str, str, str]:
    return (element.package, element.resource_id, element.class_name, element.name)


def _distance(one: Element, other: Element) -> float:
    (x1, y1), (x2, y2) = one.bounds.center, other.bounds.center
    return float(max(abs(x1 - x2), abs(y1 - y2)))


def _at(element: Element, now: Sequence[Element]) -> str:
    covering = [other for other in now if other.bounds.contains(*element.tap)]
    # the innermost is what a tap would have hit
    return describe(min(covering, key=lambda e: e.bounds.area)) if covering else "nothing"
