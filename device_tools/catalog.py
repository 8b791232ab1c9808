"""Every phone tool as plain data: nothing is executed here and importing needs no phone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from device_tools.schema import Effect, RiskGroup, ToolSpec, arguments_schema
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
        {
            "screenshot": {"type": "boolean", "description": "false leaves the picture out"},
            "numbers": {"type": "boolean", "description": "true draws the numbers on the picture"},
            "first": {**_INDEX, "description": "list from this number on, in very long lists"},
        }
    ),
    effect=Effect.NONE,
)
_LINE = {
    "x1": _pixel("start x"),
    "y1": _pixel("start y"),
    "x2": _pixel("end x"),
    "y2": _pixel("end y"),
}
_CORNERS = {
    "x1": _pixel("left"),
    "y1": _pixel("top"),
    "x2": _pixel("right"),
    "y2": _pixel("bottom"),
}
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
            **_LINE,
            "duration_ms": _millis("default 300", 50, 10_000),
            "coordinate_space": _SPACE,
        },
        list(_LINE),
    ),
)
TAP_AREA = ToolSpec(
    "tap_area",
    "Tap the middle of a rectangle, such as one seen in the picture.",
    arguments_schema({**_CORNERS, "coordinate_space": _SPACE}, list(_CORNERS)),
)
LONG_PRESS_ELEMENT = ToolSpec(
    "long_press_element",
    "Press an element of the list and hold it.",
    arguments_schema(
        {"index": _INDEX, "duration_ms": _millis("default 800", 300, 10_000)}, ["index"]
    ),
)
DRAG = ToolSpec(
    "drag",
    "Hold what is at one point, move it to another, let go.",
    arguments_schema(
        {
            **_LINE,
            "duration_ms": _millis("default 800", 100, 10_000),
            "coordinate_space": _SPACE,
        },
        list(_LINE),
    ),
)
PINCH = ToolSpec(
    "pinch",
    "Two fingers inside a rectangle: out shows things larger, in smaller.",
    arguments_schema(
        {
            "direction": {"enum": ["in", "out"]},
            **_CORNERS,
            "duration_ms": _millis("default 500", 100, 5_000),
            "coordinate_space": _SPACE,
        },
        ["direction", *_CORNERS],
    ),
)
_DIRECTION: Mapping[str, Any] = {"enum": ["up", "down", "left", "right"]}
SCROLL = ToolSpec(
    "scroll",
    "Scroll the screen to see more in a direction: down shows what is further down.",
    arguments_schema({"direction": _DIRECTION}, ["direction"]),
)
SCROLL_ELEMENT = ToolSpec(
    "scroll_element",
    "Scroll inside one element of the list.",
    arguments_schema({"index": _INDEX, "direction": _DIRECTION}, ["index", "direction"]),
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
CLEAR_TEXT = ToolSpec(
    "clear_text",
    "Empty a text field.",
    arguments_schema({"index": {**_INDEX, "description": "the field; default: the focused one"}}),
)
TYPE_SECRET = ToolSpec(
    "type_secret",
    "Type a secret of the user into a field in place of what it holds. You give its name only.",
    arguments_schema(
        {
            "name": {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_]*$", "maxLength": 64},
            "index": {**_INDEX, "description": "the field; default: the focused one"},
        },
        ["name"],
    ),
    RiskGroup.SENSITIVE_ACTION,
)
CLIPBOARD_GET = ToolSpec(
    "clipboard_get",
    "Read the phone's clipboard. Android 10 and newer may keep it from us.",
    arguments_schema({}),
    RiskGroup.SENSITIVE_READ,
    Effect.NONE,
)
CLIPBOARD_SET = ToolSpec(
    "clipboard_set",
    "Put text on the phone's clipboard. One final newline is dropped.",
    arguments_schema({"text": {"type": "string", "maxLength": MAX_TEXT}}, ["text"]),
    RiskGroup.SENSITIVE_ACTION,
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
CLOSE_APP = ToolSpec(
    "close_app",
    "Stop an app, with what it does in the background.",
    arguments_schema({"app": {"type": "string", "minLength": 1, "maxLength": 200}}, ["app"]),
)
OPEN_URL = ToolSpec(
    "open_url",
    "Open a web address or another link in the app that answers it.",
    arguments_schema(
        {
            "url": {
                "type": "string",
                "pattern": "^[A-Za-z][A-Za-z0-9+.-]*:[^\\s\\x00-\\x1f]+$",
                "maxLength": 2000,
                "description": "with its scheme, such as https: or geo:",
            }
        },
        ["url"],
    ),
)
LIST_APPS = ToolSpec(
    "list_apps",
    "List the installed apps that can be opened: name, package, version code.",
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
    OBSERVE_SCREEN, TAP, TAP_AREA, TAP_ELEMENT, LONG_PRESS, LONG_PRESS_ELEMENT, SWIPE, SCROLL,
    SCROLL_ELEMENT, DRAG, PINCH, TYPE_TEXT, CLEAR_TEXT, PRESS_KEY, WAIT_FOR, OPEN_APP, CLOSE_APP,
    LIST_APPS, OPEN_URL, CURRENT_APP, TYPE_SECRET, CLIPBOARD_GET, CLIPBOARD_SET,
)  # fmt: skip

ALL_PHONE_TOOLS: tuple[ToolSpec, ...] = (*PHONE_TOOLS, *SYSTEM_TOOLS)
"""What a run offers: the screen's tools first, then those on plain adb (system/catalog.py)."""
