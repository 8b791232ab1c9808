"""The tools on plain adb as plain data. Each description says what the tool needs, if anything
beyond adb's own rights; where a phone lacks it, the result says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from device_tools.schema import Effect, RiskGroup, ToolSpec, arguments_schema

MAX_ROWS = 100
MAX_DAYS = 365
_PACKAGE: Mapping[str, Any] = {
    "type": "string",
    "pattern": r"^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*$",
    "maxLength": 200,
    "description": "package, as list_apps tells it",
}
_FILE: Mapping[str, Any] = {
    "type": "string",
    "pattern": r"^[^/\\\x00-\x1f.][^/\\\x00-\x1f]*$",
    "maxLength": 120,
    "description": "name of a file in the exchange folder of this computer",
}
_PHONE_PATH: Mapping[str, Any] = {
    "type": "string",
    "pattern": r"^/(sdcard|storage/emulated/0|data/local/tmp)/[^\x00-\x1f]+$",
    "maxLength": 400,
    "description": "file on the phone, below /sdcard or /data/local/tmp",
}
_NAMESPACE: Mapping[str, Any] = {"enum": ["system", "secure", "global"]}
_KEY: Mapping[str, Any] = {
    "type": "string",
    "pattern": r"^[A-Za-z0-9][A-Za-z0-9_.:/-]*$",
    "maxLength": 200,
    "description": "such as screen_off_timeout",
}
_STREAMS = ["music", "ring", "notification", "alarm", "call", "system"]
STATES = ("force_stop", "freeze", "unfreeze")


def _whole(low: int, high: int, what: str = "") -> Mapping[str, Any]:
    schema: dict[str, Any] = {"type": "integer", "minimum": low, "maximum": high}
    return {**schema, "description": what} if what else schema


def _text(most: int, what: str) -> Mapping[str, Any]:
    return {"type": "string", "maxLength": most, "description": what}


_LIMIT = _whole(1, MAX_ROWS, "how many at most, default 20")


def _direct(
    name: str, about: str, properties: Mapping[str, Any], required: Sequence[str] = (),
    effect: Effect = Effect.NONE,
) -> ToolSpec:  # fmt: skip
    return ToolSpec(name, about, arguments_schema(properties, required), effect=effect)


def _read(
    name: str, about: str, properties: Mapping[str, Any], required: Sequence[str] = ()
) -> ToolSpec:
    schema = arguments_schema(properties, required)
    return ToolSpec(name, about, schema, RiskGroup.SENSITIVE_READ, Effect.NONE)


def _action(
    name: str, about: str, properties: Mapping[str, Any], required: Sequence[str] = (),
    effect: Effect = Effect.PHONE,
) -> ToolSpec:  # fmt: skip
    schema = arguments_schema(properties, required)
    return ToolSpec(name, about, schema, RiskGroup.SENSITIVE_ACTION, effect)


def _search(kind: str, about: str, *, dated: bool = False) -> ToolSpec:
    """``query`` is compared on the computer: no word of it reaches a shell or a database."""
    properties = {"query": _text(100, "words to find; default: the newest"), "limit": _LIMIT}
    if dated:
        properties["days"] = _whole(1, MAX_DAYS, "how far back, default 30")
    return _read(f"search_{kind}", about, properties)


DIRECT_TOOLS: tuple[ToolSpec, ...] = (
    _direct("device_status", "Model, Android version, battery, memory, storage, uptime.", {}),
    _direct("network_info", "Wi-Fi, addresses, mobile network, airplane mode.", {}),
    _direct("top_memory_apps", "Processes that hold the most memory.", {"limit": _LIMIT}),
    _direct(
        "top_storage_apps",
        "Apps that hold the most storage: app, data and cache. Android 8 or newer.",
        {"limit": _LIMIT},
    ),
    _direct(
        "media_control",
        "Control what plays sound. Answers what is playing then.",
        {"action": {"enum": ["play", "pause", "play_pause", "next", "previous", "stop"]}},
        ["action"],
        Effect.PHONE,
    ),
    _direct(
        "set_volume",
        "Set the volume of one kind of sound. Android 7 or newer.",
        {"percent": _whole(0, 100), "stream": {"enum": _STREAMS, "description": "default music"}},
        ["percent"],
        Effect.PHONE,
    ),
    _direct(
        "set_alarm",
        "Set an alarm in the clock app, for the next time it is this hour.",
        {"hour": _whole(0, 23), "minute": _whole(0, 59), "label": _text(100, "its name")},
        ["hour", "minute"],
        Effect.PHONE,
    ),
    _direct(
        "set_timer",
        "Start a timer in the clock app.",
        {"seconds": _whole(1, 86_400), "label": _text(100, "its name")},
        ["seconds"],
        Effect.PHONE,
    ),
)
SENSITIVE_READ_TOOLS: tuple[ToolSpec, ...] = (
    _read(
        "get_setting",
        "Read one Android setting.",
        {"namespace": _NAMESPACE, "key": _KEY},
        ["namespace", "key"],
    ),
    _read("wifi_credentials", "Saved Wi-Fi networks and their passwords. Needs root.", {}),
    _read(
        "recent_notifications",
        "Notifications that are shown now: app, title, text, time.",
        {"package": _PACKAGE, "limit": _LIMIT},
    ),
    _read(
        "notification_history",
        "Apps whose notifications were removed last, without their text.",
        {},
    ),
    _read(
        "recent_app_activity",
        "Which apps were opened and closed, newest first. Android 9 or newer.",
        {"limit": _LIMIT},
    ),
    _read(
        "app_usage_summary",
        "Time spent in each app.",
        {
            "period": {
                "enum": ["daily", "weekly", "monthly", "yearly"],
                "description": "default daily",
            },
            "limit": _LIMIT,
        },
    ),
    _read("get_current_location", "The newest position the phone knows, and how old it is.", {}),
    _read(
        "get_device_environment",
        "Time, time zone, language, sound mode, brightness, temperatures.",
        {},
    ),
    _read("list_alarms", "Alarms that are set: next time and app.", {}),
    _read(
        "read_sms_code",
        "The newest one-time codes received by SMS: code, sender, time.",
        {
            "minutes": _whole(1, 1440, "how far back, default 15"),
            "sender": _text(60, "part of the sender"),
        },
    ),
    _read(
        "get_logcat",
        "Newest lines of the system log.",
        {
            "text": _text(100, "keep lines with this text"),
            "tag": _text(60, "keep this tag"),
            "level": {
                "enum": ["V", "D", "I", "W", "E", "F"],
                "description": "lowest level, default V",
            },
            "lines": _whole(1, 500, "default 100"),
        },
    ),
    _search("media", "Pictures and videos: name, folder, size, time."),
    _search("audio", "Music and other sound files: title, artist, length."),
    _search("recordings", "Voice and call recordings."),
    _search("files", "Files in shared storage: path, size, time."),
    _search("downloads", "Downloaded files."),
    _search("calendar", "Calendar entries around now: title, start, end, place.", dated=True),
    _search("contacts", "Contacts: name and number."),
    _search("call_history", "Calls: name, number, direction, time, length.", dated=True),
    _search("messages", "SMS: sender or receiver, time, text.", dated=True),
)
SENSITIVE_ACTION_TOOLS: tuple[ToolSpec, ...] = (
    _action(
        "set_setting",
        "Write one Android setting; it is read back.",
        {"namespace": _NAMESPACE, "key": _KEY, "value": {"type": "string", "maxLength": 1000}},
        ["namespace", "key", "value"],
    ),
    _action(
        "set_device_state",
        "Switch Wi-Fi or Bluetooth. Wi-Fi off ends a connection to the phone over Wi-Fi.",
        {"device": {"enum": ["wifi", "bluetooth"]}, "on": {"type": "boolean"}},
        ["device", "on"],
    ),
    _action(
        "app_state_control",
        "Stop an app, or freeze it (it is disabled and hidden) and unfreeze it.",
        {"package": _PACKAGE, "action": {"enum": list(STATES)}},
        ["package", "action"],
    ),
    _action("install_app", "Install an APK from the exchange folder.", {"file": _FILE}, ["file"]),
    _action(
        "uninstall_app",
        "Remove an app with its data.",
        {"package": _PACKAGE},
        ["package"],
    ),
    _action(
        "send_file_to_phone",
        "Copy a file from the exchange folder to the phone.",
        {
            "file": _FILE,
            "path": _PHONE_PATH,
            "overwrite": {"type": "boolean", "description": "default false"},
        },
        ["file", "path"],
    ),
    _action(
        "get_file_from_phone",
        "Copy a file of the phone into the exchange folder; an existing one is never replaced.",
        {"path": _PHONE_PATH, "file": _FILE},
        ["path", "file"],
        Effect.HOST,
    ),
)
SYSTEM_TOOLS: tuple[ToolSpec, ...] = (
    *DIRECT_TOOLS, *SENSITIVE_READ_TOOLS, *SENSITIVE_ACTION_TOOLS,
)  # fmt: skip
