"""What a model of the ``xml`` mode is told: the prompt, and the message after a broken block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bridge.cst.prompt import tool_list
from bridge.cst.teach import placeholder
from bridge.cst.xml_blocks import CLOSE, OPEN, BlockFault
from device_tools.schema import ToolSpec

_RULES = """\
# Calling tools
To use tools end your reply with one block like this:

{example}
- Values are taken as they are: no quotes around them and no escapes. One newline directly behind \
the opening tag and one before the closing tag are layout. Lists and objects are JSON.
- A value cannot hold any of the tags above.
- Several invoke elements in the block run in order, after your reply has ended. Write nothing \
behind the block.
- The results come in the next message as frames "result xN exit=CODE BYTES"; x1 is the first \
call of your reply; exit 0 is success. Never write result frames yourself.
{finish}
Tools (* marks a required argument):
{tools}"""

_FINISH = "- When the task is done, or cannot be done, call finish. It ends the run.\n"


def xml_prompt(tools: Sequence[ToolSpec]) -> str:
    """The rules, one example of a tool on offer, and each tool with its arguments."""
    finish = _FINISH if any(tool.name == "finish" for tool in tools) else ""
    return _RULES.format(example=_example(tools), finish=finish, tools=tool_list(tools))


def xml_block(name: str, arguments: Mapping[str, str]) -> str:
    """The block that says this one call."""
    lines = [OPEN, f'<invoke name="{name}">']
    lines += [f'<parameter name="{key}">{value}</parameter>' for key, value in arguments.items()]
    return "\n".join([*lines, "</invoke>", CLOSE]) + "\n"


def fault_message(fault: BlockFault, position: int, tools: Mapping[str, ToolSpec]) -> str:
    """What goes back to the model: kind, byte position, what was wrong, the right block."""
    arrived = f", arrived {fault.arrived} bytes" if fault.arrived is not None else ""
    spec = tools.get(fault.tool)
    right = _block_of(spec) if spec is not None else _example(list(tools.values()))
    return (
        f"tool_parse_error {fault.kind.value} (byte {position}{arrived}): {fault.what}.\n"
        f"No call of that reply was executed.\nWrite it like this:\n{right}"
    ).rstrip("\n")


def _example(tools: Sequence[ToolSpec]) -> str:
    with_arguments = (tool for tool in tools if tool.parameters.get("required"))
    tool = next(with_arguments, tools[0] if tools else None)
    return _block_of(tool) if tool is not None else xml_block("NAME", {"KEY": "VALUE"})


def _block_of(tool: ToolSpec) -> str:
    required = tool.parameters.get("required", ())
    return xml_block(tool.name, {key: placeholder(tool.properties[key]) for key in required})
