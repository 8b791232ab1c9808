"""What the model sees: elements and picture of one moment, with the exact scale between them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

from device_tools.elements import Element, describe, pick_elements, storable
from device_tools.focus import Focus
from device_tools.hierarchy import Hierarchy, parse_hierarchy
from device_tools.result import Image
from device_tools.screen_notes import notes_of
from device_tools.windows import extent, keyboard_shown

MAX_LISTED = 300
"""Elements told in one text; the longest list of 112 real dumps has fewer."""


@dataclass(frozen=True)
class Tree:
    """The hierarchy alone: what an action re-reads before it acts. ``size`` in device pixels."""

    xml: str
    hierarchy: Hierarchy
    elements: tuple[Element, ...]
    size: tuple[int, int]

    @property
    def rotation(self) -> int:
        return self.hierarchy.rotation

    @property
    def keyboard(self) -> bool:
        return keyboard_shown(self.hierarchy)


@dataclass(frozen=True)
class Observation:
    """``size`` in device pixels as the screen is turned now; ``scale`` = screenshot pixels per
    device pixel, x and y (1, 1 without a picture); ``digest`` of the tree. Where the phone gave
    a picture and no tree, ``elements`` and ``digest`` are empty and a note says why."""

    id: str
    size: tuple[int, int]
    rotation: int
    focus: Focus
    keyboard: bool
    scale: tuple[float, float]
    digest: str
    elements: tuple[Element, ...]
    screenshot: Image | None
    notes: tuple[str, ...]
    xml: str
    tree: Tree | None = None

    @property
    def package(self) -> str:
        return self.focus.package

    @property
    def activity(self) -> str:
        return self.focus.activity

    @property
    def locked(self) -> bool:
        return self.focus.locked

    def to_screen(self, x: int, y: int) -> tuple[int, int]:
        """The device pixel under the middle of a screenshot pixel."""
        sx, sy = self.scale
        return int((x + 0.5) / sx), int((y + 0.5) / sy)


def as_text(observation: Observation, first: int = 1) -> str:
    """Header, notes in parentheses, one line per element from number ``first`` on.

    A line ``-- package`` stands where another app's window begins.
    """
    width, height = observation.size
    head = (
        f"Screen {observation.id}: {_title(observation)} ({observation.focus}) "
        f"{width}x{height} rotation {observation.rotation}"
    )
    notes = [f"({note})" for note in observation.notes]
    if observation.screenshot is not None and observation.scale != (1.0, 1.0):
        notes.append(f"({observation.screenshot.note})")
    return "\n".join([head, *notes, *_listed(observation, first)])


def _listed(observation: Observation, first: int) -> list[str]:
    lines: list[str] = []
    package = observation.package
    shown = observation.elements[first - 1 : first - 1 + MAX_LISTED]
    for element in shown:
        if element.package != package:
            package = element.package
            lines.append(f"-- {package}")
        lines.append(describe(element))
    if first > 1:
        lines.insert(0, f"(elements 1 to {first - 1} are not listed here)")
    left = len(observation.elements) - (first - 1) - len(shown)
    if left > 0:
        last = first - 1 + len(shown)
        lines.append(f"({left} more elements: observe_screen with first={last + 1})")
    return lines


def storable_text(observation: Observation, first: int = 1) -> str | None:
    """``as_text`` without what secret fields show; None where there is nothing to leave out."""
    if not any(element.secret for element in observation.elements):
        return None
    return as_text(replace(observation, elements=tuple(map(storable, observation.elements))), first)


def secrets_shown(observation: Observation) -> tuple[str, ...]:
    """What the secret fields show: each by itself, and a row of boxes as the one code it is."""
    shown = [
        (element.value if element.role == "field" else element.label) or ""
        for element in observation.elements
        if element.secret
    ]
    code = "".join(text for text in shown if len(text) == 1)
    return tuple(text for text in [*shown, code] if len(text) > 1)


def as_json(observation: Observation) -> dict[str, Any]:
    """The stable shape of ``observe --format json``; bounds are device pixels."""
    image = observation.screenshot
    return {
        "id": observation.id,
        "size": list(observation.size),
        "rotation": observation.rotation,
        "package": observation.package,
        "activity": observation.activity,
        "keyboard": observation.keyboard,
        "locked": observation.locked,
        "scale": list(observation.scale),
        "digest": observation.digest,
        "notes": list(observation.notes),
        "screenshot": {"width": image.width, "height": image.height} if image else None,
        "elements": [element_json(element) for element in observation.elements],
    }


def element_json(element: Element) -> dict[str, Any]:
    """One element in the stable shape."""
    bounds = element.bounds
    return {
        "index": element.index,
        "label": element.label,
        "role": element.role,
        "value": element.value,
        "flags": list(element.flags),
        "actions": list(element.actions),
        "resource_id": element.resource_id,
        "class": element.class_name,
        "package": element.package,
        "bounds": [bounds.left, bounds.top, bounds.right, bounds.bottom],
    }


def observation_of_dump(dump: bytes | str) -> Observation:
    """An observation of a stored hierarchy, without a phone: what ``observe --xml`` shows.

    Raises:
        ScreenUnreadable: no usable hierarchy, with the reason.
    """
    hierarchy = parse_hierarchy(dump)
    raw = dump if isinstance(dump, bytes) else dump.encode("utf-8", "replace")
    apps = [window.package for window in hierarchy.windows if "systemui" not in window.package]
    focus = Focus(apps[0] if apps else hierarchy.windows[0].package, "")
    xml = raw.decode("utf-8", "replace")
    tree = Tree(xml, hierarchy, pick_elements(hierarchy), spanned(hierarchy))
    return Observation(
        id="o1",
        size=tree.size,
        rotation=hierarchy.rotation,
        focus=focus,
        keyboard=tree.keyboard,
        scale=(1.0, 1.0),
        digest=hashlib.sha256(raw).hexdigest()[:16],
        elements=tree.elements,
        screenshot=None,
        notes=notes_of(hierarchy, tree.elements, focus, screen_on=True),
        xml=xml,
        tree=tree,
    )


def spanned(hierarchy: Hierarchy) -> tuple[int, int]:
    """Width and height of what the windows cover."""
    area = extent(hierarchy)
    return max(1, area.right), max(1, area.bottom)


def _title(observation: Observation) -> str:
    """The heading of the screen: its first plain text, else the last word of the package."""
    for element in observation.elements:
        if not element.actions and element.label and element.package == observation.package:
            return element.label.splitlines()[0][:60]
    return observation.package.rpartition(".")[2].capitalize() or "unknown"
