"""The JSON of a wire: objects whose keys stand once, and counts of tokens.

A key that is given twice says two things, and Python's own reader keeps the last without a word:
a call would run with arguments that the model contradicted.
"""

from __future__ import annotations

import json
from typing import Any


def wire_object(data: str) -> dict[str, Any]:
    """``data`` as one JSON object.

    Raises ValueError: anything else, in words that follow "sent".
    """
    try:
        value = json.loads(data, object_pairs_hook=_once)
    except _Twice:
        raise ValueError("JSON that gives a key twice") from None
    except (ValueError, RecursionError):
        raise ValueError("data that is not JSON") from None
    if not isinstance(value, dict):
        raise ValueError("JSON that is not an object")
    return value


def token_count(value: object) -> int | None:
    """A number of tokens, None for anything that is none; some servers write ``10.0`` or "10"."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 12:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


class _Twice(Exception):
    pass


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Twice
    return found
