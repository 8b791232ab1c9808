"""``getprop`` and ``setprop``."""

from __future__ import annotations

from collections.abc import Sequence

from device_tools.virtual.framework.reply import fail, out
from device_tools.virtual.ports import CommandResult
from device_tools.virtual.ui.screen import TouchScreen


def getprop(screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    """All as ``[key]: [value]``; one as its value, or the default, or an empty line."""
    props = screen.state.properties
    if not args:
        return out("\n".join(f"[{key}]: [{value}]" for key, value in sorted(props.items())))
    default = args[1] if len(args) > 1 else ""
    return out((props.get(args[0]) or default) + "\n")


def setprop(screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    """Read-only properties and others of the system are refused, as for the shell user."""
    if len(args) != 2:
        return fail('setprop: Need 2 arguments (see "setprop --help")', 1)
    key, value = args
    if not key.startswith(("debug.", "log.", "persist.log.", "service.adb.tcp")):
        return fail(f"Failed to set property '{key}' to '{value}'.\nSee dmesg for error reason.", 1)
    screen.state.properties[key] = value
    return out()
