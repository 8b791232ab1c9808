"""Text editing in the focused field of the foreground screen. The cursor is always at the end."""

from __future__ import annotations

from device_tools.virtual.state import PhoneState


def focus(state: PhoneState, name: str) -> None:
    """Give a field the focus; the keyboard comes up."""
    state.screen.focus = name
    state.screen.selected_all = False
    state.keyboard = True
    state.symbols = state.shift = False


def insert(state: PhoneState, text: str) -> bool:
    """Type text; it replaces a selection. False without a focused field."""
    screen = state.screen
    if not screen.focus:
        return False
    before = "" if screen.selected_all else screen.fields.get(screen.focus, "")
    screen.fields[screen.focus] = before + text
    screen.selected_all = False
    return True


def replace(state: PhoneState, name: str, text: str) -> None:
    """Set a field's whole text (ACTION_SET_TEXT); the focus does not move."""
    state.screen.fields[name] = text
    state.screen.selected_all = False


def select_all(state: PhoneState) -> None:
    state.screen.selected_all = bool(state.screen.focus)


def backspace(state: PhoneState) -> bool:
    """Delete the selection or the last character. False without a focused field."""
    screen = state.screen
    if not screen.focus:
        return False
    text = screen.fields.get(screen.focus, "")
    screen.fields[screen.focus] = "" if screen.selected_all else text[:-1]
    screen.selected_all = False
    return True
