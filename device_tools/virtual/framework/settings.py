"""``settings get|put|list|delete``; what the UI shows follows at once."""

from __future__ import annotations

from collections.abc import Sequence

from device_tools.virtual.framework.reply import fail, out
from device_tools.virtual.ports import CommandResult
from device_tools.virtual.ui.screen import TouchScreen

_USAGE = """Settings provider (settings) commands:
  get [--user <USER_ID> | current] NAMESPACE KEY
  put [--user <USER_ID> | current] NAMESPACE KEY VALUE [TAG] [default]
  delete [--user <USER_ID> | current] NAMESPACE KEY
  list [--user <USER_ID> | current] NAMESPACE"""


def settings(screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    """A missing key reads as ``null``."""
    words = _without_user(args)
    verb, table = [*words, "", ""][:2]
    if verb not in ("get", "put", "list", "delete") or table not in screen.state.settings:
        return fail(f"Invalid command\n{_USAGE}" if verb else _USAGE, 255)
    values, rest = screen.state.settings[table], words[2:]
    if verb == "list":
        return out("\n".join(f"{key}={value}" for key, value in sorted(values.items())))
    if len(rest) < (2 if verb == "put" else 1):
        return fail(f"Bad arguments\n{_USAGE}", 255)
    if verb == "get":
        return out(values.get(rest[0], "null") + "\n")
    if verb == "delete":
        return out(f"Deleted {0 if values.pop(rest[0], None) is None else 1} rows")
    values[rest[0]] = rest[1]
    return out()


def _without_user(args: Sequence[str]) -> list[str]:
    words = list(args)
    if "--user" in words:
        place = words.index("--user")
        del words[place : place + 2]
    return words
