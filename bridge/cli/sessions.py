"""``bridge sessions``: what was done, from the record."""

from __future__ import annotations

import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bridge.cli.common import JsonFlag, print_json, print_note, printable

if TYPE_CHECKING:
    from contextlib import closing

    from bridge.store.sessions import RunSummary
    from bridge.store.transcripts import Transcripts

NO_RUNS = "no run is recorded yet; `bridge run` makes one"

app = typer.Typer(
    help="List, show, export and delete recorded sessions.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Name = Annotated[
    str | None,
    typer.Argument(
        metavar="[ID]", help="A run or session, or the beginning of its id; default: the newest."
    ),
]


class Format(StrEnum):
    JSONL = "jsonl"
    MARKDOWN = "markdown"


@app.command("list")
def list_sessions(
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 20,
    status: Annotated[
        str | None,
        typer.Option(help="running, done, failed, limit, cancelled or interrupted."),
    ] = None,
    device: Annotated[str | None, typer.Option(help="Serial of the phone.")] = None,
    since: Annotated[
        str | None, typer.Option(help="Used since: 2026-01-31, 2026-01-31T09:30, 45m, 12h or 7d.")
    ] = None,
    text: Annotated[
        str | None, typer.Option(help="Part of a task, an answer or a message.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """The sessions, most recently used first."""
    from bridge.store.sessions import Filter, listed

    moment = None if since is None else parse_since(since, time.time())
    with _open() as transcripts:
        found = listed(transcripts.database, limit, Filter(status, device, moment, text))
    for session in found:
        run = session.newest
        if as_json:
            print_json({"v": 1, "type": "session"} | session.as_json())
        else:
            again = f" ({session.runs} runs)" if session.runs > 1 else ""
            line = f"{session.id}  {_date(run)}  {run.status:11}  {run.device}  {run.title}{again}"
            print(printable(line))
    if not found and not as_json:
        print_note(NO_RUNS if status == device == since == text else "no session matches")


@app.command("show")
def show(name: Name = None, as_json: JsonFlag = False) -> None:
    """The story of a run, without its secrets."""
    from bridge.store.export import handed_out

    with _open() as transcripts:
        runs = _runs(transcripts, name)
        if not runs and not as_json:
            print_note(NO_RUNS)
        if as_json:
            records = [record for run in runs for record in transcripts.events(run.id)]
            for record in handed_out(records):
                print_json(record)
            return
        for run in runs:
            _tell(run, list(transcripts.events(run.id)))


@app.command("export")
def export(
    name: Name = None,
    form: Annotated[Format, typer.Option("--format", help="jsonl or markdown.")] = Format.JSONL,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file; default: stdout.")
    ] = None,
) -> None:
    """The whole redacted record of a run or session."""
    from bridge.store.export import json_line, markdown

    with _open() as transcripts:
        stream = sys.stdout if output is None else output.open("w", encoding="utf-8")
        try:
            for run in _runs(transcripts, name):
                if form is Format.MARKDOWN:
                    stream.write(printable(markdown(run, transcripts.events(run.id))))
                    continue
                for record in transcripts.events(run.id):
                    stream.write(printable(json_line(record)) + "\n")
        finally:
            if output is not None:
                stream.close()


@app.command("delete")
def delete(
    name: Annotated[str, typer.Argument(metavar="ID", help="A session, or one of its runs.")],
    as_json: JsonFlag = False,
) -> None:
    """Delete a session: its runs, their events and their files."""
    from bridge.store.sessions import delete as delete_session

    with _open() as transcripts:
        runs = delete_session(transcripts.database, transcripts.home, name)
    if as_json:
        ids = [run.id for run in runs]
        print_json({"v": 1, "type": "deleted", "session": runs[0].session, "runs": ids})
    else:
        print(f"deleted session {runs[0].session} with {len(runs)} run(s)")


def parse_since(text: str, now: float) -> float:
    """The moment that ``--since`` names, in seconds since the epoch; local time without a zone.

    Raises:
        ConfigurationError: neither a date nor a span.
    """
    from datetime import datetime

    from bridge.errors import ConfigurationError

    units = {"m": 60, "h": 3600, "d": 86_400}
    if text[-1:] in units and text[:-1].isdecimal():
        return now - int(text[:-1]) * units[text[-1]]
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise ConfigurationError(
            f"--since {text!r} is no date", advice="2026-01-31, 2026-01-31T09:30, 45m, 12h or 7d"
        ) from None


def _open() -> closing[Transcripts]:
    from contextlib import closing

    from bridge.config import home_folder
    from bridge.run import DATABASE
    from bridge.store.transcripts import Transcripts

    return closing(Transcripts(home_folder() / DATABASE))


def _runs(transcripts: Transcripts, name: str | None) -> list[RunSummary]:
    from bridge.store.sessions import find, newest

    return newest(transcripts.database) if name is None else find(transcripts.database, name)


def _tell(run: RunSummary, records: list[dict[str, Any]]) -> None:
    from bridge.cli.progress import describe
    from bridge.config import home_folder
    from bridge.run import RUNS

    print(f"session {run.session}, started {_date(run)}, {run.status}")
    for record in records:
        if record["type"] == "call_intended":
            shown = ", ".join(f"{key}={value!r}" for key, value in record["arguments"].items())
            print(f"  → {record['name']}({shown})")
        elif line := describe(record):
            print(line)
    folder = home_folder() / RUNS / run.id
    if folder.is_dir():
        print(f"  files of this run: {folder}")


def _date(run: RunSummary) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.started))
