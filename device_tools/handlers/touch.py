"""Touches, gestures and keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from device_tools import gestures
from device_tools.elements import Element
from device_tools.errors import InvalidCall
from device_tools.hierarchy import Bounds
from device_tools.observation import Tree
from device_tools.result import ToolResult, done
from device_tools.session import ScreenSession

Arguments = Mapping[str, Any]
_LONG_MS = 800


def tap(session: ScreenSession, arguments: Arguments) -> ToolResult:
    x, y = session.points(arguments, "xy")[0]
    gestures.tap(session.ui, x, y)
    return done(f"tapped ({arguments['x']}, {arguments['y']})", x=x, y=y)


def tap_area(session: ScreenSession, arguments: Arguments) -> ToolResult:
    """The middle of a rectangle."""
    area = _area(session, arguments)
    x, y = area.center
    gestures.tap(session.ui, x, y)
    return done(f"tapped the middle of the area: ({x}, {y}) in device pixels", x=x, y=y)


def tap_element(session: ScreenSession, arguments: Arguments) -> ToolResult:
    element, _ = session.found(arguments["index"])
    x, y = element.tap
    gestures.tap(session.ui, x, y)
    return done(f"tapped {named(element, arguments['index'])}", x=x, y=y)


def long_press(session: ScreenSession, arguments: Arguments) -> ToolResult:
    duration = arguments.get("duration_ms", _LONG_MS)
    x, y = session.points(arguments, "xy")[0]
    gestures.long_press(session.ui, x, y, duration)
    text = f"pressed ({arguments['x']}, {arguments['y']}) for {duration} ms"
    return done(text, x=x, y=y)


def long_press_element(session: ScreenSession, arguments: Arguments) -> ToolResult:
    duration = arguments.get("duration_ms", _LONG_MS)
    element, _ = session.found(arguments["index"])
    x, y = element.tap
    gestures.long_press(session.ui, x, y, duration)
    return done(f"pressed {named(element, arguments['index'])} for {duration} ms", x=x, y=y)


def swipe(session: ScreenSession, arguments: Arguments) -> ToolResult:
    start, end = session.points(arguments, "xy1", "xy2")
    gestures.swipe(session.ui, start, end, arguments.get("duration_ms", 300))
    return done(f"swiped from {start} to {end}", start=list(start), end=list(end))


def drag(session: ScreenSession, arguments: Arguments) -> ToolResult:
    start, end = session.points(arguments, "xy1", "xy2")
    gestures.drag(session.ui, start, end, arguments.get("duration_ms", 800))
    return done(f"dragged from {start} to {end}", start=list(start), end=list(end))


def pinch(session: ScreenSession, arguments: Arguments) -> ToolResult:
    """Two fingers in a rectangle, apart or together."""
    spread = arguments["direction"] == "out"
    area = _area(session, arguments)
    gestures.pinch(session.ui, area, spread=spread, duration_ms=arguments.get("duration_ms", 500))
    return done(f"pinched {arguments['direction']}")


def scroll(session: ScreenSession, arguments: Arguments) -> ToolResult:
    """The largest scrolling view, else the middle of the screen."""
    before = session.look()
    return _scrolled(session, before, _scroll_area(before), arguments["direction"])


def scroll_element(session: ScreenSession, arguments: Arguments) -> ToolResult:
    element, before = session.found(arguments["index"])
    return _scrolled(session, before, element.bounds, arguments["direction"])


def press_key(session: ScreenSession, arguments: Arguments) -> ToolResult:
    gestures.press_key(session.ui, arguments["key"])
    return done(f"pressed {arguments['key']}")


def named(element: Element, index: int) -> str:
    """An element as an answer names it: the number the model gave, role and label."""
    words = (f"[{index}]", element.role, f'"{element.label}"')
    return " ".join(word for word in words if word)


def _scrolled(session: ScreenSession, before: Tree, area: Bounds, direction: str) -> ToolResult:
    gestures.scroll(session.ui, area, direction)
    if session.observer.tree().xml == before.xml:
        return done(f"scrolled {direction}, but nothing moved: the end is reached", moved=False)
    return done(f"scrolled {direction}", moved=True)


def _area(session: ScreenSession, arguments: Arguments) -> Bounds:
    """The rectangle from x1, y1 to x2, y2 in device pixels."""
    for low, high in (("x1", "x2"), ("y1", "y2")):
        if arguments[low] >= arguments[high]:
            raise InvalidCall(
                f"{low} = {arguments[low]} is not smaller than {high} = {arguments[high]}",
                field=high,
                advice="x1, y1 is the left upper corner of the area, x2, y2 the right lower one",
            )
    (left, top), (right, bottom) = session.points(arguments, "xy1", "xy2")
    return Bounds(left, top, right, bottom)


def _scroll_area(tree: Tree) -> Bounds:
    lists = [element.bounds for element in tree.elements if "scroll" in element.actions]
    return max(lists, key=lambda bounds: bounds.area, default=Bounds(0, 0, *tree.size))
