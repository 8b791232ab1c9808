"""``bridge virtual``: named virtual phones that stay until they are stopped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bridge.cli.common import JsonFlag, print_json, print_note

if TYPE_CHECKING:
    from device_tools.virtual.launcher import VirtualHandle

app = typer.Typer(help="Virtual phones.", no_args_is_help=True, rich_markup_mode=None)
Name = Annotated[str, typer.Argument(help="Name of the virtual phone.")]
DEFAULT_NAME = "phone"


@app.command("start")
def start(
    name: Name = DEFAULT_NAME,
    root: Annotated[
        str,
        typer.Option(
            help="How it is rooted: magisk, kernelsu, apatch, aosp, none, denied, slow, powerless."
        ),
    ] = "none",
    as_json: JsonFlag = False,
) -> None:
    """Start a virtual phone for --device NAME."""
    from bridge.config import home_folder
    from bridge.errors import ConfigurationError
    from device_tools.virtual import launcher

    if not launcher.is_name(name):
        raise ConfigurationError(
            f"not a name for a phone: {name!r}", advice="use letters, digits, _.-"
        )
    phone = launcher.start(home_folder() / "virtual" / name, name=name, owned=False, root=root)
    _print_handle(phone.handle, as_json)


@app.command("stop")
def stop(name: Name = DEFAULT_NAME, as_json: JsonFlag = False) -> None:
    """Stop a virtual phone; its last state stays."""
    from bridge.config import home_folder
    from device_tools.virtual import launcher

    home = home_folder()
    folder = launcher.find(home, name).folder
    launcher.stop(home, name)
    if as_json:
        print_json({"v": 1, "type": "virtual_phone_stopped", "name": name, "folder": str(folder)})
    else:
        print(f"{name} stopped; its last state and picture are in {folder}")


@app.command("list")
def list_phones(as_json: JsonFlag = False) -> None:
    """The virtual phones that run."""
    from bridge.config import home_folder
    from device_tools.virtual import launcher

    handles = launcher.list_running(home_folder())
    for handle in handles:
        _print_handle(handle, as_json)
    if not handles and not as_json:
        print_note("no virtual phone runs; `bridge virtual start` starts one")


@app.command("screenshot")
def screenshot(
    name: Name = DEFAULT_NAME,
    output: Annotated[Path, typer.Option("--output", "-o", help="PNG file.")] = Path("screen.png"),
    as_json: JsonFlag = False,
) -> None:
    """Save the screen of a virtual phone as PNG."""
    from bridge.config import home_folder
    from bridge.errors import ConfigurationError
    from device_tools.virtual import launcher

    picture = launcher.screenshot(launcher.find(home_folder(), name))
    try:
        output.write_bytes(picture)
    except OSError as error:
        raise ConfigurationError(f"{output} cannot be written: {error.strerror}") from error
    if as_json:
        print_json({"v": 1, "type": "screenshot", "path": str(output), "bytes": len(picture)})
    else:
        print(output)


def _print_handle(handle: VirtualHandle, as_json: bool) -> None:
    facts: dict[str, Any] = {
        "name": handle.name,
        "serial": handle.serial,
        "adb_port": handle.adb_port,
        "pid": handle.pid,
        "folder": str(handle.folder),
    }
    if as_json:
        print_json({"v": 1, "type": "virtual_phone"} | facts)
    else:
        print(
            f"{handle.name}  {handle.serial}  pid {handle.pid}\n"
            f"  ANDROID_ADB_SERVER_PORT={handle.adb_port} adb -s {handle.serial} shell"
        )
