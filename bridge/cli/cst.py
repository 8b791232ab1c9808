"""``bridge cst``: the call protocols by themselves, without a model or a phone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from enum import StrEnum
from io import BufferedReader
from pathlib import Path
from typing import Annotated

import typer

from bridge.cli.common import print_json
from bridge.cli.cst_bench import bench

app = typer.Typer(help="Examine call protocols.", no_args_is_help=True, rich_markup_mode=None)


class End(StrEnum):
    """A finish reason to close the stream with."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    UNKNOWN = "unknown"


app.command("bench")(bench)


@app.command("parse")
def parse(
    file: Annotated[
        Path | None, typer.Argument(help="Raw text of one reply; standard input without it.")
    ] = None,
    protocol: Annotated[
        str, typer.Option("--protocol", help="ctl-heredoc (default), ctl or xml.")
    ] = "ctl-heredoc",
    finish: Annotated[
        End | None,
        typer.Option("--finish", help="How the reply ended. Not given: unknown; in xml a stop."),
    ] = None,
    chunk: Annotated[
        int, typer.Option("--chunk", min=1, help="Feed at most so many bytes at once.")
    ] = 65536,
) -> None:
    """Print the events of a reply as JSON Lines: what is confirmed, in order, never taken back.

    The tools on offer are those of `bridge tools`. Types: text_confirmed, call_opened,
    argument_confirmed, call_ready, call_refused, contract_error, stop_reading.
    """
    from bridge.conversation.finish import FINISH
    from bridge.conversation.stream import Finish, FinishReason
    from bridge.cst.event_lines import TEXT_MODES, as_json, frames_of
    from bridge.errors import ConfigurationError
    from device_tools.catalog import PHONE_TOOLS

    if protocol not in TEXT_MODES:
        raise ConfigurationError(
            f"{protocol!r} is no protocol of raw text", advice=f"one of: {', '.join(TEXT_MODES)}"
        )
    end = Finish(FinishReason(finish.value)) if finish else None
    with nullcontext(sys.stdin.buffer) if file is None else _opened(file) as source:
        for frame in frames_of(_chunks(source, chunk), protocol, (*PHONE_TOOLS, FINISH), end):
            print_json(as_json(frame))


def _opened(path: Path) -> BufferedReader:
    from bridge.errors import ConfigurationError

    try:
        return path.open("rb")
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error


def _chunks(source: object, size: int) -> Iterator[bytes]:
    """What is there, as soon as it is there."""
    assert isinstance(source, BufferedReader)
    while data := source.read1(size):
        yield data
