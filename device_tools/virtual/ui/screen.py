"""Puts the windows together and turns touches, keys and text into changes of the state."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from device_tools.virtual.apps import permission
from device_tools.virtual.apps.registry import app_windows
from device_tools.virtual.state import HEIGHT, LAUNCHER, WIDTH, PhoneState
from device_tools.virtual.ui import editing, hierarchy, keyboard, keys, system_ui
from device_tools.virtual.views.view import Node, Rect, Window, root_node
from device_tools.virtual.views.widgets import STATUS_BAR

if TYPE_CHECKING:
    from PIL import Image

_ENTER = 66
_TOUCH_SLOP = 24
_LONG_PRESS_MS = 500
_OPEN_SHADE = 300


class TouchScreen:
    """The display of one phone. Every action adds one to ``state.counters[name]``."""

    def __init__(self, state: PhoneState) -> None:
        self.state = state
        self.display = Rect(0, 0, WIDTH, HEIGHT)

    # -- looking ----------------------------------------------------------------------------

    def windows(self) -> list[Window]:
        """Bottom to top."""
        permission.ask_at_first_start(self.state)
        shown = app_windows(self.state)
        if self.state.keyboard and not self.state.shade:
            shown.append(keyboard.window(self.state, self.enter))
        if self.state.shade:
            shown.append(system_ui.shade(self.state))
        return shown + system_ui.bars(self.state)

    def focused_window(self) -> Window:
        return next(window for window in reversed(self.windows()) if window.focusable)

    def nodes(self) -> Iterator[Node]:
        return hierarchy.nodes(self.windows(), self.display)

    def xml(self, max_depth: int = 50) -> str:
        return hierarchy.to_xml(
            self.windows(), self.display, rotation=self.state.rotation, max_depth=max_depth
        )

    def picture(self) -> Image.Image:
        return self.picture_job()()

    def picture_job(self) -> Callable[[], Image.Image]:
        """What draws the screen as it is now; may run in another thread."""
        from device_tools.virtual.views.picture import draw

        return partial(draw, self.windows(), self.display, screen_on=self.state.screen_on)

    # -- touching ---------------------------------------------------------------------------

    def click(self, x: float, y: float) -> bool:
        """A short touch. False outside the screen."""
        if not self._begin("click", x, y):
            return False
        self._tap(x, y)
        return True

    def long_click(self, x: float, y: float) -> bool:
        """A long touch: the long click if the view has one; a field takes the focus."""
        if not self._begin("long_click", x, y):
            return False
        for node in self._hit(x, y):
            if node.view.on_long_click is not None:
                node.view.on_long_click()
                return True
            if node.view.field:
                editing.focus(self.state, node.view.field)
                return True
        return True

    def swipe(
        self, x1: float, y1: float, x2: float, y2: float, *, name: str = "swipe", ms: float = 0
    ) -> bool:
        """A straight drag. One that does not move is a touch of ``ms`` milliseconds."""
        if max(abs(x2 - x1), abs(y2 - y1)) < _TOUCH_SLOP:
            return self.long_click(x1, y1) if ms >= _LONG_PRESS_MS else self.click(x1, y1)
        if not self._begin(name, x1, y1):
            return False
        self._drag(x1, y1, x2, y2)
        return True

    def _begin(self, name: str, x: float, y: float) -> bool:
        if not self.display.has(x, y):
            return False
        self.state.counters[name] += 1
        return True

    def _hit(self, x: float, y: float) -> list[Node]:
        """The touched views of the topmost touched window, innermost first."""
        if not self.state.screen_on:
            return []
        for index, window in reversed(list(enumerate(self.windows()))):
            node = root_node(window, index, self.display)
            if node.bounds.has(x, y):
                return _innermost(node, x, y)
        return []

    def _tap(self, x: float, y: float) -> None:
        for node in self._hit(x, y):
            view = node.view
            if not view.enabled:
                return
            if view.on_point is not None:
                view.on_point(x, y)
                return
            if view.field:
                editing.focus(self.state, view.field)
                return
            if view.on_click is not None:
                view.on_click()
                return

    def _drag(self, x1: float, y1: float, x2: float, y2: float) -> None:
        state, down = self.state, y2 - y1
        hits = self._hit(x1, y1)
        if not hits:
            return
        if state.shade:
            if down < -_OPEN_SHADE:
                state.shade = ""
        elif y1 < STATUS_BAR and down > _OPEN_SHADE:
            self.open_shade("notifications")
        else:
            self._drag_view(hits, x2, y2, down)

    def _drag_view(self, hits: list[Node], x2: float, y2: float, down: float) -> None:
        for node in hits:
            if node.view.on_point is not None:
                node.view.on_point(x2, y2)
                return
            if node.view.scroll is not None:
                self.scroll_by(node, round(-down))
                return
        screen = self.state.screen
        if screen.package == LAUNCHER and down < -_OPEN_SHADE and not screen.args.get("drawer"):
            screen.args["drawer"] = "1"
        elif screen.package == LAUNCHER and down > _OPEN_SHADE:
            screen.args.pop("drawer", None)

    def scroll_by(self, node: Node, pixels: int) -> bool:
        """Move a scroll container; whether it moved."""
        area = node.view.scroll
        if area is None:
            return False
        target = min(area.limit, max(0, area.offset + pixels))
        self.state.screen.scroll[area.key] = target
        return target != area.offset

    # -- keys and text ----------------------------------------------------------------------

    def key(self, code: int, meta: int = 0) -> bool:
        self.state.counters["key"] += 1
        if code == _ENTER:
            self.enter()
            return True
        return keys.press_code(self.state, code, meta)

    def enter(self) -> None:
        """The focused field's own action, or a new line in a field of several."""
        for node in self.nodes():
            if node.view.focused and node.view.field:
                if node.view.on_enter is not None:
                    node.view.on_enter()
                elif node.view.multiline:
                    editing.insert(self.state, "\n")
                else:
                    self.state.keyboard = False
                return

    def text(self, text: str) -> bool:
        """Type characters (``input text``)."""
        self.state.counters["text"] += 1
        return editing.insert(self.state, text)

    def open_shade(self, which: str) -> bool:
        self.state.shade = which
        return True


def _innermost(node: Node, x: float, y: float) -> list[Node]:
    for child in reversed(list(node.children())):
        if child.bounds.has(x, y):
            return [*_innermost(child, x, y), node]
    return [node]


def png(job: Callable[[], Image.Image]) -> bytes:
    """The picture as a PNG file; may run in another thread."""
    out = io.BytesIO()
    job().save(out, "PNG", compress_level=1)
    return out.getvalue()
