"""Turns a broken frame into a message that shows the model the right frame for that very call."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import chain, count
from typing import Any

from bridge.conversation.frames import ContractErrorKind as Kind
from bridge.conversation.messages import CallResult
from bridge.cst.ctl_events import Fault
from bridge.cst.values import typed
from device_tools.schema import ToolSpec

MAX_SHOWN = 120
"""Characters of the model's own line that a message repeats."""
MAX_VALUE = 500
"""Characters of a value that a lesson repeats."""

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
            tag = _tag(value)
            lines += [f"arg {key} <<{tag}", value.removesuffix("\n"), tag]
        elif length_prefix and value.isascii() and value.isdigit():
            lines += [f"arg {key} {len(value)}", value]
        else:
            lines.append(f"arg {key} {value}")
    return "\n".join([*lines, "end"]) + "\n"


def _tag(value: str) -> str:
    """A TAG that is no line of the value."""
    lines = value.split("\n")
    return next(tag for tag in chain(["EOF"], (f"EOF{n}" for n in count(2))) if tag not in lines)


def fault_message(
    fault: Fault,
    tools: Mapping[str, ToolSpec],
    given: Mapping[str, str],
    length_prefix: bool = False,
) -> str:
    """What goes back to the model: kind, position, counts, the line, and the right frame.
    ``given``: the values of the broken call as far as they arrived."""
    counts = [f"declared {fault.declared} bytes"] if fault.declared is not None else []
    if fault.arrived is not None:
        counts.append(f"arrived {fault.arrived} bytes")
    where = ", ".join([f"byte {fault.position}", *counts])
    text = f"tool_parse_error {fault.kind.value} ({where}): {fault.what}.\n"
    if fault.line:
        text += f"Your line: {_shown(fault.line)}\n"
    text += "Nothing from here on was read or executed; calls with a result stand.\n"
    spec = tools.get(fault.tool)
    if spec is None or fault.kind is Kind.HEREDOC_EOF:
        text += "Send that call again as one whole frame that closes with end.\n"
    else:
        lead = "Write it like this"
        if fault.kind is Kind.BODY_EOF:
            given = _counted_as_value(given, fault.declared)
            lead = f"If {fault.declared} is the value and no count of bytes, write it like this"
        right = frame(fault.call_id or "c1", spec.name, _meant(fault, spec, given), length_prefix)
        text += f"{lead}:\n{right}"
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


def _counted_as_value(given: Mapping[str, str], declared: int | None) -> dict[str, str]:
    """Digits that were read as a count, as the value they were perhaps meant to be."""
    *others, last = given or ("",)
    return {**{key: given[key] for key in others}, last: str(declared)}


def _meant(fault: Fault, spec: ToolSpec, given: Mapping[str, str]) -> dict[str, str]:
    """The arguments that arrived and those the line seems to give, the required ones in the
    schema's order; a placeholder where there is none."""
    line = fault.line.decode("utf-8", "replace")
    head = " ".join(word for word in ("call", fault.call_id, fault.tool) if word)
    required = list(spec.parameters.get("required", ()))
    if line.startswith(head):
        found = _arguments_of(line.removeprefix(head).strip(), spec, required)
        # values of which one cannot be right are guesses altogether
        found = found if all(_fits(found[key], spec.properties[key]) for key in found) else {}
    else:
        found = _argument_of(line, spec)
    arrived = {key: value for key, value in given.items() if key in spec.properties}
    meant = {**found, **{key: _short(value) for key, value in arrived.items()}}
    shown = {key: meant.pop(key, placeholder(spec.properties[key])) for key in required}
    return shown | meant


def _argument_of(line: str, spec: ToolSpec) -> dict[str, str]:
    """What a line inside a frame gives, with or without its ``arg``."""
    key, _, value = line.removeprefix("arg ").strip().partition(" ")
    value = value.strip()
    plain = key in spec.properties and value and not value.startswith("<<")
    return {key: value} if plain and _fits(value, spec.properties[key]) else {}


def _short(value: str) -> str:
    """A long value is not repeated, and not cut either: a cut one could be sent back."""
    return value if len(value) <= MAX_VALUE else f"(all {len(value)} characters again)"


def _fits(value: str, schema: Mapping[str, Any]) -> bool:
    """Whether the text can be a value of the schema's type."""
    return schema.get("type", "string") == "string" or not isinstance(typed(value, schema), str)


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
