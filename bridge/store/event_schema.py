"""The JSON Schema of a run's events, made from the event types: what ``--json`` prints and the
record stores, version ``RECORD_VERSION``."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, Field
from enum import Enum
from typing import Any, Union, get_args, get_origin, get_type_hints

from bridge.conversation.events import RunEvent, recorded_fields
from bridge.store.redaction import RECORD_VERSION, event_type

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: Mapping[Any, str] = {
    str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null",
}  # fmt: skip


def event_schema() -> dict[str, Any]:
    """One schema for every line: ``oneOf`` the events, each with all its fields required.

    Within a version fields and events are only added: a reader ignores what it does not know.
    """
    return {
        "$schema": DIALECT,
        "title": f"Events of a bridge run, version {RECORD_VERSION}",
        "oneOf": [_event(kind) for kind in get_args(RunEvent)],
    }


def _event(kind: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    common = {
        "v": {"const": RECORD_VERSION},
        "type": {"const": event_type_of(kind)},
        "run": {"type": "string"},
        "time": {"type": "number", "description": "seconds since the epoch"},
    }
    own = {item.name: _schema(hints[item.name]) for item in recorded_fields(kind)}
    return {
        "title": event_type_of(kind),
        "type": "object",
        "properties": common | own,
        "required": [*common, *(item.name for item in recorded_fields(kind) if _always(item))],
    }


def event_type_of(kind: type[Any]) -> str:
    """The ``type`` of the records of an event class."""
    return event_type(object.__new__(kind))


def _always(item: Field[Any]) -> bool:
    """Fields with a default may be missing in records of an older program."""
    return item.default is MISSING and item.default_factory is MISSING


def _schema(hint: Any) -> dict[str, Any]:
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": [member.value for member in hint]}
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(each) for each in get_args(hint)]}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object"}
    if origin in (tuple, list):
        return {"type": "array", "items": _schema(get_args(hint)[0])}
    raise TypeError(f"no JSON type is known for {hint}")
