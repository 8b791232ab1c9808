"""The ``bridge`` program: its command groups, and errors turned into two lines and an exit code."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from bridge.cli import config, devices, observe, run, sessions, virtual
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
app.command("devices")(devices.devices)
app.command("doctor")(devices.doctor)
app.command("observe")(observe.observe)
app.command("call")(observe.call)
app.command("tools")(observe.tools)
app.add_typer(sessions.app, name="sessions")
app.add_typer(virtual.app, name="virtual")
app.add_typer(config.app, name="config")


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    DEBUG.set(debug)


def main() -> None:
    """Entry point of the console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # a terminal without UTF-8 shows an escape where it lacks a character
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except BridgeError as error:
        if DEBUG.get():
            raise
        print_error(error.message, error.advice)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # the reader left (`| head`); Python would complain once more when it flushes at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
