"""Draws the windows with Pillow: the same tree the hierarchy XML is made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from device_tools.virtual.views.fonts import font, is_cjk
from device_tools.virtual.views.icons import draw_icon
from device_tools.virtual.views.view import Node, Rect, Style, Window, root_node

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

_PAD = 24


def draw(windows: Sequence[Window], display: Rect, *, screen_on: bool = True) -> Image.Image:
    """One RGB picture of the display; windows run from bottom to top."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (display.width, display.height), "#000000")
    if not screen_on:
        return image
    pen = ImageDraw.Draw(image)
    for index, window in enumerate(windows):
        node = root_node(window, index, display)
        if window.secure:
            pen.rectangle(_box(node.bounds), fill="#000000")
        else:
            _draw_node(image, pen, node)
    return image


def _draw_node(image: Image.Image, pen: ImageDraw.ImageDraw, node: Node) -> None:
    view, style = node.view, node.view.style
    if style.fill:
        pen.rounded_rectangle(_box(node.bounds), style.radius, fill=style.fill)
    if view.focused:
        pen.rounded_rectangle(_box(node.bounds), max(style.radius, 8), outline="#2f5fc4", width=4)
    if style.icon:
        draw_icon(pen, style.icon, view.bounds, style.color, view.value)
    text = view.text or view.hint
    if text and style.color:
        faint = not view.text
        _draw_text(image, node, text, "#8a8d96" if faint else style.color, caret=view.focused)
    for child in node.children():
        _draw_node(image, pen, child)


def _draw_text(image: Image.Image, node: Node, text: str, color: str, *, caret: bool) -> None:
    """Text is clipped by drawing it on a copy of its place: Pillow draws over every edge."""
    from PIL import ImageDraw

    full, seen, style = node.view.bounds, node.bounds, node.view.style
    pad = _PAD if node.view.field else 0
    inner = Rect(full.left + pad, full.top + pad, full.right - pad, full.bottom - pad)
    patch = image.crop(_crop(seen))
    pen = ImageDraw.Draw(patch)
    height = round(style.size * 1.35)
    lines = wrap(text, style, inner.width, max(1, inner.height // height))
    free = inner.height - height * len(lines)
    top = inner.top + {"top": 0, "middle": free // 2, "bottom": free}[style.valign]
    x = inner.left
    for number, line in enumerate(lines):
        width = text_width(line, style)
        x = inner.left + round(
            {"left": 0.0, "center": 0.5, "right": 1.0}[style.align] * max(0, inner.width - width)
        )
        y = top + number * height
        x = _draw_line(pen, line, style, x - seen.left, y - seen.top, color) + seen.left
    if caret:
        y = top + (len(lines) - 1) * height - seen.top
        pen.line((x + 4 - seen.left, y, x + 4 - seen.left, y + height), fill="#2f5fc4", width=5)
    image.paste(patch, (seen.left, seen.top))


def _draw_line(
    pen: ImageDraw.ImageDraw, line: str, style: Style, x: int, y: int, color: str
) -> int:
    for cjk, run in _runs(line):
        face = font(style.size, cjk=cjk, bold=style.bold)
        baseline = y + round(style.size * 1.05)
        pen.text((x, baseline), run, font=face, fill=color, anchor="ls")
        x += round(face.getlength(run))
    return x


def text_width(line: str, style: Style) -> int:
    """Width of one line in pixels."""
    return sum(
        round(font(style.size, cjk=cjk, bold=style.bold).getlength(run)) for cjk, run in _runs(line)
    )


def wrap(text: str, style: Style, width: int, limit: int) -> list[str]:
    """Lines no wider than ``width``; at most ``limit``, the last then ends in an ellipsis."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        lines.extend(_wrap_paragraph(paragraph, style, width))
    if len(lines) > limit:
        last = lines[limit - 1]
        while last and text_width(last + "…", style) > width:
            last = last[:-1]
        lines = [*lines[: limit - 1], last + "…"]
    return lines


def _wrap_paragraph(text: str, style: Style, width: int) -> Iterable[str]:
    line = ""
    for word in _words(text):
        if line and text_width((line + word).rstrip(), style) > width:
            yield line.rstrip()
            line = word.lstrip()
        else:
            line += word
    yield line.rstrip() if line.strip() else line


def _words(text: str) -> Iterable[str]:
    """Latin words with the space before them; every CJK character is one."""
    word = ""
    for char in text:
        if is_cjk(char) or (char == " " and word.strip()):
            if word:
                yield word
            word = ""
        if is_cjk(char):
            yield char
        else:
            word += char
    if word:
        yield word


_UNDRAWABLE = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")


def _runs(line: str) -> Iterable[tuple[bool, str]]:
    # the text layout engine gives up on a line with several of these
    line = _UNDRAWABLE.sub("\ufffd", line)
    start = 0
    for index in range(1, len(line) + 1):
        if index == len(line) or is_cjk(line[index]) != is_cjk(line[start]):
            yield is_cjk(line[start]), line[start:index]
            start = index


def _box(rect: Rect) -> tuple[int, int, int, int]:
    return rect.left, rect.top, rect.right - 1, rect.bottom - 1


def _crop(rect: Rect) -> tuple[int, int, int, int]:
    return rect.left, rect.top, rect.right, rect.bottom
