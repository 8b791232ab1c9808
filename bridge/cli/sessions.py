"""``bridge sessions``: what was done, from the record."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bridge.cli.common import JsonFlag, print_json, print_note, printable

if TYPE_CHECKING:
    from bridge.store.transcripts import RunSummary, Transcripts

NO_RUNS = "no run is recorded yet; `bridge run` makes one"

app = typer.Typer(help="List and show recorded runs.", no_args_is_help=True, rich_markup_mode=None)


@app.command("list")
def list_sessions(
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 20, as_json: JsonFlag = False
) -> None:
    """The newest runs, newest first."""
    with _open() as transcripts:
        runs = transcripts.runs(limit)
    for run in runs:
        if as_json:
            print_json({"v": 1, "type": "run"} | run.as_json() | {"status": status(run)})
        else:
            print(printable(f"{run.id}  {_date(run)}  {status(run):11}  {run.device}  {run.title}"))
    if not runs and not as_json:
        print_note(NO_RUNS)


@app.command("show")
def show(
    name: Annotated[
        str | None,
        typer.Argument(help="A run or session, or the beginning of its id; default: the newest."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """The story of a run, without its secrets."""
    with _open() as transcripts:
        runs = transcripts.runs(1) if name is None else transcripts.find(name)
        if not runs and not as_json:
            print_note(NO_RUNS)
        for run in runs:
            records = list(transcripts.events(run.id))
            if as_json:
                for record in records:
                    print_json(record)
            else:
                _tell(run, records)


def status(run: RunSummary) -> str:
    """``running`` only while its process lives; else ``interrupted``."""
    from bridge.store.transcripts import RUNNING

    if run.status != RUNNING or _alive(run.pid):
        return run.status
    return "interrupted"


def _alive(pid: int) -> bool:
    import os

    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _open() -> Any:
    from contextlib import closing

    from bridge.config import home_folder
    from bridge.run import DATABASE
    from bridge.store.transcripts import Transcripts

    transcripts: Transcripts = Transcripts(home_folder() / DATABASE)
    return closing(transcripts)


def _tell(run: RunSummary, records: list[dict[str, Any]]) -> None:
    from bridge.cli.progress import describe
    from bridge.config import home_folder
    from bridge.run import RUNS
    from bridge.store.transcripts import unanswered

    print(f"session {run.session}, started {_date(run)}, {status(run)}")
    for record in records:
        if record["type"] == "call_intended":
            shown = ", ".join(f"{key}={value!r}" for key, value in record["arguments"].items())
            print(f"  → {record['name']}({shown})")
        elif line := describe(record):
            print(line)
    for record in unanswered(records):
        print(f"  ? {record['name']}: it is unknown whether this call happened")
    folder = home_folder() / RUNS / run.id
    if folder.is_dir():
        print(f"  files of this run: {folder}")


def _date(run: RunSummary) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.started))
