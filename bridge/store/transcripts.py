"""Sessions, runs and their events in the database; events are only ever appended."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bridge.errors import RecordError
from bridge.store.database import open_database, record_error
from bridge.store.redaction import Redacted

TITLE_CHARS = 120
RUNNING = "running"


@dataclass(frozen=True)
class RunSummary:
    """One run without its events. ``status`` is ``running`` until the terminal event is stored;
    a run whose process is gone stays so, and readers call it interrupted."""

    id: str
    session: str
    title: str
    started: float
    finished: float | None
    status: str
    exit_code: int | None
    device: str
    provider: str
    model: str
    protocol: str
    pid: int

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


_COLUMNS = (
    "runs.id, runs.session, sessions.title, runs.started, runs.finished, runs.status, "
    "runs.exit_code, runs.device, runs.provider, runs.model, runs.protocol, runs.pid"
)
_RUNS = f"SELECT {_COLUMNS} FROM runs JOIN sessions ON sessions.id = runs.session"  # noqa: S608


class Transcripts:
    """The record of one home folder. Used from one thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = open_database(path)

    def close(self) -> None:
        self._connection.close()

    def begin_run(self, run: str, session: str, started: Redacted, pid: int) -> None:
        """Store a run with its first event; a new ``session`` is created with it."""
        record = started.record
        title = " ".join(str(record["task"]).split())[:TITLE_CHARS]
        with self._transaction() as connection:
            connection.execute(
                "INSERT INTO sessions VALUES (?, ?, ?) ON CONFLICT(id) DO NOTHING",
                (session, record["time"], title),
            )
            connection.execute(
                "INSERT INTO runs VALUES (?, ?, ?, NULL, ?, NULL, ?, ?, ?, ?, ?)",
                (
                    run, session, record["time"], RUNNING, record["device"], record["provider"],
                    record["model"], record["protocol"], pid,
                ),
            )  # fmt: skip
            _insert(connection, started)

    def append(self, event: Redacted) -> None:
        """Store one event; it is on disk when this returns."""
        with self._transaction() as connection:
            _insert(connection, event)

    def finish_run(self, finished: Redacted) -> None:
        """Store the terminal event and the run's end in one transaction, once."""
        record = finished.record
        with self._transaction() as connection:
            changed = connection.execute(
                "UPDATE runs SET finished = ?, status = ?, exit_code = ? "
                "WHERE id = ? AND status = ?",
                (record["time"], record["status"], record["exit_code"], record["run"], RUNNING),
            ).rowcount
            if changed != 1:
                raise RecordError(f"run {record['run']} already has a terminal result")
            _insert(connection, finished)

    def runs(self, limit: int = 20) -> list[RunSummary]:
        """The newest runs, newest first; no event is read."""
        query = f"{_RUNS} ORDER BY runs.started DESC, runs.rowid DESC LIMIT ?"
        return [RunSummary(*row) for row in self._rows(query, (limit,))]

    def find(self, name: str) -> list[RunSummary]:
        """The runs of a session, or the one run, that ``name`` (an id or its beginning) means.

        Raises:
            RecordError: nothing, or several things, begin with ``name``.
        """
        pattern = name.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        query = (
            f"{_RUNS} WHERE runs.id LIKE ?1 ESCAPE '\\' OR runs.session LIKE ?1 ESCAPE '\\' "
            "ORDER BY runs.started"
        )
        found = [RunSummary(*row) for row in self._rows(query, (pattern,))]
        exact = [run for run in found if name in (run.id, run.session)]
        if exact or (found and len({run.session for run in found}) == 1):
            return exact or found
        what = "several sessions begin" if found else "no session or run begins"
        raise RecordError(f"{what} with {name!r}", advice="see bridge sessions list")

    def events(self, run: str) -> Iterator[dict[str, Any]]:
        """The records of one run in order."""
        for (body,) in self._rows("SELECT body FROM events WHERE run = ? ORDER BY seq", (run,)):
            yield json.loads(body)

    def _rows(self, query: str, values: tuple[object, ...]) -> Iterator[tuple[Any, ...]]:
        try:
            with closing(self._connection.execute(query, values)) as cursor:
                yield from cursor
        except sqlite3.Error as error:
            raise record_error(error, self._path) from error

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except (sqlite3.Error, RecordError):
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise record_error(error, self._path) from error


def unanswered(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Intents without an outcome: after a crash nobody knows whether those calls happened."""
    answered = {
        (record["turn"], record["call_id"])
        for record in records
        if record["type"] == "call_finished"
    }
    return [
        record
        for record in records
        if record["type"] == "call_intended" and (record["turn"], record["call_id"]) not in answered
    ]


def _insert(connection: sqlite3.Connection, event: Redacted) -> None:
    record = event.record
    connection.execute(
        "INSERT INTO events (run, time, type, body) VALUES (?, ?, ?, ?)",
        (
            record["run"],
            record["time"],
            record["type"],
            json.dumps(record, ensure_ascii=False, separators=(",", ":")),
        ),
    )
