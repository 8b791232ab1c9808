"""What the model sees: elements and picture of one moment, with the exact scale between them."""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import itertools
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from device_tools import limits
from device_tools.elements import Element, pick_elements, render, storable
from device_tools.errors import ScreenUnreadable
from device_tools.focus import Focus, FocusReader
from device_tools.hierarchy import Bounds, Hierarchy, parse_hierarchy
from device_tools.pictures import DEFAULT_RULE, JPEG_QUALITY, PictureRule
from device_tools.result import Image
from device_tools.screenshot import prepare_picture
from device_tools.ui_server import UiServer
from device_tools.windows import extent, keyboard_shown

_DUMPS = 3
_DUMP_PAUSE = 0.2


@dataclass(frozen=True)
class Tree:
    """The hierarchy alone: what an action re-reads before it acts."""

    xml: str
    hierarchy: Hierarchy
    elements: tuple[Element, ...]
    size: tuple[int, int]

    @property
    def rotation(self) -> int:
        return self.hierarchy.rotation


@dataclass(frozen=True)
class Observation:
    """``size`` in device pixels as the screen is turned now; ``scale`` = screenshot pixels per
    device pixel, x and y (1, 1 without a picture); ``digest`` of the tree."""

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


class Observer:
    """Reads one phone's screen; numbers its observations."""

    def __init__(
        self, ui: UiServer, focus: FocusReader, *, rule: PictureRule = DEFAULT_RULE
    ) -> None:
        self._ui = ui
        self._focus = focus
        self._rule = rule
        self._numbers = itertools.count(1)

    def observe(self, *, screenshot: bool = True) -> Observation:
        """Tree, picture, focus and screen facts, fetched side by side.

        Raises:
            ScreenUnreadable: no usable hierarchy (a missing picture is only a note).
        """
        with ThreadPoolExecutor(3) as pool:
            info = pool.submit(self._ui.device_info)
            picture = pool.submit(self._picture, info) if screenshot else None
            focus = pool.submit(self._focus.read)
            xml, hierarchy = self._dump()
            size = _display_size(info.result())
            # picked while the picture is still being made ready
            elements = pick_elements(hierarchy, Bounds(0, 0, *size))
            image, true_size, note = picture.result() if picture else (None, size, "")
            if true_size != size:
                elements = pick_elements(hierarchy, Bounds(0, 0, *true_size))
            return self._assemble(
                Tree(xml, hierarchy, elements, true_size),
                image,
                note,
                info.result(),
                focus.result(),
            )

    def tree(self) -> Tree:
        """The hierarchy now, in one round trip."""
        xml, hierarchy = self._dump()
        return Tree(xml, hierarchy, pick_elements(hierarchy), _spanned(hierarchy))

    def size(self) -> tuple[int, int]:
        """Screen size in device pixels, as turned now."""
        return _display_size(self._ui.device_info())

    def _dump(self) -> tuple[str, Hierarchy]:
        """One dump; while windows change a phone may return an empty one, so try again."""
        for _ in range(_DUMPS - 1):
            with contextlib.suppress(ScreenUnreadable):
                return self._dump_once()
            self._ui.phone.cancel.wait(_DUMP_PAUSE)
        return self._dump_once()

    def _dump_once(self) -> tuple[str, Hierarchy]:
        xml = self._ui.read("dumpWindowHierarchy", [False, 50])
        text = xml if isinstance(xml, str) else ""
        return text, parse_hierarchy(text)

    def _picture(self, info: Future[dict[str, Any]]) -> tuple[Image | None, tuple[int, int], str]:
        """The prepared picture, the true size of the screen, and a note when there is none."""
        encoded = self._ui.read("takeScreenshot", [1, JPEG_QUALITY], limits.UI_READ)
        try:
            raw = base64.b64decode(encoded) if isinstance(encoded, str) else b""
        except binascii.Error:
            raw = b""
        facts = info.result()
        return prepare_picture(raw, _display_size(facts), self._rule, screen_on=_screen_on(facts))

    def _assemble(
        self, tree: Tree, image: Image | None, note: str, facts: dict[str, Any], focus: Focus
    ) -> Observation:
        size, notes = tree.size, [note] if note else []
        notes += _facts(tree.hierarchy, focus, screen_on=_screen_on(facts))
        if not focus.package:
            focus = Focus(str(facts.get("currentPackageName") or ""), "", "", focus.locked)
        return Observation(
            id=f"o{next(self._numbers)}",
            size=size,
            rotation=tree.rotation,
            focus=focus,
            keyboard=keyboard_shown(tree.hierarchy),
            scale=(image.width / size[0], image.height / size[1]) if image else (1.0, 1.0),
            digest=hashlib.sha256(tree.xml.encode("utf-8", "replace")).hexdigest()[:16],
            elements=tree.elements,
            screenshot=_judged(image, tree.elements),
            notes=tuple(dict.fromkeys(notes)),
            xml=tree.xml,
        )


def _judged(image: Image | None, elements: tuple[Element, ...]) -> Image | None:
    secret = image is not None and any(element.secret for element in elements)
    return replace(image, sensitive=True) if image is not None and secret else image


def _screen_on(facts: dict[str, Any]) -> bool:
    return facts.get("screenOn", True) is not False


def as_text(observation: Observation) -> str:
    """Header, notes in parentheses, one line per element."""
    width, height = observation.size
    head = (
        f"Screen {observation.id}: {_title(observation)} ({observation.focus}) "
        f"{width}x{height} rotation {observation.rotation}"
    )
    notes = [f"({note})" for note in observation.notes]
    if observation.screenshot is not None and observation.scale != (1.0, 1.0):
        notes.append(f"({observation.screenshot.note})")
    return "\n".join([head, *notes, render(observation.elements)])


def storable_text(observation: Observation) -> str | None:
    """``as_text`` without what secret fields show; None where there is nothing to leave out."""
    if not any(element.secret for element in observation.elements):
        return None
    return as_text(replace(observation, elements=tuple(map(storable, observation.elements))))


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
    """An observation of a stored hierarchy, without a phone: what ``observe --xml`` shows."""
    hierarchy = parse_hierarchy(dump)
    raw = dump if isinstance(dump, bytes) else dump.encode("utf-8", "replace")
    apps = [window.package for window in hierarchy.windows if "systemui" not in window.package]
    return Observation(
        id="o1",
        size=_spanned(hierarchy),
        rotation=hierarchy.rotation,
        focus=Focus(apps[0] if apps else hierarchy.windows[0].package, ""),
        keyboard=keyboard_shown(hierarchy),
        scale=(1.0, 1.0),
        digest=hashlib.sha256(raw).hexdigest()[:16],
        elements=pick_elements(hierarchy),
        screenshot=None,
        notes=("keyboard shown",) if keyboard_shown(hierarchy) else (),
        xml=raw.decode("utf-8", "replace"),
    )


def _title(observation: Observation) -> str:
    """The heading of the screen: its first plain text, else the last word of the package."""
    for element in observation.elements:
        if not element.actions and element.label and element.package == observation.package:
            return element.label.splitlines()[0][:60]
    return observation.package.rpartition(".")[2].capitalize() or "unknown"


def _spanned(hierarchy: Hierarchy) -> tuple[int, int]:
    area = extent(hierarchy)
    return max(1, area.right), max(1, area.bottom)


def _display_size(facts: dict[str, Any]) -> tuple[int, int]:
    try:
        return int(facts["displayWidth"]), int(facts["displayHeight"])
    except (KeyError, TypeError, ValueError):
        raise ScreenUnreadable("the phone does not tell the size of its screen") from None


def _facts(hierarchy: Hierarchy, focus: Focus, *, screen_on: bool) -> list[str]:
    found = [
        (not screen_on, "the screen is off"),
        (focus.locked, "the phone is locked"),
        (keyboard_shown(hierarchy), "keyboard shown"),
        (bool(focus.window), f"window in front: {focus.window}"),
    ]
    return [note for true, note in found if true]
