"""Reads one phone's screen: tree, picture, focus and facts side by side, as one observation."""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import itertools
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from device_tools import limits
from device_tools.elements import Element, pick_elements
from device_tools.errors import DeviceError, DeviceTimeout, ScreenUnreadable
from device_tools.focus import Focus, FocusReader
from device_tools.hierarchy import Bounds, Hierarchy, parse_hierarchy
from device_tools.limits import Limit
from device_tools.observation import Observation, Tree, spanned
from device_tools.pictures import DEFAULT_RULE, JPEG_QUALITY, PictureRule, numbered
from device_tools.result import Image
from device_tools.screen_notes import notes_of
from device_tools.screenshot import Picture, prepare_picture
from device_tools.secrets import KnownSecrets
from device_tools.ui_server import UiServer

_DUMPS = 3
_DUMP_PAUSE = 0.2
_SETTLE_PAUSE = 0.1
_PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class _Dump:
    """A read tree and the places where a secret stands in it; or why there is none."""

    tree: Tree | None
    covered: tuple[Bounds, ...] = ()
    reason: str = ""


class Observer:
    """Numbers its observations. ``hidden`` are values that no observation may show."""

    def __init__(
        self,
        ui: UiServer,
        focus: FocusReader,
        *,
        rule: PictureRule = DEFAULT_RULE,
        hidden: KnownSecrets | None = None,
    ) -> None:
        self._ui = ui
        self._focus = focus
        self._rule = rule
        self._hidden = KnownSecrets() if hidden is None else hidden
        self._numbers = itertools.count(1)

    def observe(self, *, screenshot: bool = True, numbers: bool = False) -> Observation:
        """Tree, picture, focus and screen facts, fetched side by side. ``numbers`` draws the
        elements' numbers on the picture.

        Where the phone gives a picture and no tree, the observation has no elements and says so.

        Raises:
            ScreenUnreadable, DeviceTimeout: no usable tree, and no picture in its place.
        """
        with ThreadPoolExecutor(4) as pool:
            info = pool.submit(self._ui.device_info)
            focus = pool.submit(self._focus.read)
            raw = pool.submit(self._capture) if screenshot else None
            # with secrets about, their places must be known first
            early = pool.submit(self._picture, raw, info) if raw and not self._hidden else None
            dump = self._dumped(optional=screenshot)
            seen = Picture(None, _size(info.result()), "")
            if early:
                seen = early.result()
            elif raw:
                seen = self._picture(raw, info, dump.covered)
            if dump.tree is None and seen.image is None:
                raise ScreenUnreadable(f"{dump.reason}; {seen.note}", advice="observe again")
            return self._assembled(dump, seen, info.result(), focus.result(), numbers=numbers)

    def tree(self, limit: Limit = limits.UI_READ) -> Tree:
        """The hierarchy now, in one round trip."""
        xml, hierarchy = self._dump(limit)
        return self._clean(xml, hierarchy)[0]

    def _clean(self, xml: str, hierarchy: Hierarchy) -> tuple[Tree, list[Bounds]]:
        """The tree without secrets, and the places where they stand."""
        clean, places = self._hidden.in_tree(hierarchy)
        if places:
            # the value may stand there in any escaped form; looks can still be compared
            xml = f"<!-- not kept: shows a secret, {_digest(xml)} -->"
        return Tree(xml, clean, pick_elements(clean), spanned(clean)), places

    def settled(self) -> tuple[Tree, bool]:
        """The tree when two looks in a row list the same, and True; after the named limit the
        newest one, and False: some screens never stand still."""
        end = time.monotonic() + limits.SETTLED.seconds
        tree = self.tree(limits.AFTER_LOOK)
        while time.monotonic() < end:
            self._ui.phone.cancel.wait(_SETTLE_PAUSE)
            newer = self.tree(limits.AFTER_LOOK)
            if newer.xml == tree.xml or newer.elements == tree.elements:
                return newer, True
            tree = newer
        return tree, False

    def size(self) -> tuple[int, int]:
        """Screen size in device pixels, as turned now."""
        return _size(self._ui.device_info())

    def _dumped(self, *, optional: bool) -> _Dump:
        try:
            xml, hierarchy = self._dump(limits.UI_READ)
        except (ScreenUnreadable, DeviceTimeout) as error:
            if not optional:
                raise
            return _Dump(None, (), error.message)
        # elements are picked here while the picture is still on its way
        tree, places = self._clean(xml, hierarchy)
        return _Dump(tree, tuple(places))

    def _dump(self, limit: Limit) -> tuple[str, Hierarchy]:
        """One dump; while windows change a phone may return an empty one, so try again."""
        for _ in range(_DUMPS - 1):
            with contextlib.suppress(ScreenUnreadable):
                return self._dump_once(limit)
            self._ui.phone.cancel.wait(_DUMP_PAUSE)
        return self._dump_once(limit)

    def _dump_once(self, limit: Limit) -> tuple[str, Hierarchy]:
        xml = self._ui.read("dumpWindowHierarchy", [False, 50], limit)
        text = xml if isinstance(xml, str) else ""
        return text, parse_hierarchy(text)

    def _capture(self) -> bytes:
        """The screen as JPEG of the UI server, else as PNG of the shell; empty when both fail."""
        encoded = self._ui.read("takeScreenshot", [1, JPEG_QUALITY], limits.UI_READ)
        with contextlib.suppress(binascii.Error):
            if isinstance(encoded, str) and (raw := base64.b64decode(encoded)):
                return raw
        try:
            shot = self._ui.phone.shell(("screencap", "-p"), limit=limits.AFTER_LOOK)
        except DeviceError:
            return b""
        # with several displays a warning stands before the picture
        start = shot.stdout.find(_PNG)
        return shot.stdout[start:] if start >= 0 and shot.code == 0 else b""

    def _picture(
        self, raw: Future[bytes], info: Future[dict[str, Any]], covered: Sequence[Bounds] = ()
    ) -> Picture:
        facts = info.result()
        return prepare_picture(
            raw.result(), _size(facts), self._rule, screen_on=_screen_on(facts), covered=covered
        )

    def _assembled(
        self, dump: _Dump, seen: Picture, facts: dict[str, Any], focus: Focus, *, numbers: bool
    ) -> Observation:
        tree, image, size = dump.tree, seen.image, seen.size
        if tree is not None and tree.size != size:
            elements = pick_elements(tree.hierarchy, Bounds(0, 0, *size))
            tree = replace(tree, elements=elements, size=size)
        if not focus.package:
            focus = Focus(str(facts.get("currentPackageName") or ""), "", "", focus.locked)
        rotation = tree.rotation if tree else facts.get("displayRotation", 0)
        scale = (image.width / size[0], image.height / size[1]) if image else (1.0, 1.0)
        elements = tree.elements if tree else ()
        if image and numbers:
            image = numbered(image, [(e.index, e.bounds) for e in elements], scale)
        return Observation(
            id=f"o{next(self._numbers)}",
            size=size,
            rotation=rotation,
            focus=focus,
            keyboard=tree.keyboard if tree else False,
            scale=scale,
            digest=_digest(tree.xml) if tree else "",
            elements=elements,
            screenshot=_judged(image, elements),
            notes=_notes(dump, tree, seen.note, focus, screen_on=_screen_on(facts)),
            xml=tree.xml if tree else "",
            tree=tree,
        )


def _judged(image: Image | None, elements: tuple[Element, ...]) -> Image | None:
    secret = image is not None and any(element.secret for element in elements)
    return replace(image, sensitive=True) if image is not None and secret else image


def _notes(
    dump: _Dump, tree: Tree | None, picture: str, focus: Focus, *, screen_on: bool
) -> tuple[str, ...]:
    notes = [picture] if picture else []
    if tree is None:
        notes += [f"no element list: {dump.reason}", "use the picture and coordinates"]
    else:
        notes += notes_of(tree.hierarchy, tree.elements, focus, screen_on=screen_on)
    return tuple(dict.fromkeys(notes))


def _digest(xml: str) -> str:
    return hashlib.sha256(xml.encode("utf-8", "replace")).hexdigest()[:16]


def _screen_on(facts: dict[str, Any]) -> bool:
    return facts.get("screenOn", True) is not False


def _size(facts: dict[str, Any]) -> tuple[int, int]:
    try:
        return int(facts["displayWidth"]), int(facts["displayHeight"])
    except (KeyError, TypeError, ValueError):
        raise ScreenUnreadable("the phone does not tell the size of its screen") from None
