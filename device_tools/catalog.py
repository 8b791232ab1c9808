"""Every phone tool as plain data: nothing is executed here and importing needs no phone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from device_tools.schema import Effect, ToolSpec, arguments_schema
from device_tools.system.catalog import SYSTEM_TOOLS

MAX_PIXEL = 20_000
MAX_TEXT = 10_000

_SPACE: Mapping[str, Any] = {
    "enum": ["screenshot", "screen"],
    "description": "screenshot (default): pixels of the picture you were shown; "
    "screen: device pixels",
}
_INDEX: Mapping[str, Any] = {
    "type": "integer",
    "minimum": 1,
    "maximum": 9999,
    "description": "number of the element in the newest element list",
}
_KEYS = [
    "back", "home", "recent", "enter", "delete", "tab", "search", "menu",
    "up", "down", "left", "right", "volume_up", "volume_down", "volume_mute", "power",
]  # fmt: skip


def _pixel(what: str) -> Mapping[str, Any]:
    return {"type": "integer", "minimum": 0, "maximum": MAX_PIXEL, "description": what}


def _millis(what: str, low: int, high: int) -> Mapping[str, Any]:
    return {"type": "integer", "minimum": low, "maximum": high, "description": what}


OBSERVE_SCREEN = ToolSpec(
    "observe_screen",
    "Look at the screen: a numbered list of its elements and a screenshot.",
    arguments_schema(
        {"screenshot": {"type": "boolean", "description": "false leaves the picture out"}}
    ),
    effect=Effect.NONE,
)
TAP = ToolSpec(
    "tap",
    "Tap one point. Prefer tap_element when the target is in the element list.",
    arguments_schema({"x": _pixel("x"), "y": _pixel("y"), "coordinate_space": _SPACE}, ["x", "y"]),
)
TAP_ELEMENT = ToolSpec(
    "tap_element",
    "Tap an element of the newest element list by its number.",
    arguments_schema({"index": _INDEX}, ["index"]),
)
LONG_PRESS = ToolSpec(
    "long_press",
    "Press one point and hold it.",
    arguments_schema(
        {
            "x": _pixel("x"),
            "y": _pixel("y"),
            "duration_ms": _millis("default 800", 300, 10_000),
            "coordinate_space": _SPACE,
        },
        ["x", "y"],
    ),
)
SWIPE = ToolSpec(
    "swipe",
    "Swipe from one point to another.",
    arguments_schema(
        {
            "x1": _pixel("start x"),
            "y1": _pixel("start y"),
            "x2": _pixel("end x"),
            "y2": _pixel("end y"),
            "duration_ms": _millis("default 300", 50, 10_000),
            "coordinate_space": _SPACE,
        },
        ["x1", "y1", "x2", "y2"],
    ),
)
SCROLL = ToolSpec(
    "scroll",
    "Scroll to see more content in a direction: down shows what is further down.",
    arguments_schema(
        {
            "direction": {"enum": ["up", "down", "left", "right"]},
            "index": {**_INDEX, "description": "scroll inside this element; default: the screen"},
        },
        ["direction"],
    ),
)
TYPE_TEXT = ToolSpec(
    "type_text",
    "Type text into a field. One final newline is dropped. The field is read back afterwards.",
    arguments_schema(
        {
            "text": {"type": "string", "maxLength": MAX_TEXT},
            "index": {**_INDEX, "description": "the field; default: the focused one"},
            "mode": {"enum": ["append", "replace"], "description": "default append"},
        },
        ["text"],
    ),
)
PRESS_KEY = ToolSpec(
    "press_key",
    "Press a key of the phone.",
    arguments_schema({"key": {"enum": _KEYS}}, ["key"]),
)
OPEN_APP = ToolSpec(
    "open_app",
    "Open an app by its name or package.",
    arguments_schema({"app": {"type": "string", "minLength": 1, "maxLength": 200}}, ["app"]),
)
LIST_APPS = ToolSpec(
    "list_apps",
    "List the installed apps that can be opened: name and package.",
    arguments_schema(
        {"query": {"type": "string", "maxLength": 100, "description": "part of name or package"}}
    ),
    effect=Effect.NONE,
)
CURRENT_APP = ToolSpec(
    "current_app",
    "Tell the app and activity in the foreground.",
    arguments_schema({}),
    effect=Effect.NONE,
)
WAIT_FOR = ToolSpec(
    "wait_for",
    "Wait until a text is on the screen, or gone from it.",
    arguments_schema(
        {
            "text": {"type": "string", "minLength": 1, "maxLength": 500},
            "gone": {"type": "boolean", "description": "true waits until it is gone"},
            "timeout_ms": _millis("default 5000", 100, 30_000),
        },
        ["text"],
    ),
    effect=Effect.NONE,
)

PHONE_TOOLS: tuple[ToolSpec, ...] = (
    OBSERVE_SCREEN, TAP, TAP_ELEMENT, LONG_PRESS, SWIPE, SCROLL, TYPE_TEXT,
    PRESS_KEY, OPEN_APP, LIST_APPS, CURRENT_APP, WAIT_FOR,
)  # fmt: skip

ALL_PHONE_TOOLS: tuple[ToolSpec, ...] = (*PHONE_TOOLS, *SYSTEM_TOOLS)
"""What a run offers: the screen's tools first, then those on plain adb (system/catalog.py)."""
