"""The windows of a dump: which are bars or keyboards, what lies on what, the reading order."""

from __future__ import annotations

import re

from device_tools.hierarchy import Bounds, Hierarchy, Node

_SYSTEM_UI = "com.android.systemui"
_IME = re.compile(r"inputmethod|keyboard|\.ime\b|\.latin$|honeyboard|swiftkey|sogou|gboard")


def keyboard_shown(hierarchy: Hierarchy) -> bool:
    """Whether an input method has a window of its own in the dump."""
    return any(is_keyboard(window) and window.bounds.height > 60 for window in hierarchy.windows)


def extent(hierarchy: Hierarchy) -> Bounds:
    """What the windows span, from the screen's corner."""
    windows = [window.bounds for window in hierarchy.windows]
    return Bounds(0, 0, max(b.right for b in windows), max(b.bottom for b in windows))


def stacked(hierarchy: Hierarchy, area: Bounds) -> list[tuple[Node, list[Bounds]]]:
    """Windows in reading order, each with the bounds of the windows that lie on top of it."""
    windows = sorted(hierarchy.windows, key=_layer)
    layers = [
        (window, [above.bounds for above in windows[:position] if _covers(above)])
        for position, window in enumerate(windows)
    ]
    return sorted(layers, key=lambda pair: _rank(pair[0], area))


def _covers(window: Node) -> bool:
    """Empty overlays, such as rounded screen corners, let touches through."""
    if is_keyboard(window):
        return window.bounds.area > 0
    stack = [window]
    while stack:
        node = stack.pop()
        if node.text or node.description or node.has("clickable"):
            return window.bounds.area > 0
        stack += node.children
    return False


def _layer(window: Node) -> tuple[int, int]:
    """Sorts topmost first. The order of the dump does not tell: older servers kept windows in
    a hash set. A window that overlaps a larger one lies on it: dialogs, menus, popups."""
    if is_keyboard(window):
        return (0, 0)
    return (1, 0) if window.package == _SYSTEM_UI else (2, window.bounds.area)


def _rank(window: Node, area: Bounds) -> int:
    if is_bar(window, area):
        return 2
    return 1 if is_keyboard(window) else 0


def is_keyboard(window: Node) -> bool:
    """By the package names of input methods."""
    return bool(_IME.search(window.package.lower()))


def is_bar(window: Node, area: Bounds) -> bool:
    """Status and navigation bars: thin windows of the system."""
    thin = min(window.bounds.width, window.bounds.height)
    return window.package == _SYSTEM_UI and thin * 8 <= max(area.width, area.height)
