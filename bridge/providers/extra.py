"""The user's additions to a request body, and what of them thinking off takes away again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from bridge.errors import ConfigurationError
from bridge.providers.wire import RequestOptions

RESERVED = frozenset(
    {
        "model", "messages", "input", "system", "instructions", "stream", "tools", "tool_choice",
        "functions", "function_call", "store", "previous_response_id", "conversation", "n", "stop",
        "stop_sequences", "background",
    }
)  # fmt: skip
"""What the runtime itself decides: another value would break the loop or its promises."""


def with_extra(
    body: dict[str, Any], options: RequestOptions, thinking_keys: Collection[str]
) -> dict[str, Any]:
    """``body`` with ``options.extra`` laid over it, tables into tables.

    ``thinking_keys`` are the wire's fields about thinking, dotted where they lie deeper; with
    thinking "off" none of them is left.

    Raises:
        ConfigurationError: the extra names a field that is the runtime's.
    """
    check_extra(options.extra)
    whole = _laid_over(body, options.extra)
    if options.thinking == "off":
        for key in thinking_keys:
            _remove(whole, key.split("."))
    return whole


def check_extra(extra: Mapping[str, Any]) -> None:
    """Raises ConfigurationError: the extra names a field that is the runtime's."""
    if reserved := sorted(RESERVED & extra.keys()):
        raise ConfigurationError(
            f"the setting request must not hold {', '.join(reserved)}",
            advice="these fields are the runtime's own; the model is chosen with --model",
        )


def _laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    whole = dict(below)
    for key, value in above.items():
        under = whole.get(key)
        both = isinstance(value, Mapping) and isinstance(under, Mapping)
        whole[key] = _laid_over(under, value) if both and under is not None else value
    return whole


def _remove(table: dict[str, Any], path: list[str]) -> None:
    """Take ``path`` out of ``table``, and tables that became empty by it."""
    key, *rest = path
    if not rest:
        table.pop(key, None)
        return
    inner = table.get(key)
    if isinstance(inner, Mapping):
        copy = dict(inner)
        _remove(copy, rest)
        table[key] = copy
        if not copy:
            del table[key]
