"""Tool calls in a Chat Completions delta: wire entries to ``CallDelta``, attributing nothing.

Servers leave out indexes, ids and names, send them as null or "", and send arguments as an
object; all that is only normalised here, ``bridge.cst`` decides what it means.
"""

from __future__ import annotations

import json
from typing import Any

from bridge.conversation.stream import CallDelta

_ODD_NAMES = ("parameters", "input")
_ODD_PLACES = ("arguments", *_ODD_NAMES)


def call_deltas(entries: object, *, null_words: bool = False) -> list[CallDelta]:
    """One fragment per entry. ``null_words``: the word "null" as id or name is null.

    Raises ValueError: not the shape of tool calls; the message says what.
    """
    if not isinstance(entries, list):
        raise ValueError("tool calls that are not a list")
    return [_delta(entry, null_words) for entry in entries]


def _delta(entry: object, null_words: bool) -> CallDelta:
    if not isinstance(entry, dict):
        raise ValueError("a tool call that is not an object")
    function = entry.get("function") or {}
    if not isinstance(function, dict) or entry.get("type") not in (None, "", "function"):
        raise ValueError("a tool call that is not a function call")
    odd = (*(entry.get(name) for name in _ODD_PLACES), *(function.get(name) for name in _ODD_NAMES))
    if any(odd):
        # left out they would make a call of no arguments
        raise ValueError("the arguments of a tool call in an unknown place")
    arguments = function.get("arguments")
    whole = isinstance(arguments, dict)
    none = ("", "null") if null_words else ("",)
    call_id, name = _text(entry.get("id")), _text(function.get("name"))
    return CallDelta(
        _key(entry.get("index")),
        "" if call_id in none else call_id,
        "" if name in none else name,
        json.dumps(arguments, ensure_ascii=False) if whole else _text(arguments),
        whole,
    )


def _key(index: Any) -> str:
    if isinstance(index, bool) or not isinstance(index, int | str | None):
        raise ValueError("a tool call with an odd index")
    return "" if index is None else str(index)


def _text(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError("a tool call whose parts are not text")
    return value
