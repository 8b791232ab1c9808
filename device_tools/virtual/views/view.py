"""Views and windows: what is on the screen, where, and what touching it does.

All lengths are device pixels. A tree lives for one look at the screen: the apps build a new one
from the state every time, so nothing here is ever changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

Action = Callable[[], object]

TEXT = "android.widget.TextView"
BUTTON = "android.widget.Button"
IMAGE_BUTTON = "android.widget.ImageButton"
IMAGE = "android.widget.ImageView"
SWITCH = "android.widget.Switch"
EDIT = "android.widget.EditText"
FRAME = "android.widget.FrameLayout"
LINEAR = "android.widget.LinearLayout"
RECYCLER = "androidx.recyclerview.widget.RecyclerView"
SCROLL = "android.widget.ScrollView"
SEEK_BAR = "android.widget.SeekBar"
CHECK_BOX = "android.widget.CheckBox"
RADIO = "android.widget.RadioButton"


class Rect(NamedTuple):
    """Right and bottom are outside."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def height(self) -> int:
        return self.bottom - self.top

    @property
    def center(self) -> tuple[int, int]:
        return (self.left + self.right) // 2, (self.top + self.bottom) // 2

    def has(self, x: float, y: float) -> bool:
        return self.left <= x < self.right and self.top <= y < self.bottom

    def clip(self, other: Rect) -> Rect:
        left, top = max(self.left, other.left), max(self.top, other.top)
        return Rect(
            left,
            top,
            max(left, min(self.right, other.right)),
            max(top, min(self.bottom, other.bottom)),
        )

    @property
    def empty(self) -> bool:
        return self.width <= 0 or self.height <= 0


@dataclass(frozen=True)
class Style:
    """How a view is drawn. Colours are ``#rrggbb``; "" draws nothing."""

    fill: str = ""
    color: str = "#1b1b1f"
    size: int = 44
    align: str = "left"
    valign: str = "middle"
    radius: int = 0
    icon: str = ""
    bold: bool = False


PLAIN = Style()


@dataclass(frozen=True)
class ScrollArea:
    """A vertical scroll container: the key of its offset and how far it can go."""

    key: str
    offset: int
    limit: int


@dataclass(frozen=True)
class View:
    """One node. ``rid`` without a colon belongs to the window's package; ``value`` is a slider's
    0..1; ``field`` names the screen's text field it edits."""

    bounds: Rect
    cls: str = "android.view.View"
    text: str = ""
    rid: str = ""
    desc: str = ""
    hint: str = ""
    children: tuple[View, ...] = ()
    on_click: Action | None = None
    on_long_click: Action | None = None
    on_point: Callable[[float, float], None] | None = None
    on_enter: Action | None = None
    field: str = ""
    multiline: bool = False
    scroll: ScrollArea | None = None
    value: float | None = None
    checkable: bool = False
    checked: bool = False
    enabled: bool = True
    focused: bool = False
    password: bool = False
    selected: bool = False
    style: Style = PLAIN

    @property
    def clickable(self) -> bool:
        return self.on_click is not None or bool(self.field)

    @property
    def long_clickable(self) -> bool:
        return self.on_long_click is not None or bool(self.field)

    @property
    def focusable(self) -> bool:
        return self.clickable or self.scroll is not None or self.on_point is not None


@dataclass(frozen=True)
class Window:
    """``title`` is what dumpsys calls it: the component of an activity or a plain name.

    ``secure`` windows (FLAG_SECURE) stay in the tree but not in the picture.
    """

    package: str
    title: str
    root: View
    focusable: bool = True
    secure: bool = False


@dataclass(frozen=True)
class Node:
    """A view as seen on the screen: clipped by its ancestors, with its place in the tree."""

    view: View
    window: Window
    bounds: Rect
    index: int
    parent: Node | None

    @property
    def rid(self) -> str:
        rid = self.view.rid
        return rid if not rid or ":" in rid else f"{self.window.package}:id/{rid}"

    @property
    def text(self) -> str:
        """As accessibility tells it: a slider's value, and an empty field's hint."""
        view = self.view
        if view.value is not None:
            return str(round(view.value * 100, 1))
        return view.hint if view.field and not view.text else view.text

    def children(self) -> Iterator[Node]:
        """Only the visible ones; the index counts all, as Android's does."""
        for index, child in enumerate(self.view.children):
            bounds = child.bounds.clip(self.bounds)
            if not bounds.empty:
                yield Node(child, self.window, bounds, index, self)

    def walk(self) -> Iterator[Node]:
        yield self
        for child in self.children():
            yield from child.walk()


def root_node(window: Window, index: int, display: Rect) -> Node:
    """The node of a window's root view, clipped to the display."""
    return Node(window.root, window, window.root.bounds.clip(display), index, None)
