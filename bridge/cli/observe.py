"""``bridge observe``, ``bridge call`` and ``bridge tools``: single steps without a model."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bridge.cli.common import DeviceOption, JsonFlag, print_json

if TYPE_CHECKING:
    from device_tools.observation import Observation
    from device_tools.result import ToolResult
    from device_tools.schema import ValidCall


class Format(StrEnum):
    TEXT = "text"
    JSON = "json"


def observe(
    device: DeviceOption = None,
    xml: Annotated[
        Path | None, typer.Option("--xml", help="Read a hierarchy dump instead of a phone.")
    ] = None,
    output: Annotated[Format, typer.Option("--format")] = Format.TEXT,
    as_json: JsonFlag = False,
) -> None:
    """Show the screen as the model sees it."""
    from device_tools.observation import as_json as observation_json
    from device_tools.observation import as_text

    if xml is not None:
        seen = _of_file(xml)
    else:
        from bridge.config import load
        from bridge.device import open_target
        from bridge.signals import cancel_on_signals
        from device_tools.cancel import CancelScope
        from device_tools.executor import open_phone_tools

        cancel, loaded = CancelScope(), load({"device": device})
        with (
            cancel_on_signals(cancel),
            open_target(loaded.settings.device, loaded.home, cancel) as target,
            open_phone_tools(target.serial, target.address, cancel) as phone,
        ):
            seen = phone.observe()
    if as_json or output is Format.JSON:
        print_json(observation_json(seen))
    else:
        print(as_text(seen))


def call(
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="Name of a tool, see bridge tools.")],
    args: Annotated[str, typer.Option("--args", help="One JSON object.")] = "{}",
    device: DeviceOption = None,
    _as_json: Annotated[bool, typer.Option("--json", help="The output is JSON anyway.")] = False,
) -> None:
    """Run one tool once; prints {outcome, result, error}.

    Coordinates are device pixels.
    """
    from device_tools.errors import BridgeError
    from device_tools.result import failed

    error: dict[str, Any] | None = None
    try:
        valid = _validated(tool, args)
        result = _execute(valid, device)
        code = 1 if result.exit_code == 75 else result.exit_code
    except BridgeError as fault:
        result, code = failed(fault), fault.exit_code
        error = {"field": getattr(fault, "field", "")}
    body = {"exit_code": result.exit_code, "text": result.text, "data": dict(result.data)}
    if not result.ok:
        error = {"type": result.error or "failed", "message": result.text} | (error or {})
    print_json(
        {"outcome": result.outcome.value, "result": body if result.ok else None, "error": error}
    )
    raise typer.Exit(code)


def tools(as_json: JsonFlag = False) -> None:
    """List the tools a model may use, with their arguments."""
    from bridge.tool_sets import ALL_TOOLS
    from bridge.tools import FINISH

    for spec in (*ALL_TOOLS, FINISH):
        if as_json:
            print_json(
                {
                    "v": 1, "type": "tool", "name": spec.name, "description": spec.description,
                    "group": spec.group.value, "effect": spec.effect.value,
                    "parameters": dict(spec.parameters),
                }
            )  # fmt: skip
            continue
        required = spec.parameters["required"]
        names = [name if name in required else f"[{name}]" for name in spec.properties]
        print(f"{spec.name}({', '.join(names)})\n    {spec.description}")


def _of_file(path: Path) -> Observation:
    from bridge.errors import ConfigurationError
    from device_tools.errors import ScreenUnreadable
    from device_tools.observation import observation_of_dump

    try:
        return observation_of_dump(path.read_bytes())
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error
    except ScreenUnreadable as error:
        # the advice for a phone, to look again, does not help with a file
        raise ScreenUnreadable(
            f"{path}: {error.message}", advice="save the hierarchy of the phone again"
        ) from error


def _validated(name: str, args: str) -> ValidCall:
    """Every check that needs no phone, so that a bad call opens none."""
    from bridge.cst.values import strict_json
    from bridge.tool_sets import ALL_TOOLS
    from bridge.tools import FINISH
    from device_tools.errors import InvalidCall
    from device_tools.schema import validate

    spec = next((spec for spec in ALL_TOOLS if spec.name == name), None)
    if spec is None and name == FINISH.name:
        raise InvalidCall("finish ends a run; outside of a run there is nothing to end")
    if spec is None:
        raise InvalidCall(f"there is no tool {name!r}", advice="see bridge tools")
    try:
        arguments = strict_json(args)
    except ValueError as error:
        raise InvalidCall(
            f"--args is not JSON: {error}", advice="for example --args '{\"x\": 1}'"
        ) from error
    return validate(spec, "call", arguments)


def _execute(valid: ValidCall, device: str | None) -> ToolResult:
    from bridge.config import group_switches, load
    from bridge.device import open_target
    from bridge.device_lock import hold_device
    from bridge.signals import cancel_on_signals
    from bridge.tool_sets import open_tools
    from bridge.tools import refusal
    from device_tools.cancel import CancelScope
    from device_tools.schema import RiskGroup

    cancel, loaded = CancelScope(), load({"device": device})
    if not group_switches(loaded.home).get(valid.spec.group, True):
        return refusal("switched_off", f"{valid.spec.group.value} tools are switched off")
    with (
        cancel_on_signals(cancel),
        open_target(loaded.settings.device, loaded.home, cancel) as target,
        hold_device(loaded.home, target.serial, "bridge call"),
        open_tools(
            target,
            cancel,
            loaded.home,
            default_space="screen",
            adb_root=loaded.settings.adb_root,
            screen=valid.spec.group is not RiskGroup.TERMINAL,
        ) as opened,
    ):
        return opened.execute(valid)
