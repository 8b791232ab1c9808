"""``bridge terminal``: an interactive shell of the phone."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from bridge.cli.common import DeviceOption

if TYPE_CHECKING:
    from alpine.terminal import Place

Choice = TypeVar("Choice", bound=StrEnum)


def terminal(
    device: DeviceOption = None,
    identity: Annotated[
        str, typer.Option("--identity", help="user, or root on a rooted phone.")
    ] = "",
    environment: Annotated[
        str, typer.Option("--environment", help="android, or linux: the managed Alpine, as root.")
    ] = "android",
    cwd: Annotated[str, typer.Option("--cwd", help="Directory to start in.")] = "",
) -> None:
    """Open a shell on the phone; its exit code is the command's.

    Without a terminal on standard input it runs the commands it reads there.
    """
    from alpine.interactive import interact
    from alpine.terminal import open_terminal
    from bridge.config import load
    from bridge.device import open_target
    from bridge.signals import cancel_on_signals
    from device_tools.adb import open_device
    from device_tools.cancel import CancelScope

    place = _place(identity, environment, cwd)
    cancel, loaded = CancelScope(), load({"device": device})
    with (
        cancel_on_signals(cancel),
        open_target(loaded.settings.device, loaded.home, cancel) as target,
        open_terminal(
            open_device(target.serial, target.address, cancel),
            allow_adb_root=loaded.settings.adb_root,
        ) as opened,
    ):
        form, start = opened.form(place)
        code = interact(opened.supervisor, form, start)
    raise typer.Exit(code)


def _place(identity: str, environment: str, cwd: str) -> Place:
    from alpine.identity import Identity
    from alpine.terminal import Environment, Place
    from bridge.errors import ConfigurationError

    where = _chosen("--environment", environment, Environment)
    linux = where is Environment.LINUX
    default = Identity.ROOT if linux else Identity.USER
    who = _chosen("--identity", identity or default, Identity)
    if linux and who is not Identity.ROOT:
        raise ConfigurationError("environment linux is entered as root only")
    return Place(where, who, cwd)


def _chosen(flag: str, value: str, kind: type[Choice]) -> Choice:
    from bridge.errors import ConfigurationError

    try:
        return kind(value)
    except ValueError:
        known = ", ".join(each.value for each in kind)
        raise ConfigurationError(f"{flag} cannot be {value!r}", advice=f"one of: {known}") from None
