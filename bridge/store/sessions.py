"""Find, list and delete sessions. A listing walks one index and reads no event and no message."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bridge.errors import RecordError
from bridge.store.database import Database

RUNS_FOLDER = "runs"


@dataclass(frozen=True)
class RunSummary:
    """One run without its events; ``status`` is ``running`` until its terminal event is stored.
    Times are seconds since the epoch, ``summary`` the beginning of what it said at its end."""

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
    summary: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class SessionSummary:
    """A session as its newest run left it; ``updated`` is when that run began."""

    id: str
    created: float
    updated: float
    title: str
    runs: int
    newest: RunSummary

    def as_json(self) -> dict[str, Any]:
        newest = self.newest.as_json()
        run = {key: newest[key] for key in _OF_THE_RUN}
        return {
            "session": self.id,
            "title": self.title,
            "created": self.created,
            "updated": self.updated,
            "runs": self.runs,
            "run": self.newest.id,
            **run,
        }


_OF_THE_RUN = (
    "started", "finished", "status", "exit_code", "device", "provider", "model", "protocol",
    "summary",
)  # fmt: skip


@dataclass(frozen=True)
class Filter:
    """What to list; None means anything. ``since`` is seconds since the epoch; ``text`` is
    looked for, case ignored for ASCII, in the title, in the summary and in the messages."""

    status: str | None = None
    device: str | None = None
    since: float | None = None
    text: str | None = None


_RUN = (
    "runs.id, runs.session, sessions.title, runs.started, runs.finished, runs.status, "
    "runs.exit_code, runs.device, runs.provider, runs.model, runs.protocol, runs.summary"
)
_SESSION = "sessions.created, sessions.updated, sessions.runs"
_LISTED = f"SELECT {_SESSION}, {_RUN} FROM sessions JOIN runs ON runs.id = sessions.newest"  # noqa: S608
_FOUND = f"SELECT {_RUN} FROM runs JOIN sessions ON sessions.id = runs.session"  # noqa: S608
_TEXT = (
    "(sessions.title LIKE ? ESCAPE '\\' OR EXISTS (SELECT 1 FROM runs AS each WHERE "
    "each.session = sessions.id AND each.summary LIKE ? ESCAPE '\\') OR EXISTS (SELECT 1 FROM "
    "messages WHERE messages.session = sessions.id AND messages.body LIKE ? ESCAPE '\\'))"
)


def listed(
    database: Database, limit: int = 20, wanted: Filter | None = None
) -> list[SessionSummary]:
    """The sessions that match, most recently used first.

    Raises:
        RecordError: the record cannot be read.
    """
    conditions, values = _conditions(wanted or Filter())
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    query = f"{_LISTED}{where} ORDER BY sessions.updated DESC, sessions.rowid DESC LIMIT ?"
    return [_session(row) for row in database.rows(query, (*values, limit))]


def find(database: Database, name: str) -> list[RunSummary]:
    """The runs of a session, or the one run, that ``name`` (an id or its beginning) means.

    Raises:
        RecordError: nothing, or several things, begin with ``name``.
    """
    for column in ("id", "session"):
        exact = database.rows(f"{_FOUND} WHERE runs.{column} = ? ORDER BY runs.started", (name,))
        if exact:
            return [RunSummary(*row) for row in exact]
    # an index serves a range, not LIKE; what begins with name sorts between these two
    between = (name, f"{name}\U0010ffff")
    query = f"{_FOUND} WHERE runs.{{}} BETWEEN ? AND ? ORDER BY runs.started LIMIT 2000"
    rows = {
        row[0]: RunSummary(*row)
        for column in ("id", "session")
        for row in database.rows(query.format(column), between)
    }
    found = sorted(rows.values(), key=lambda run: run.started)
    if len({run.session for run in found}) == 1:
        return found
    what = "several sessions begin" if found else "no session or run begins"
    raise RecordError(f"{what} with {name!r}", advice="see bridge sessions list")


def newest(database: Database) -> list[RunSummary]:
    """The run that began last; empty in a new home."""
    rows = database.rows(f"{_FOUND} ORDER BY runs.started DESC, runs.rowid DESC LIMIT 1")
    return [RunSummary(*row) for row in rows]


def delete(database: Database, home: Path, name: str) -> list[RunSummary]:
    """Delete a whole session and the files of its runs; the runs that are gone.

    Raises:
        RecordError: no such session, one of its runs is going on, or nothing could be deleted.
    """
    session = find(database, name)[0].session
    runs = find(database, session)
    for run in runs:
        if run.status == "running":
            raise RecordError(f"run {run.id} is going on", advice=f"bridge cancel {run.id}")
    ids = [run.id for run in runs]
    _erase(database, session, ids)
    for each in ids:
        shutil.rmtree(home / RUNS_FOLDER / each, ignore_errors=True)
    return runs


def _erase(database: Database, session: str, runs: Iterable[str]) -> None:
    # overwritten, not only unlinked: who deletes a session wants its texts gone
    database.rows("PRAGMA secure_delete = ON")
    with database.transaction() as connection:
        for run in runs:
            for table in ("previews", "outbox", "marks", "events"):
                connection.execute(f"DELETE FROM {table} WHERE run = ?", (run,))  # noqa: S608
        for table in ("messages", "checkpoints", "runs"):
            connection.execute(f"DELETE FROM {table} WHERE session = ?", (session,))  # noqa: S608
        connection.execute("DELETE FROM sessions WHERE id = ?", (session,))
    database.rows("PRAGMA wal_checkpoint(TRUNCATE)")


def _conditions(wanted: Filter) -> tuple[list[str], list[object]]:
    conditions: list[str] = []
    values: list[object] = []
    for column, value in (("runs.status = ?", wanted.status), ("runs.device = ?", wanted.device)):
        if value is not None:
            conditions.append(column)
            values.append(value)
    if wanted.since is not None:
        conditions.append("sessions.updated >= ?")
        values.append(wanted.since)
    if wanted.text is not None:
        conditions.append(_TEXT)
        plain = f"%{_escaped(wanted.text)}%"
        # messages are stored as JSON
        values += [plain, plain, f"%{_escaped(json.dumps(wanted.text, ensure_ascii=False)[1:-1])}%"]
    return conditions, values


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _session(row: tuple[Any, ...]) -> SessionSummary:
    created, updated, runs, *rest = row
    run = RunSummary(*rest)
    return SessionSummary(run.session, created, updated, run.title, runs, run)
