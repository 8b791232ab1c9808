"""What the model should know about a screen beyond its elements, one short sentence each."""

from __future__ import annotations

from collections.abc import Sequence

from device_tools.elements import Element
from device_tools.focus import Focus
from device_tools.hierarchy import Bounds, Hierarchy, Node
from device_tools.windows import extent, keyboard_shown

_SURFACES = ("SurfaceView", "TextureView", "UnityPlayer", "GameView", "FlutterView")
_LARGE = 0.5


def notes_of(
    hierarchy: Hierarchy, elements: Sequence[Element], focus: Focus, *, screen_on: bool
) -> tuple[str, ...]:
    """State of screen and windows first, then why the list may be short of what is seen."""
    found = [
        (not screen_on, "the screen is off"),
        (focus.locked, "the phone is locked"),
        (keyboard_shown(hierarchy), "keyboard shown"),
        (bool(focus.window), f"window in front: {focus.window}"),
    ]
    notes = [note for true, note in found if true]
    return (*notes, *_about_list(hierarchy, elements))


def _about_list(hierarchy: Hierarchy, elements: Sequence[Element]) -> list[str]:
    if _is_bare(hierarchy):
        # uiautomator2 issue 895: accessibility has lost its connection to the windows
        return ["the list has only Android's empty frame: use the picture, restart the app if so"]
    surface = _surface(hierarchy)
    if surface:
        return [f"most of the screen is drawn on a {surface}: use the picture for what it shows"]
    if not elements:
        return ["nothing on the screen can be listed: use the picture and coordinates"]
    return []


def _is_bare(hierarchy: Hierarchy) -> bool:
    roots = hierarchy.windows
    return len(roots) == 1 and not roots[0].children and roots[0].package == "android"


def _surface(hierarchy: Hierarchy) -> str:
    """The class of a view that draws itself over most of the screen and has nothing inside."""
    area = extent(hierarchy)
    stack = list(hierarchy.windows)
    while stack:
        node = stack.pop()
        if _draws_itself(node, area):
            return node.class_name.rpartition(".")[2]
        stack += node.children
    return ""


def _draws_itself(node: Node, area: Bounds) -> bool:
    if node.children or not node.class_name.endswith(_SURFACES):
        return False
    return node.bounds.clipped(area).area >= _LARGE * area.area
