"""Building blocks of the apps: a page with a toolbar, scrolling lists, rows, fields, dialogs.

The geometry is that of a 1080x2400 phone at 440 dpi: 1 dp = 2.75 px, status bar 84 px, navigation
bar 132 px.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from device_tools.virtual.state import HEIGHT, WIDTH, PhoneState, Screen
from device_tools.virtual.views.theme import Theme, theme
from device_tools.virtual.views.view import (
    BUTTON,
    EDIT,
    FRAME,
    IMAGE,
    IMAGE_BUTTON,
    LINEAR,
    RECYCLER,
    SWITCH,
    TEXT,
    Action,
    Rect,
    ScrollArea,
    Style,
    View,
    Window,
)

STATUS_BAR = 84
NAV_BAR = 132
TOOLBAR = 154
KEYBOARD_TOP = 1500
MARGIN = 48

Row = tuple[int, Callable[[Rect, Theme], View]]
"""A list entry: its height and what builds it at a place."""


@dataclass(frozen=True)
class Page:
    """What an app needs to build one screen: the state, its own screen and the space it has."""

    state: PhoneState
    screen: Screen

    @property
    def theme(self) -> Theme:
        return theme(self.state)

    @property
    def bottom(self) -> int:
        return KEYBOARD_TOP if self.state.keyboard else HEIGHT - NAV_BAR

    def content(self, top: int = STATUS_BAR + TOOLBAR) -> Rect:
        return Rect(0, top, WIDTH, self.bottom)

    def window(self, *children: View) -> Window:
        """The activity's window around its content."""
        content = View(
            Rect(0, STATUS_BAR, WIDTH, self.bottom),
            FRAME,
            rid="android:id/content",
            children=children,
        )
        root = View(
            Rect(0, 0, WIDTH, HEIGHT),
            FRAME,
            children=(View(Rect(0, 0, WIDTH, HEIGHT), LINEAR, children=(content,)),),
            style=Style(fill=self.theme.background),
        )
        return Window(self.screen.package, self.screen.component, root)

    def toolbar(self, title: str, *actions: View, up: bool = True) -> View:
        """The bar with the title and, unless it is the app's first screen, "Navigate up"."""
        bar = Rect(0, STATUS_BAR, WIDTH, STATUS_BAR + TOOLBAR)
        left = MARGIN
        children: list[View] = []
        if up:
            children.append(
                icon_button(
                    Rect(0, bar.top, 154, bar.bottom),
                    "back",
                    "Navigate up",
                    self.state.close,
                    self.theme,
                )
            )
            left = 170
        children.append(
            View(
                Rect(left, bar.top, WIDTH - 160 * len(actions) - 20, bar.bottom),
                TEXT,
                title,
                style=Style(color=self.theme.text, size=60),
            )
        )
        return View(
            bar,
            "android.view.ViewGroup",
            rid="action_bar",
            children=(*children, *actions),
            style=Style(fill=self.theme.background),
        )

    def list(
        self, rows: Sequence[Row], area: Rect | None = None, key: str = "list", rid: str = "list"
    ) -> View:
        """Rows below each other; scrolls when they are higher than the area."""
        area = area or self.content()
        total = sum(height for height, _ in rows)
        limit = max(0, total - area.height)
        offset = min(self.screen.scroll.get(key, 0), limit)
        children, top = [], area.top - offset
        for height, build in rows:
            place = Rect(area.left, top, area.right, top + height)
            if not place.clip(area).empty:
                children.append(build(place, self.theme))
            top += height
        scroll = ScrollArea(key, offset, limit) if limit else None
        return View(area, RECYCLER, rid=rid, children=tuple(children), scroll=scroll)

    def edit(
        self,
        bounds: Rect,
        name: str,
        hint: str,
        *,
        rid: str = "",
        multiline: bool = False,
        size: int = 46,
        fill: str = "",
        on_enter: Action | None = None,
        password: bool = False,
        default: str = "",
    ) -> View:
        """A text field bound to ``screen.fields[name]``; ``default`` shows until it is set."""
        text = self.screen.fields.get(name, default)
        shown = "•" * len(text) if password else text
        valign = "top" if multiline else "middle"
        return View(
            bounds,
            EDIT,
            shown or "",
            rid=rid or name,
            hint=hint,
            field=name,
            multiline=multiline,
            focused=self.screen.focus == name,
            on_enter=on_enter,
            password=password,
            style=Style(color=self.theme.text, size=size, fill=fill, radius=28, valign=valign),
        )

    def empty(self, text: str) -> View:
        """A line in the middle of an empty screen."""
        area = self.content()
        middle = area.center[1]
        return View(
            Rect(0, middle - 60, WIDTH, middle + 60),
            TEXT,
            text,
            rid="empty",
            style=Style(color=self.theme.faint, align="center"),
        )


def icon_button(bounds: Rect, icon: str, desc: str, click: Action, look: Theme) -> View:
    """A round button without text."""
    return View(
        bounds, IMAGE_BUTTON, desc=desc, on_click=click, style=Style(icon=icon, color=look.text)
    )


def text_button(
    bounds: Rect, text: str, click: Action, look: Theme, *, rid: str = "", plain: bool = False
) -> View:
    """A button with a label; ``plain`` draws no background."""
    style = (
        Style(color=look.accent, align="center", size=42, bold=True)
        if plain
        else Style(fill=look.accent, color=look.on_accent, align="center", size=42, radius=60)
    )
    return View(bounds, BUTTON, text, rid=rid, on_click=click, style=style)


def row(
    title: str,
    summary: str = "",
    click: Action | None = None,
    *,
    icon: str = "",
    on: bool | None = None,
    bold: bool = False,
    hold: Action | None = None,
    trailing: str = "",
    lines: int = 1,
) -> Row:
    """A list entry: title, summary, optional icon, and a switch when ``on`` is not None."""
    height = 132 + (56 * lines if summary else 44)

    def build(place: Rect, look: Theme) -> View:
        left = 190 if icon else 66
        right = place.right - (220 if on is not None or trailing else 48)
        parts: list[View] = []
        if icon:
            parts.append(_row_icon(place, icon))
        top = place.top + 34 if summary else place.top
        bottom = top + 64 if summary else place.bottom
        parts.append(
            View(
                Rect(left, top, right, bottom),
                TEXT,
                title,
                rid="android:id/title",
                style=Style(color=look.text, size=48, bold=bold),
            )
        )
        if summary:
            parts.append(
                View(
                    Rect(left, bottom, right, place.bottom - 26),
                    TEXT,
                    summary,
                    rid="android:id/summary",
                    style=Style(color=look.faint, size=38, valign="top"),
                )
            )
        if trailing:
            parts.append(
                View(
                    Rect(right, top, place.right - 48, bottom),
                    TEXT,
                    trailing,
                    rid="time",
                    style=Style(color=look.faint, size=34, align="right"),
                )
            )
        if on is not None:
            parts.append(_row_switch(place, on, look))
        return View(place, LINEAR, children=tuple(parts), on_click=click, on_long_click=hold)

    return height, build


def _row_icon(place: Rect, icon: str) -> View:
    middle = place.center[1]
    return View(
        Rect(52, middle - 48, 148, middle + 48),
        IMAGE,
        rid="android:id/icon",
        style=Style(icon=f"disc {icon}"),
    )


def _row_switch(place: Rect, on: bool, look: Theme) -> View:
    middle = place.center[1]
    return View(
        Rect(place.right - 190, middle - 44, place.right - 46, middle + 44),
        SWITCH,
        rid="android:id/switch_widget",
        checkable=True,
        checked=on,
        style=Style(icon="switch on" if on else "switch off", color=look.accent),
    )


def header(text: str) -> Row:
    """A small title between list entries."""

    def build(place: Rect, look: Theme) -> View:
        inside = Rect(66, place.top, place.right - 48, place.bottom)
        label = View(
            inside,
            TEXT,
            text,
            rid="android:id/title",
            style=Style(color=look.accent, size=38, bold=True),
        )
        return View(place, LINEAR, children=(label,))

    return 110, build


def paragraph(text: str, height: int, size: int = 42, left: int = 66) -> Row:
    """Text that is only read."""

    def build(place: Rect, look: Theme) -> View:
        inside = Rect(left, place.top, place.right - left, place.bottom)
        return View(inside, TEXT, text, style=Style(color=look.text, size=size, valign="top"))

    return height, build
