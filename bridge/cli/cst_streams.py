"""``bridge cst parse`` and ``bridge cst check``: a user's own stream, read as a run reads it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from enum import StrEnum
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bridge.cli.common import JsonFlag, print_json, print_note, printable

if TYPE_CHECKING:
    from bridge.cst.check import Report
    from bridge.cst.reading import Source
    from device_tools.schema import ToolSpec


class End(StrEnum):
    """A finish reason to close the stream with."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    PAUSE = "pause"
    UNKNOWN = "unknown"


class Format(StrEnum):
    """The interfaces whose event streams can be read."""

    CHAT = "chat"
    RESPONSES = "responses"
    ANTHROPIC = "anthropic"


File = Annotated[
    Path | None,
    typer.Argument(help="One reply, raw text or with --sse its bytes; standard input without it."),
]
Protocol = Annotated[
    str,
    typer.Option(
        "--protocol",
        help="ctl-heredoc (default), ctl or xml; with --sse native-eos and native-inc as well.",
    ),
]
Sse = Annotated[
    Format | None,
    typer.Option("--sse", help="FILE is the event stream of this interface, not raw text."),
]
Ending = Annotated[
    End | None,
    typer.Option("--finish", help="How raw text ended. Not given: unknown; in xml a stop."),
]
Cap = Annotated[
    int | None,
    typer.Option(min=1, help="Output tokens that the request allowed; with --sse only."),
]
Tools = Annotated[
    Path | None,
    typer.Option(
        "--tools",
        help="The tools on offer: a JSON list as in a request. Without it those of `bridge tools`.",
    ),
]


def parse(
    file: File = None,
    protocol: Protocol = "ctl-heredoc",
    sse: Sse = None,
    finish: Ending = None,
    output_cap: Cap = None,
    tools: Tools = None,
    chunk: Annotated[
        int, typer.Option("--chunk", min=1, help="Feed at most so many bytes at once.")
    ] = 65536,
) -> None:
    """Print the events of a reply as JSON Lines: what is confirmed, in order, never taken back.

    Types: text_confirmed, call_opened, argument_confirmed, call_ready, call_refused,
    contract_error, stop_reading; stream_error where an event stream is broken (exit 4).
    """
    from bridge.cst.carriers import CARRIERS
    from bridge.cst.event_lines import as_json
    from bridge.cst.reading import Reading, frames_of
    from bridge.errors import ProviderError

    offered = _tools(tools)
    open_source = _sources(protocol, sse, finish, output_cap, offered)
    reading = Reading(open_source(), CARRIERS[protocol].reader(offered, output_cap))
    with nullcontext(sys.stdin.buffer) if file is None else _opened(file) as stream:
        try:
            for frame in frames_of(_chunks(stream, chunk), reading):
                print_json(as_json(frame))
        except ProviderError as error:
            print_json({"type": "stream_error", "message": error.message})
            raise


def check(
    file: File = None,
    protocol: Protocol = "ctl-heredoc",
    sse: Sse = None,
    finish: Ending = None,
    output_cap: Cap = None,
    tools: Tools = None,
    as_json: JsonFlag = False,
) -> None:
    """Hold S1, S2 and S3 against a reply, at every byte prefix; exit 1 where one is violated.

    A broken event stream is read as far as it goes.
    """
    from bridge.cst.carriers import CARRIERS
    from bridge.cst.check import check as check_stream

    offered = _tools(tools)
    open_source = _sources(protocol, sse, finish, output_cap, offered)
    with nullcontext(sys.stdin.buffer) if file is None else _opened(file) as stream:
        data = stream.read()
    carrier = CARRIERS[protocol]
    report = check_stream(data, protocol, open_source, lambda: carrier.reader(offered, output_cap))
    (_print_rows if as_json else _print_table)(report)
    if any(each.violations for each in report.properties):
        raise typer.Exit(1)


def _print_table(report: Report) -> None:
    print("| property | | comparisons | violations |\n|---|---|---|---|")
    for each in report.properties:
        print(f"| {each.name} | {each.says} | {each.compared} | {len(each.violations)} |")
    print(f"\n{report.size} bytes, {report.calls} executable calls in the whole stream")
    if report.broken:
        print(printable(f"the stream is broken: {report.broken}"))
    for each in report.properties:
        for found in each.violations[:3]:
            calls = ", ".join(found.calls) or "none"
            print_note(
                printable(f"{each.name} after {found.prefix} bytes, calls {calls}: {found.what}")
            )


def _print_rows(report: Report) -> None:
    from dataclasses import asdict

    for each in report.properties:
        row = asdict(each) | {"holds": not each.violations}
        print_json({"type": "property", **row})
    print_json({"type": "stream", "size": report.size, "calls": report.calls,
                "broken": report.broken})  # fmt: skip


def _sources(
    protocol: str,
    sse: Format | None,
    finish: End | None,
    output_cap: int | None,
    tools: Sequence[ToolSpec],
) -> Callable[[], Source]:
    """Makes sources of the stream that the options describe."""
    from bridge.conversation.stream import Finish, FinishReason
    from bridge.cst.carriers import CARRIERS
    from bridge.cst.reading import TEXT_MODES, RawText
    from bridge.errors import ConfigurationError

    if protocol not in CARRIERS:
        raise ConfigurationError(
            f"there is no protocol {protocol!r}", advice=f"one of: {', '.join(CARRIERS)}"
        )
    if sse is not None:
        if finish is not None:
            raise ConfigurationError(
                "an event stream says itself how it ended", advice="leave --finish out"
            )
        return _kept_streams(sse, CARRIERS[protocol].request_tools(tools), output_cap)
    if protocol not in TEXT_MODES:
        raise ConfigurationError(
            f"raw text cannot carry the calls of {protocol}",
            advice="they are fields of an event stream: --sse chat, responses or anthropic",
        )
    if output_cap is not None:
        raise ConfigurationError(
            "raw text does not say how many tokens it is",
            advice="leave --output-cap out; --finish length is a reply that was cut",
        )
    if finish is None:
        # where only the end confirms, no end would confirm nothing
        finish = End.STOP if protocol == "xml" else None
    end = Finish(FinishReason(finish.value)) if finish else None
    return lambda: RawText(end)


def _kept_streams(
    sse: Format, tools: Sequence[ToolSpec], output_cap: int | None
) -> Callable[[], Source]:
    from bridge.providers.kept_stream import KeptStream

    return lambda: KeptStream(sse.value, tools, output_cap, print_note)


def _tools(path: Path | None) -> Sequence[ToolSpec]:
    from bridge.conversation.finish import FINISH
    from bridge.cst.tool_list import read_tools
    from device_tools.catalog import PHONE_TOOLS

    if path is None:
        return (*PHONE_TOOLS, FINISH)
    with _opened(path) as file:
        return read_tools(file.read(), str(path))


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
