"""Hardware and navigation keys: by uiautomator's names and by Android's key codes."""

from __future__ import annotations

from collections.abc import Callable

from device_tools.virtual.apps import browser
from device_tools.virtual.state import PhoneState
from device_tools.virtual.ui import editing

_CODES = {
    "home": 3, "back": 4, "up": 19, "down": 20, "left": 21, "right": 22, "center": 23,
    "volume_up": 24, "volume_down": 25, "power": 26, "camera": 27, "tab": 61, "space": 62,
    "enter": 66, "delete": 67, "del": 67, "menu": 82, "search": 84, "escape": 111,
    "forward_del": 112, "move_end": 123, "volume_mute": 164, "recent": 187, "app_switch": 187,
    "sleep": 223, "wakeup": 224, "paste": 279,
}  # fmt: skip
_UIAUTOMATOR = frozenset(
    [
        "home",
        "back",
        "left",
        "right",
        "up",
        "down",
        "center",
        "menu",
        "search",
        "enter",
        "delete",
        "del",
        "recent",
        "volume_up",
        "volume_down",
        "volume_mute",
        "camera",
        "power",
    ]
)
_SYMBOLS = {55: ",<", 56: ".>", 68: "`~", 69: "-_", 70: "=+", 71: "[{", 72: "]}", 73: "\\|",
            74: ";:", 75: "'\"", 76: "/?", 77: "@@", 81: "++", 17: "**", 18: "##"}  # fmt: skip
META_SHIFT, META_CTRL = 0x1, 0x1000


def press_key(state: PhoneState, name: str) -> bool:
    """A key by uiautomator's name; False for an unknown one."""
    return name in _UIAUTOMATOR and press_code(state, _CODES[name])


def code_of(name: str) -> int | None:
    """Key code of ``KEYCODE_HOME``, ``HOME``, ``A`` or ``3``; None when there is no such key."""
    word = name.upper().removeprefix("KEYCODE_").lower()
    if word.isdigit() and name.isdigit() and len(word) > 1:
        return int(word)
    if len(word) == 1 and word.isascii() and word.isalpha():
        return 29 + ord(word) - ord("a")
    if len(word) == 1 and word.isdigit():
        return int(word) if name.isdigit() else 7 + int(word)
    return _CODES.get(word)


def press_code(state: PhoneState, code: int, meta: int = 0) -> bool:
    """A key by its code. True as Android answers for every injected key, used or not."""
    if code in _ACTIONS:
        _ACTIONS[code](state)
    elif meta & META_CTRL and code == 29:
        editing.select_all(state)
    elif meta & META_CTRL and code == 50:
        editing.insert(state, state.clipboard or "")
    else:
        char = _character(code, bool(meta & META_SHIFT))
        if char:
            editing.insert(state, char)
    return True


def _character(code: int, shift: bool) -> str:
    if 29 <= code <= 54:
        letter = chr(ord("a") + code - 29)
        return letter.upper() if shift else letter
    if 7 <= code <= 16:
        return ")!@#$%^&*("[code - 7] if shift else str(code - 7)
    return _SYMBOLS.get(code, "  ")[shift] if code in _SYMBOLS else (" " if code == 62 else "")


def back(state: PhoneState) -> None:
    """Shade, keyboard, page history, screen: the first that is there goes."""
    if state.shade:
        state.shade = ""
    elif state.keyboard:
        state.keyboard = False
    elif state.screen.package == browser.PACKAGE and browser.go_back(state.screen):
        state.screen.scroll.clear()
    elif state.screen.args.pop("drawer", None) is None:
        state.close()


def _power(state: PhoneState) -> None:
    state.screen_on = not state.screen_on


def _set_screen(on: bool) -> Callable[[PhoneState], None]:
    def run(state: PhoneState) -> None:
        state.screen_on = on

    return run


def _volume(step: int) -> Callable[[PhoneState], None]:
    def run(state: PhoneState) -> None:
        system = state.settings["system"]
        system["volume_music"] = str(min(15, max(0, state.number("volume_music") + step)))

    return run


def _play(playing: bool | None) -> Callable[[PhoneState], None]:
    """None is the key that does either."""

    def run(state: PhoneState) -> None:
        state.playing = not state.playing if playing is None else playing

    return run


def _mute(state: PhoneState) -> None:
    state.settings["system"]["volume_music"] = "0"


def _backspace(state: PhoneState) -> None:
    editing.backspace(state)


def _paste(state: PhoneState) -> None:
    editing.insert(state, state.clipboard or "")


_ACTIONS: dict[int, Callable[[PhoneState], None]] = {
    3: PhoneState.home, 4: back, 24: _volume(1), 25: _volume(-1), 26: _power, 67: _backspace,
    85: _play(None), 86: _play(False), 111: back, 126: _play(True), 127: _play(False),
    164: _mute, 187: PhoneState.recents, 223: _set_screen(False),
    224: _set_screen(True), 279: _paste,
}  # fmt: skip
