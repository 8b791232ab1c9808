"""Turns a broken frame into a message that shows the model the right frame for that very call."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from bridge.conversation.frames import ContractErrorKind as Kind
from bridge.conversation.messages import CallResult
from bridge.cst.ctl_events import Fault
from device_tools.schema import ToolSpec

MAX_SHOWN = 120
"""Characters of the model's own line that a message repeats."""

_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'|([^\s,]+)')
_NAMED = re.compile(r"(\w+)\s*[=:]\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s,]+))")


def frame(
    call_id: str, name: str, arguments: Mapping[str, str], length_prefix: bool = False
) -> str:
    """The frame that says this call; values that an inline line cannot hold go by heredoc.
    ``length_prefix``: digits alone would be a byte count, so they get one."""
    lines = [f"call {call_id} {name}"]
    for key, value in arguments.items():
        if "\n" in value or "\r" in value or value.startswith("<<"):
            lines += [f"arg {key} <<EOF", value.removesuffix("\n"), "EOF"]
        elif length_prefix and value.isascii() and value.isdigit():
            lines += [f"arg {key} {len(value)}", value]
        else:
            lines.append(f"arg {key} {value}")
    return "\n".join([*lines, "end"]) + "\n"


def fault_message(fault: Fault, tools: Mapping[str, ToolSpec], length_prefix: bool = False) -> str:
    """What goes back to the model: kind, position, counts, the line, and the right frame."""
    counts = [f"declared {fault.declared} bytes"] if fault.declared is not None else []
    if fault.arrived is not None:
        counts.append(f"arrived {fault.arrived} bytes")
    where = ", ".join([f"byte {fault.position}", *counts])
    text = f"tool_parse_error {fault.kind.value} ({where}): {fault.what}.\n"
    if fault.line:
        text += f"Your line: {_shown(fault.line)}\n"
    text += "Nothing from here on was read or executed; calls with a result stand.\n"
    spec = tools.get(fault.tool)
    if spec is None or fault.kind in (Kind.BODY_EOF, Kind.HEREDOC_EOF):
        text += "Send that call again as one whole frame that closes with end.\n"
    else:
        right = frame(fault.call_id or "c1", spec.name, _meant(fault, spec), length_prefix)
        text += f"Write it like this:\n{right}"
    return text.rstrip("\n")


def quoted_values_hint(results: Sequence[CallResult], length_prefix: bool = False) -> str:
    """For calls that the schema refused although only the quotes around a value were wrong."""
    refused = [each for each in results if each.result.error == "invalid_call"]
    hints = [_unquoted_frame(each, length_prefix) for each in refused]
    shown = "".join(hints).rstrip("\n")
    return f"Quotes belong to the value; leave them out:\n{shown}" if shown else ""


def _unquoted_frame(refused: CallResult, length_prefix: bool) -> str:
    """The call without quotes around its values; "" unless the refused value had some."""
    call = refused.call
    written = {k: v if isinstance(v, str) else json.dumps(v) for k, v in call.arguments.items()}
    bare = {key: _unquoted(value) for key, value in written.items()}
    for key in written:
        # the message of a refusal starts with tool.field
        if bare[key] != written[key] and refused.result.text.startswith(f"{call.name}.{key}:"):
            return frame(call.id, call.name, bare, length_prefix)
    return ""


def _unquoted(value: str) -> str:
    inner = value[1:-1]
    wrapped = len(value) > 2 and value[0] == value[-1] and value[0] in "\"'"
    return inner if wrapped and value[0] not in inner else value


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", "replace")
    return _visible(text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "...")


def _visible(text: str) -> str:
    """Makes control characters visible; a CR at the end of a line is the usual culprit."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _meant(fault: Fault, spec: ToolSpec) -> dict[str, str]:
    """The arguments the line seems to give, in the schema's order; a placeholder where none."""
    line = fault.line.decode("utf-8", "replace")
    head = " ".join(word for word in ("call", fault.call_id, fault.tool) if word)
    rest = line.removeprefix(head).strip() if line.startswith(head) else ""
    required = list(spec.parameters.get("required", ()))
    found = _arguments_of(rest, spec, required)
    return found or {key: placeholder(spec.properties[key]) for key in required}


def _arguments_of(rest: str, spec: ToolSpec, required: list[str]) -> dict[str, str]:
    if rest.startswith("(") and rest.endswith(")"):
        rest = rest[1:-1].strip()
    keys = required + [key for key in spec.properties if key not in required]
    if not rest or not keys:
        return {}
    if (whole := _json_object(rest)) is not None:
        return {key: value for key, value in whole.items() if key in keys}
    named = {m[1]: m[2] or m[3] or m[4] or "" for m in _NAMED.finditer(rest) if m[1] in keys}
    if named:
        return named
    words = [m[1] or m[2] or m[3] or "" for m in _WORD.finditer(rest)]
    if len(words) > 1 and len(words) % 2 == 0 and all(word in keys for word in words[::2]):
        return dict(zip(words[::2], words[1::2], strict=True))
    if len(required) == 1 and len(words) > 1 and "," not in rest:
        return {required[0]: rest}
    return dict(zip(keys, words, strict=False)) if len(words) >= len(required) else {}


def _json_object(text: str) -> dict[str, str] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    return {key: v if isinstance(v, str) else json.dumps(v) for key, v in value.items()}


def placeholder(schema: Mapping[str, Any]) -> str:
    """A value of the right shape to show where the model gave none."""
    if schema.get("enum"):
        return str(schema["enum"][0])
    kind = schema.get("type", "string")
    if kind in ("integer", "number"):
        return str(max(schema.get("minimum", 1), 1))
    return {"boolean": "true", "array": "[]", "object": "{}"}.get(str(kind), "text")
