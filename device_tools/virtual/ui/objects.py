"""The JSON-RPC methods that take a selector: look, wait, set text, scroll, drag."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from device_tools.virtual.ui import editing, selector
from device_tools.virtual.ui.screen import TouchScreen
from device_tools.virtual.views.view import Node

Selector = Mapping[str, Any] | str
_POLL = 0.05


class ObjectNotFound(Exception):
    """No node matches; carries the selector as Android writes it."""


class ObjectMethods:
    """Selectors are objects, or the opaque ids that ``childBy…`` gave out."""

    def __init__(self, screen: TouchScreen) -> None:
        self._screen = screen
        self._handles: dict[str, Callable[[], list[Node]]] = {}

    def table(self) -> dict[str, Callable[..., Any]]:
        """Method name on the wire -> what runs it."""
        return {
            "exist": self._exist,
            "count": self._count,
            "objInfo": self._obj_info,
            "objInfoOfAllInstances": self._all_info,
            "waitForExists": self._wait_for_exists,
            "waitUntilGone": self._wait_until_gone,
            "getText": self._get_text,
            "setText": self._set_text,
            "clearTextField": self._clear_text,
            "dragTo": self._drag_to,
            "gesture": self._gesture,
            "scrollForward": self._scroll(1, 0.8),
            "scrollBackward": self._scroll(-1, 0.8),
            "flingForward": self._scroll(1, 2.0),
            "flingBackward": self._scroll(-1, 2.0),
            "scrollToBeginning": self._scroll_to_edge(-1),
            "scrollToEnd": self._scroll_to_edge(1),
            "flingToBeginning": self._scroll_to_edge(-1),
            "flingToEnd": self._scroll_to_edge(1),
            "scrollTo": self._scroll_to,
            "childByText": self._child_by("text"),
            "childByDescription": self._child_by("description"),
            "childByInstance": self._child_by_instance,
        }

    # -- finding ----------------------------------------------------------------------------

    def _find(self, what: Selector) -> list[Node]:
        if isinstance(what, str):
            handle = self._handles.get(what)
            return handle() if handle else []
        return selector.find(what, list(self._screen.nodes()))

    def _one(self, what: Selector) -> Node:
        found = self._find(what)
        if not found:
            raise ObjectNotFound(selector.describe(what))
        return found[0]

    def _exist(self, what: Selector) -> bool:
        return bool(self._find(what))

    def _count(self, what: Selector) -> int:
        return len(self._find(what))

    def _obj_info(self, what: Selector) -> dict[str, Any]:
        return selector.info(self._one(what))

    def _all_info(self, what: Selector) -> list[dict[str, Any]]:
        return [selector.info(node) for node in self._find(what)]

    async def _wait_for_exists(self, what: Selector, ms: float) -> bool:
        return await self._wait(lambda: self._exist(what), ms)

    async def _wait_until_gone(self, what: Selector, ms: float) -> bool:
        return await self._wait(lambda: not self._exist(what), ms)

    async def _wait(self, ready: Callable[[], bool], ms: float) -> bool:
        loop = asyncio.get_running_loop()
        end = loop.time() + ms / 1000
        while not ready():
            if loop.time() >= end:
                return False
            await asyncio.sleep(min(_POLL, max(0.0, end - loop.time())))
        return True

    def _child_by(self, name: str) -> Callable[..., str]:
        bit = {"text": 0x1, "description": 0x40}[name]

        def make(outer: Selector, inner: Selector, value: str, _scroll: bool = False) -> str:
            wanted = {"mask": bit, name: value}

            def handle() -> list[Node]:
                inside = self._inside(outer, inner)
                return [node for node in inside if selector.find(wanted, list(node.walk()))]

            return self._handle(handle, f"{selector.describe(outer)} {value}")

        return make

    def _child_by_instance(self, outer: Selector, inner: Selector, number: int) -> str:
        return self._handle(
            lambda: self._inside(outer, inner)[number : number + 1],
            f"{selector.describe(outer)} INSTANCE={number}",
        )

    def _handle(self, handle: Callable[[], list[Node]], text: str) -> str:
        if not handle():
            raise ObjectNotFound(text)
        name = str(uuid.uuid4())
        self._handles[name] = handle
        return name

    def _inside(self, outer: Selector, inner: Selector) -> list[Node]:
        if isinstance(inner, str):
            return self._find(inner)
        walk = self._one(outer).walk()
        next(walk)
        return selector.find(inner, list(walk))

    # -- acting -----------------------------------------------------------------------------

    def _get_text(self, what: Selector) -> str:
        return self._one(what).text

    def _set_text(self, what: Selector, text: str) -> bool:
        node = self._one(what)
        self._screen.state.counters["set_text"] += 1
        if not node.view.field:
            return False
        editing.replace(self._screen.state, node.view.field, text)
        return True

    def _clear_text(self, what: Selector) -> None:
        self._set_text(what, "")

    def _drag_to(self, what: Selector, *target: Any) -> bool:
        x1, y1 = self._one(what).bounds.center
        if len(target) == 2:
            x2, y2 = self._one(target[0]).bounds.center
        elif len(target) == 3:
            x2, y2 = target[0], target[1]
        else:
            raise TypeError("dragTo takes a selector or a point, and steps")
        return self._screen.swipe(x1, y1, x2, y2, name="drag")

    def _gesture(self, what: Selector, *points: Any) -> bool:
        """Two fingers: four points and steps. Counted; no app here answers to it."""
        self._one(what)
        corners = [(point["x"], point["y"]) for point in points[:4]]
        if len(points) != 5 or not all(self._screen.display.has(*corner) for corner in corners):
            return False
        self._screen.state.counters["gesture"] += 1
        return True

    def _scrollable(self, what: Selector) -> Node:
        node = self._one(what)
        return next((each for each in node.walk() if each.view.scroll is not None), node)

    def _step(self, what: Selector, direction: int, part: float) -> bool:
        node = self._scrollable(what)
        self._screen.state.counters["scroll"] += 1
        self._screen.scroll_by(node, round(direction * part * node.bounds.height))
        area = self._scrollable(what).view.scroll
        if area is None:
            return False
        # Android answers whether more can be seen in that direction
        return area.offset < area.limit if direction > 0 else area.offset > 0

    def _scroll(self, direction: int, part: float) -> Callable[..., bool]:
        def run(what: Selector, vertical: bool = True, _steps: int = 55) -> bool:
            return vertical and self._step(what, direction, part)

        return run

    def _scroll_to_edge(self, direction: int) -> Callable[..., bool]:
        def run(what: Selector, vertical: bool = True, swipes: int = 500, _steps: int = 55) -> bool:
            if not vertical:
                return False
            while swipes > 0 and self._step(what, direction, 0.8):
                swipes -= 1
            return swipes > 0

        return run

    def _scroll_to(self, what: Selector, target: Selector, _vertical: bool = True) -> bool:
        self._scroll_to_edge(-1)(what)
        while not self._exist(target):
            if not self._step(what, 1, 0.6):
                return self._exist(target)
        return True
