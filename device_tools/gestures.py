"""Touches and keys through the UI server, in device pixels. Each is sent at most once."""

from __future__ import annotations

from device_tools import limits
from device_tools.hierarchy import Bounds
from device_tools.ui_server import UiServer

_STEP_MS = 5
_SCROLL_MS = 300
_KEY_CODES = {"tab": 61}


def tap(ui: UiServer, x: int, y: int) -> None:
    """A short touch."""
    ui.act("click", [x, y])


def long_press(ui: UiServer, x: int, y: int, duration_ms: int) -> None:
    """A touch held for ``duration_ms``."""
    ui.act("click", [x, y, duration_ms], limits.UI_ACTION.longer_by(duration_ms / 1000))


def swipe(ui: UiServer, start: tuple[int, int], end: tuple[int, int], duration_ms: int) -> None:
    """A straight drag of the finger; the server takes 5 ms a step."""
    steps = max(2, duration_ms // _STEP_MS)
    # a busy phone needs several times the nominal duration
    limit = limits.UI_ACTION.longer_by(3 * duration_ms / 1000)
    ui.act("swipe", [*start, *end, steps], limit)


def scroll(ui: UiServer, area: Bounds, direction: str) -> None:
    """Show what lies further ``direction`` (up, down, left, right) inside ``area``.

    The finger stays within the middle half: nearer to the edges are the system's gestures.
    """
    x, y = area.center
    dx, dy = area.width // 4, area.height // 4
    start, end = {
        "down": ((x, y + dy), (x, y - dy)),
        "up": ((x, y - dy), (x, y + dy)),
        "right": ((x + dx, y), (x - dx, y)),
        "left": ((x - dx, y), (x + dx, y)),
    }[direction]
    swipe(ui, start, end, _SCROLL_MS)


def press_key(ui: UiServer, key: str) -> None:
    """A key of the catalog's list; those without a name at the server go by key code."""
    code = _KEY_CODES.get(key)
    if code is None:
        ui.act("pressKey", [key])
    else:
        ui.act("pressKeyCode", [code])


def drag(ui: UiServer, start: tuple[int, int], end: tuple[int, int], duration_ms: int) -> None:
    """Hold what lies at ``start``, move it to ``end``, let go."""
    steps = max(2, duration_ms // _STEP_MS)
    # the server holds for as long as a long press before it moves
    limit = limits.UI_ACTION.longer_by(1 + 3 * duration_ms / 1000)
    ui.act("drag", [*start, *end, steps], limit)


def pinch(ui: UiServer, area: Bounds, *, spread: bool, duration_ms: int) -> None:
    """Two fingers on the diagonal of ``area``: from its middle outwards (``spread``, which shows
    things larger), or inwards."""
    inner, outer = _corners(area, 16), _corners(area, 3)
    start, end = (inner, outer) if spread else (outer, inner)
    points = [{"x": px, "y": py} for px, py in (*start, *end)]
    steps = max(2, duration_ms // _STEP_MS)
    limit = limits.UI_ACTION.longer_by(3 * duration_ms / 1000)
    ui.act("gesture", [_ANY_VIEW, *points, steps], limit)


def _corners(area: Bounds, part: int) -> list[tuple[int, int]]:
    """Two opposite points, a ``part`` of the area's sides away from its middle."""
    (x, y), dx, dy = area.center, area.width // part, area.height // part
    return [(x - dx, y - dy), (x + dx, y + dy)]


# the server wants a view for a gesture of two fingers and only checks that it exists
_ANY_VIEW = {
    "mask": 0x1000020,
    "childOrSibling": [],
    "childOrSiblingSelector": [],
    "classNameMatches": ".+",
    "instance": 0,
}
