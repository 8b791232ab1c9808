"""Types an argument's text by the schema of its property; never guesses, never unquotes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

_PYTHON: Mapping[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def typed(text: str, schema: Mapping[str, Any] | None) -> Any:
    """``text`` as a value of the schema's ``type`` by strict JSON (RFC 8259; no NaN, no
    duplicate keys). Strings, and whatever is not of its type, stay the text as it is:
    validation refuses those. A schema without ``type`` (an enum) means a string."""
    kinds = schema.get("type", "string") if schema else "string"
    names = [kinds] if isinstance(kinds, str) else list(kinds)
    if "string" in names:
        return text
    try:
        value = whole_text(strict_json(text))
    except ValueError:
        return text
    return value if any(_is(value, name) for name in names) else text


def strict_json(text: str) -> Any:
    """The value of a JSON text. ValueError: not JSON by RFC 8259, a key given twice, a number out
    of range, nested too deep."""
    try:
        return json.loads(
            text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_unique
        )
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def json_object(text: str) -> Mapping[str, Any]:
    """``text`` as exactly one JSON object with nothing after it, by the same strict rules.

    Raises ValueError: it is anything else; nothing is repaired.
    """
    value = strict_json(text)
    if not isinstance(value, dict):
        raise ValueError("it is JSON of another kind")
    found: Mapping[str, Any] = whole_text(value)
    return found


def whole_text(value: Any) -> Any:
    """``value`` itself. ValueError: \\ud800 escapes spell half a character in it, which no tool
    could pass on."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("it holds half a character") from None
    except RecursionError:
        raise ValueError("nested too deep") from None
    return value


def _is(value: object, name: str) -> bool:
    if isinstance(value, bool) and name != "boolean":
        return False
    return isinstance(value, _PYTHON.get(name, ()))


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is out of range")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice")
    return found
