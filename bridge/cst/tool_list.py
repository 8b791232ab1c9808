"""A list of tools that somebody else offered: the ``tools`` of a request to any of the wires."""

from __future__ import annotations

from typing import Any

from bridge.cst.values import strict_json
from bridge.errors import ConfigurationError
from device_tools.schema import ToolSpec


def read_tools(data: bytes, where: str) -> tuple[ToolSpec, ...]:
    """The tools of a JSON list; each has ``name`` and a schema in ``parameters`` (Anthropic:
    ``input_schema``), alone or inside of ``function``. ``where`` names the list in errors.

    Raises:
        ConfigurationError: it is no such list.
    """
    try:
        listed = strict_json(data.decode())
        if not isinstance(listed, list):
            raise ValueError("it is not a list")
        return tuple(map(_tool, listed))
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"{where} is no list of tools: {error}",
            advice='for example [{"name": "tap", "parameters": {"type": "object", "properties": '
            '{"x": {"type": "integer"}}}}]',
        ) from error


def _tool(entry: Any) -> ToolSpec:
    if isinstance(entry, dict) and isinstance(entry.get("function"), dict):
        entry = entry["function"]
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise ValueError("a tool without a name")
    name = entry["name"]
    schema = entry.get("parameters") or entry.get("input_schema") or {}
    properties = schema.get("properties", {}) if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or not all(
        isinstance(each, dict) for each in properties.values()
    ):
        raise ValueError(f"the arguments of {name} are no JSON Schema object")
    return ToolSpec(name, str(entry.get("description") or ""), {**schema, "properties": properties})
