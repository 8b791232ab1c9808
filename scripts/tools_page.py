"""Print docs/tools.md from the catalog. Usage: python scripts/tools_page.py > docs/tools.md"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bridge.conversation.finish import FINISH
from bridge.tool_sets import ALL_TOOLS
from device_tools.schema import ToolSpec

HEAD = """# Tools

What a model may call, made from the catalog by `python scripts/tools_page.py`. Arguments are
checked against these schemas immediately before execution; nothing is converted and unknown
arguments are refused. An action answers `DONE`, `NOT_SENT` or `UNKNOWN`, as exit code 0 done, 1
failed, 2 refused or not sent, 75 unknown, 130 cancelled.

Numbers of elements and screenshot coordinates refer to the newest observation the model had seen
when it began to answer. An element is looked up again by identity before it is touched; a point
is touched only while window, activity and rotation are still those of the observation.

The tools from `device_status` on use plain adb: getprop, dumpsys, settings, content, cmd, pm, am.
What a phone lacks (its version, its maker, root) is answered as `not_available` with the reason.
Every answer is bounded and says how much it leaves out. Filters and search words are compared on
the computer: they reach no shell and no database. Sensitive groups are left out of the record
wholly (arguments and results). Files are copied from and to one folder of the computer only,
`files` below `BRIDGE_HOME`, and below /sdcard or /data/local/tmp of the phone. Times end in Z: UTC.
[One-time codes](sms-codes.md) are told without their message.

`run_command`, `terminal` and the file tools behind them are [terminals](terminals.md); a command
that ran answers `DONE` with its own exit code.
"""


def kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(f"`{value}`" for value in schema["enum"])
    words = [schema["type"]]
    for low, high in (("minimum", "maximum"), ("minLength", "maxLength")):
        if low in schema or high in schema:
            unit = " characters" if "Length" in high else ""
            words.append(f"{schema.get(low, 0)} to {schema[high]}{unit}")
    return ", ".join(words)


def section(spec: ToolSpec) -> str:
    lines = [f"## {spec.name}", "", f"{spec.description}", ""]
    lines.append(f"Group `{spec.group.value}`, effect `{spec.effect.value}`.")
    if spec.properties:
        lines += ["", "| argument | | |", "|---|---|---|"]
    for name, schema in spec.properties.items():
        needed = "" if name in spec.parameters["required"] else " (optional)"
        lines.append(f"| `{name}`{needed} | {kind(schema)} | {schema.get('description', '')} |")
    return "\n".join(lines) + "\n"


def page() -> str:
    return "\n".join([HEAD, *(section(spec) for spec in (*ALL_TOOLS, FINISH))])


if __name__ == "__main__":
    print(page(), end="")
