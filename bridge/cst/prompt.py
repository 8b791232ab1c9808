"""The part of the system prompt that teaches CTL frames, made from the tools on offer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bridge.cst.teach import frame, placeholder
from device_tools.schema import ToolSpec

_RULES = """\
# Calling tools
To use a tool write a call frame as plain text, each part on its own line:

{example}
- First line: the word call, an id of your choice (new for every call in a reply), the tool's \
name. Nothing else on that line.
{values}
- A value of several lines: arg KEY <<TAG, the lines, then a line with TAG alone. Choose a TAG \
that is no line of the value.
- end closes the frame and the call runs at once. Several frames may follow each other.
- After your last frame stop writing. The results come in the next message as frames \
"result ID exit=CODE BYTES"; exit 0 is success. Never write result frames yourself.
{finish}
Tools (* marks a required argument):
{tools}"""

_INLINE = """\
- Then one arg line per argument: arg KEY VALUE. VALUE runs to the end of the line and is taken \
as it is: no quotes around it, and digits are the value itself."""
_COUNTED = """\
- Then each argument: arg KEY NBYTES, and below that line exactly NBYTES bytes (UTF-8) of the \
value and a newline that is not counted. Digits alone after KEY are always such a count.
- A value of one line that is not digits alone may stand behind its key: arg KEY VALUE, taken as \
it is, without quotes around it."""

_FINISH = "- When the task is done, or cannot be done, call finish. It ends the run.\n"


def system_prompt(tools: Sequence[ToolSpec], *, length_prefix: bool = False) -> str:
    """The rules, one example of tools on offer, and each tool with its arguments."""
    finish = _FINISH if any(tool.name == "finish" for tool in tools) else ""
    listed = "\n".join(_tool(tool) for tool in tools)
    return _RULES.format(
        example=example(tools, length_prefix=length_prefix),
        values=_COUNTED if length_prefix else _INLINE,
        finish=finish,
        tools=listed,
    )


def example(tools: Sequence[ToolSpec], *, length_prefix: bool = False) -> str:
    """Two frames that are valid for ``tools``: an inline argument (in mode ``ctl`` a counted one
    where it is digits), then one by heredoc."""
    inline = next((t for t in tools if _required(t) and not _free_text(t)), None)
    heredoc = next((t for t in tools if _free_text(t)), None)
    frames = []
    if inline is not None:
        frames.append(_example_frame("c1", inline, {}, length_prefix))
    if heredoc is not None:
        text = {_free_text(heredoc)[0]: "some text\n"}
        frames.append(_example_frame("c2", heredoc, text, length_prefix))
    if not frames and tools:
        frames.append(_example_frame("c1", tools[0], {}, length_prefix))
    return "".join(frames)


def _example_frame(
    call_id: str, tool: ToolSpec, given: Mapping[str, str], length_prefix: bool
) -> str:
    values = {key: given.get(key) or placeholder(tool.properties[key]) for key in _required(tool)}
    return frame(call_id, tool.name, values, length_prefix)


def _required(tool: ToolSpec) -> list[str]:
    return list(tool.parameters.get("required", ()))


def _free_text(tool: ToolSpec) -> list[str]:
    return [key for key in _required(tool) if tool.properties[key].get("type") == "string"]


def _tool(tool: ToolSpec) -> str:
    required = _required(tool)
    lines = [f"{tool.name}: {tool.description}"]
    for key, schema in tool.properties.items():
        mark = "*" if key in required else ""
        about = schema.get("description", "")
        lines.append(f"  {key}{mark} {_shape(schema)}{f': {about}' if about else ''}")
    return "\n".join(lines)


def _shape(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "|".join(str(value) for value in schema["enum"])
    kind = schema.get("type", "string")
    name = kind if isinstance(kind, str) else "|".join(kind)
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None or high is not None:
        return f"{name} {'' if low is None else low}..{'' if high is None else high}"
    if name in ("array", "object"):
        return f"{name} in JSON {json.dumps(schema.get('items', {}), separators=(',', ':'))}"
    return str(name)


def tool_list(tools: Sequence[ToolSpec]) -> str:
    """Each tool with its arguments, one per line; the same in every text mode."""
    return "\n".join(map(_tool, tools))
