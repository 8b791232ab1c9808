"""The ``bridge`` program: its command groups, and errors turned into two lines and an exit code."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from bridge.cli import config, control, cst, devices, observe, run, sessions, shell, virtual
from bridge.cli.common import DEBUG, print_error
from device_tools.errors import BridgeError

app = typer.Typer(
    name="bridge",
    help="Let a language model operate an Android phone over ADB.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("run")(run.run)
app.command("continue")(run.go_on)
app.command("steer")(control.steer)
app.command("pause")(control.pause)
app.command("resume")(control.resume)
app.command("cancel")(control.cancel)
app.command("devices")(devices.devices)
app.command("doctor")(devices.doctor)
app.command("observe")(observe.observe)
app.command("call")(observe.call)
app.command("tools")(observe.tools)
app.command("terminal")(shell.terminal)
app.add_typer(sessions.app, name="sessions")
app.add_typer(virtual.app, name="virtual")
app.add_typer(config.app, name="config")
app.add_typer(cst.app, name="cst")


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError
        from importlib.metadata import version as version_of

        try:
            print(f"bridge {version_of('bridge-android')}")
        except PackageNotFoundError:
            print("bridge, run from its source without being installed")
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    DEBUG.set(debug)


def main() -> None:
    """Run the command that argv names; errors become two lines and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # a terminal without UTF-8 shows an escape where it lacks a character
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except BridgeError as error:
        if DEBUG.get():
            raise
        print_error(error.message, error.advice)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # the reader left (`| head`)
        _drop_output()
        sys.exit(1)
    except OSError as error:
        # a full disk, a folder that may not be written
        if DEBUG.get():
            raise
        _drop_output()
        what = error.strerror or str(error)
        if error.filename:
            print_error(f"{error.filename}: {what}", "check that place, its permissions and space")
        else:
            print_error(what, "run again with --debug to see where")
        sys.exit(1)


def _drop_output() -> None:
    """Python would complain once more about unwritten output when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
