"""``input [SOURCE] [-d DISPLAY] tap|swipe|draganddrop|text|keyevent|press ...``."""

from __future__ import annotations

from collections.abc import Sequence

from device_tools.virtual.framework.reply import fail, out
from device_tools.virtual.ports import CommandResult
from device_tools.virtual.ui import keys
from device_tools.virtual.ui.screen import TouchScreen

_SOURCES = {"touchscreen", "keyboard", "mouse", "touchpad", "stylus", "dpad", "trackball"}
_USAGE = "Usage: input [<source>] [-d DISPLAY_ID] <command> [<arg>...]"
_DEFAULT_SWIPE_MS = 300.0


def input_command(screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    """Silent on success, like Android's."""
    words = list(args)
    while words and (words[0] in _SOURCES or words[0] == "-d"):
        del words[: 2 if words[0] == "-d" else 1]
    if not words:
        return fail(_USAGE, 255)
    verb, rest = words[0], words[1:]
    if verb == "text":
        return _text(screen, rest)
    if verb == "keyevent":
        return _keyevent(screen, rest)
    if verb in ("tap", "swipe", "draganddrop"):
        return _touch(screen, verb, rest)
    return fail(f"Error: Unknown command: {verb}\n{_USAGE}", 255)


def _touch(screen: TouchScreen, verb: str, rest: Sequence[str]) -> CommandResult:
    try:
        numbers = [float(word) for word in rest]
    except ValueError as error:
        return fail(f"Error: Invalid arguments for command: {verb} ({error})\n{_USAGE}", 255)
    if verb == "tap" and len(numbers) == 2:
        screen.click(numbers[0], numbers[1])
    elif verb != "tap" and len(numbers) in (4, 5):
        x1, y1, x2, y2, ms = [*numbers, _DEFAULT_SWIPE_MS][:5]
        name = "swipe" if verb == "swipe" else "drag"
        screen.swipe(x1, y1, x2, y2, name=name, ms=ms)
    else:
        return fail(f"Error: Invalid arguments for command: {verb}\n{_USAGE}", 255)
    return out()


def _text(screen: TouchScreen, rest: Sequence[str]) -> CommandResult:
    if len(rest) != 1:
        return fail(f"Error: Invalid arguments for command: text\n{_USAGE}", 255)
    text = rest[0].replace("%s", " ")
    if not text.isascii():
        # the real command dies here: its key map has no such characters
        return fail(
            "\nException occurred while executing 'text':\njava.lang.NullPointerException: "
            "Attempt to get length of null array",
            255,
        )
    screen.text(text)
    return out()


def _keyevent(screen: TouchScreen, rest: Sequence[str]) -> CommandResult:
    names = [word for word in rest if not word.startswith("--")]
    codes = [keys.code_of(name) for name in names]
    if not names:
        return fail(f"Error: Invalid arguments for command: keyevent\n{_USAGE}", 255)
    for code in codes:
        if code is not None:
            screen.key(code)
    return out()
