"""The few tasks that the demo understands, in English and partly in Chinese."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

KNOWN = (
    "turn Wi-Fi, Bluetooth, the dark theme or airplane mode on or off; write a note saying ...; "
    "tell the verification code in my messages; open APP; go home"
)


@dataclass(frozen=True)
class Setting:
    """``path``: menu entries from the top of Settings; ``switches``: the names of the switch."""

    title: str
    word: re.Pattern[str]
    path: tuple[str, ...]
    switches: tuple[str, ...]


@dataclass(frozen=True)
class Toggle:
    setting: Setting
    on: bool


@dataclass(frozen=True)
class WriteNote:
    text: str


@dataclass(frozen=True)
class FindCode:
    pass


@dataclass(frozen=True)
class OpenApp:
    app: str


@dataclass(frozen=True)
class GoHome:
    pass


Goal = Toggle | WriteNote | FindCode | OpenApp | GoHome


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


SETTINGS = (
    Setting(
        "Wi-Fi",
        _words(r"wi[-‑ ]?fi|wlan|无线网络"),
        ("network & internet", "网络和互联网", "internet", "互联网", "wi-fi", "wlan"),
        ("wi-fi", "use wi-fi", "wlan", "use wlan", "使用 wlan"),
    ),
    Setting(
        "Bluetooth",
        _words("bluetooth|蓝牙"),
        ("connected devices", "已连接的设备", "connection preferences", "bluetooth", "蓝牙"),
        ("bluetooth", "use bluetooth", "蓝牙", "使用蓝牙"),
    ),
    Setting(
        "dark theme",
        _words(r"(?:dark|night) (?:theme|mode)|深色主题|深色模式|夜间模式"),
        ("display", "显示", "dark theme", "深色主题"),
        ("dark theme", "use dark theme", "dark mode", "深色主题", "使用深色主题"),
    ),
    Setting(
        "airplane mode",
        _words(r"(?:airplane|aeroplane|flight) mode|飞行模式"),
        ("network & internet", "网络和互联网"),
        ("airplane mode", "飞行模式"),
    ),
)

_NEGATED = _words(r"\b(?:not|never|without)\b|n['’]t\b|不要|别")
_VERB = _words(r"\b(?:turn|switch|set|put|enable|disable|activate|deactivate)\b|[开关启停禁]")
_ON = _words(r"\b(?:on|enable|activate)\b|打开|开启|启用")
_OFF = _words(r"\b(?:off|disable|deactivate)\b|关闭|关掉|关上|禁用|停用")
_NOTE = (
    _words(
        r"^(?:please )?(?:write|make|create|add|take)(?: me)? (?:a |an |the )?(?:new |short )?note"
        r"(?: (?:saying|that says|which says|reading|with the text|with)|:)[:,]? *(.+)$"
    ),
    _words(r"^请?(?:帮我)?(?:写|新建|添加|创建|记)(?:一[条个则张])?(?:笔记|便签|备忘录|备忘)"
           r"[，,：: ]*(?:内容)?(?:写着|写|为|是)?[，,：: ]*(.+)$"),
)  # fmt: skip
_CODE = _words(
    r"\b(?:verification|security|one[- ]time|login|sms|confirmation) (?:code|password)|验证码"
)
_OPEN = (
    _words(r"^(?:please )?(?:open|launch|start)(?: up)? (?:the )?(.+?)(?: app)?$"),
    _words(r"^请?(?:帮我)?(?:打开|启动) ?(.+?)(?:应用)?$"),
)
_HOME = _words(r"^(?:please )?(?:go|return|press)(?: back)?(?: to)?(?: the)? home(?: ?screen)?$|"
               r"^请?(?:回到|返回|回)(?:桌面|主屏幕|主屏)$")  # fmt: skip
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "«": "»"}
_SEVERAL = _words(r" and | then |,|;|，|；|然后|并")


def read_goal(task: str) -> Goal | None:
    """The goal of a task, None when it is none of the known ones or says more than one thing."""
    task = task.strip()
    readers: tuple[Callable[[str], Goal | None], ...] = (_note, _plain)
    return next((goal for reader in readers if (goal := reader(task)) is not None), None)


def _note(task: str) -> Goal | None:
    """Read first: the text of a note may hold any of the other words."""
    for pattern in _NOTE:
        match = pattern.match(task)
        if match:
            text = _unquoted(match[1].strip())
            return WriteNote(text) if text else None
    return None


def _plain(task: str) -> Goal | None:
    if _NEGATED.search(task):
        return None
    line = " ".join(task.rstrip(" .!?。！？").split())
    settings = [setting for setting in SETTINGS if setting.word.search(line)]
    if settings and _VERB.search(line):
        return _toggle(settings, line)
    if _CODE.search(line):
        return FindCode()
    if _HOME.match(line):
        return GoHome()
    match = next((found for pattern in _OPEN if (found := pattern.match(line))), None)
    if match and not _SEVERAL.search(match[1]):
        return OpenApp(_unquoted(match[1]))
    return None


def _toggle(settings: list[Setting], line: str) -> Goal | None:
    on, off = bool(_ON.search(line)), bool(_OFF.search(line))
    # half of a task done is not the task done
    return Toggle(settings[0], on) if on != off and len(settings) == 1 else None


def _unquoted(text: str) -> str:
    """The text between quotes when it begins with one; a full stop behind them goes too."""
    closing = _QUOTES.get(text[:1])
    if closing is None:
        return text
    inner = text.rstrip(" .。")
    return inner[1:-1] if len(inner) > 2 and inner.endswith(closing) else text
