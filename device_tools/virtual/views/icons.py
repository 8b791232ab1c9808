"""Simple icons drawn with lines and discs; a name may carry an argument: ``disc W``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from device_tools.virtual.views.fonts import font, is_cjk
from device_tools.virtual.views.view import Rect

if TYPE_CHECKING:
    from PIL import ImageDraw

_DISC = ("#3b6fd4", "#0f8a6a", "#b3541e", "#7a4fc0", "#b0305c", "#4b6b2a", "#1f7a99")


def draw_icon(
    pen: ImageDraw.ImageDraw, icon: str, bounds: Rect, color: str, value: float | None
) -> None:
    """Draw ``icon`` in the middle of ``bounds``."""
    name, _, argument = icon.partition(" ")
    x, y = bounds.center
    if name in ("disc", "app"):
        radius = min(bounds.width, bounds.height) // (2 if name == "disc" else 3)
        _disc(pen, argument, x, y if name == "disc" else bounds.top + radius + 20, radius)
    elif name == "switch":
        _switch(pen, x, y, argument == "on", color)
    elif name == "slider":
        _slider(pen, bounds, value or 0.0, color)
    elif name == "battery":
        pen.rounded_rectangle((x - 24, y - 14, x + 20, y + 14), 5, outline=color, width=3)
        pen.rectangle((x - 20, y - 10, x + 8, y + 10), fill=color)
        pen.rectangle((x + 21, y - 6, x + 25, y + 6), fill=color)
    elif name == "wifi":
        for size in (10, 22, 34):
            pen.arc((x - size, y + 14 - size, x + size, y + 14 + size), 225, 315, color, 5)
    else:
        _stroke(pen, name, x, y, color)


def _disc(pen: ImageDraw.ImageDraw, label: str, x: int, y: int, radius: int) -> None:
    fill = _DISC[sum(label.encode()) % len(_DISC)]
    pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=fill)
    letter = label[:1]
    face = font(radius, cjk=is_cjk(letter or " "), bold=True)
    pen.text((x, y), letter.upper(), font=face, fill="#ffffff", anchor="mm")


def _switch(pen: ImageDraw.ImageDraw, x: int, y: int, on: bool, color: str) -> None:
    track = color if on else "#9a9ca5"
    pen.rounded_rectangle((x - 64, y - 36, x + 64, y + 36), 36, fill=track)
    knob = x + 28 if on else x - 28
    pen.ellipse((knob - 28, y - 28, knob + 28, y + 28), fill="#ffffff")


def _slider(pen: ImageDraw.ImageDraw, bounds: Rect, value: float, color: str) -> None:
    y = bounds.center[1]
    knob = bounds.left + 40 + round(value * (bounds.width - 80))
    pen.line((bounds.left + 40, y, bounds.right - 40, y), fill="#9a9ca5", width=10)
    pen.line((bounds.left + 40, y, knob, y), fill=color, width=10)
    pen.ellipse((knob - 26, y - 26, knob + 26, y + 26), fill=color)


_LINES: dict[str, tuple[tuple[int, int, int, int], ...]] = {
    "back": ((-30, 0, 30, 0), (-30, 0, -4, -26), (-30, 0, -4, 26)),
    "nav-back": ((20, -28, -22, 0), (-22, 0, 20, 28), (20, 28, 20, -28)),
    "plus": ((-32, 0, 32, 0), (0, -32, 0, 32)),
    "close": ((-24, -24, 24, 24), (-24, 24, 24, -24)),
    "search": ((8, 8, 30, 30),),
    "send": ((-28, -28, 32, 0), (32, 0, -28, 28), (-28, 28, -16, 0), (-16, 0, -28, -28)),
    "delete": ((-22, -22, 22, -22), (-18, -22, -14, 28), (18, -22, 14, 28), (-14, 28, 14, 28)),
    "check": ((-28, 2, -8, 22), (-8, 22, 30, -22)),
    "recents": ((-26, -26, 26, -26), (26, -26, 26, 26), (26, 26, -26, 26), (-26, 26, -26, -26)),
}


def _stroke(pen: ImageDraw.ImageDraw, name: str, x: int, y: int, color: str) -> None:
    for x1, y1, x2, y2 in _LINES.get(name, ()):
        pen.line((x + x1, y + y1, x + x2, y + y2), fill=color, width=7)
    if name == "search":
        pen.ellipse((x - 28, y - 28, x + 12, y + 12), outline=color, width=7)
    elif name == "nav-home":
        pen.ellipse((x - 28, y - 28, x + 28, y + 28), outline=color, width=7)
