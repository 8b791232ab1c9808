"""The on-screen keyboard: a window of its own package, there while a text field has the focus."""

from __future__ import annotations

from functools import partial

from device_tools.virtual.state import WIDTH, PhoneState
from device_tools.virtual.ui import editing
from device_tools.virtual.views.theme import theme
from device_tools.virtual.views.view import FRAME, Action, Rect, Style, View, Window
from device_tools.virtual.views.widgets import KEYBOARD_TOP

PACKAGE = "com.android.inputmethod.latin"
_KEY = "com.android.inputmethod.keyboard.Key"
_LETTERS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_SYMBOLS = ("1234567890", "@#$%&-+()", "*\"':;!?")
_ROW = 185


def window(state: PhoneState, on_enter: Action) -> Window:
    """Four rows; ``on_enter`` is what the focused field does with the enter key."""
    look = theme(state)
    rows = _SYMBOLS if state.symbols else _LETTERS
    keys = [key for number, chars in enumerate(rows) for key in _row(state, number, chars)]
    keys += _edges(state)
    keys += _bottom(state, on_enter)
    root = View(
        Rect(0, KEYBOARD_TOP, WIDTH, 2268),
        FRAME,
        rid="keyboard_view",
        children=tuple(keys),
        style=Style(fill=look.surface),
    )
    return Window(PACKAGE, "InputMethod", root, focusable=False)


def _row(state: PhoneState, number: int, chars: str) -> list[View]:
    width = WIDTH // 10
    left = (WIDTH - width * len(chars)) // 2
    shown = chars.upper() if state.shift else chars
    return [
        _key(
            state,
            char,
            char,
            Rect(left + width * place, 0, left + width * (place + 1), 0),
            number,
            partial(_letter, state, char),
        )
        for place, char in enumerate(shown)
    ]


def _letter(state: PhoneState, char: str) -> None:
    editing.insert(state, char)
    state.shift = False


def _edges(state: PhoneState) -> list[View]:
    def shift() -> None:
        state.shift = not state.shift

    return [
        _key(state, "⇧", "Shift", Rect(0, 0, 156, 0), 2, shift),
        _key(state, "⌫", "Delete", Rect(924, 0, WIDTH, 0), 2, lambda: editing.backspace(state)),
    ]


def _bottom(state: PhoneState, on_enter: Action) -> list[View]:
    def symbols() -> None:
        state.symbols = not state.symbols

    label, desc = ("ABC", "Letters") if state.symbols else ("?123", "Symbols")
    return [
        _key(state, label, desc, Rect(0, 0, 170, 0), 3, symbols),
        _key(state, ",", "Comma", Rect(170, 0, 290, 0), 3, lambda: editing.insert(state, ",")),
        _key(
            state, "English", "Space", Rect(290, 0, 790, 0), 3, lambda: editing.insert(state, " ")
        ),
        _key(state, ".", "Period", Rect(790, 0, 910, 0), 3, lambda: editing.insert(state, ".")),
        _key(state, "↵", "Enter", Rect(910, 0, WIDTH, 0), 3, on_enter),
    ]


def _key(state: PhoneState, label: str, desc: str, across: Rect, row: int, click: Action) -> View:
    look = theme(state)
    top = KEYBOARD_TOP + 14 + _ROW * row
    place = Rect(across.left + 6, top + 8, across.right - 6, top + _ROW - 8)
    size = 34 if len(label) > 2 else 56
    return View(
        place,
        _KEY,
        label,
        desc=desc,
        on_click=click,
        style=Style(fill=look.background, color=look.text, size=size, align="center", radius=18),
    )
