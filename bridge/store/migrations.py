"""The schema of the record by version, and the way forward from every older one.

A released script never changes. Every migration only adds: what an older program wrote stays.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from bridge.errors import RecordError

_VERSION_1 = """
CREATE TABLE sessions (
    id      TEXT PRIMARY KEY,
    created REAL NOT NULL,
    title   TEXT NOT NULL
);
CREATE TABLE runs (
    id        TEXT PRIMARY KEY,
    session   TEXT NOT NULL REFERENCES sessions(id),
    started   REAL NOT NULL,
    finished  REAL,
    status    TEXT NOT NULL,
    exit_code INTEGER,
    device    TEXT NOT NULL,
    provider  TEXT NOT NULL,
    model     TEXT NOT NULL,
    protocol  TEXT NOT NULL,
    pid       INTEGER NOT NULL
);
CREATE INDEX runs_by_session ON runs(session, started);
CREATE INDEX sessions_by_age ON sessions(created);
CREATE TABLE events (
    seq  INTEGER PRIMARY KEY AUTOINCREMENT,
    run  TEXT NOT NULL REFERENCES runs(id),
    time REAL NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX events_by_run ON events(run, seq);
CREATE TRIGGER events_are_append_only BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
"""

# sessions.updated and sessions.newest let a listing walk one index and read no body;
# runs.phase is the state machine of bridge.store.run_state; runs.locks says that the run shows by
# a lock that it lives (bridge.store.liveness), 0 in rows of version 1
_VERSION_2 = """
ALTER TABLE sessions ADD COLUMN updated REAL NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN newest TEXT;
ALTER TABLE sessions ADD COLUMN runs INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET
    updated = coalesce((SELECT max(started) FROM runs WHERE session = sessions.id), created),
    newest = (SELECT id FROM runs WHERE session = sessions.id
              ORDER BY started DESC, rowid DESC LIMIT 1),
    runs = (SELECT count(*) FROM runs WHERE session = sessions.id);
CREATE INDEX sessions_by_update ON sessions(updated);
ALTER TABLE runs ADD COLUMN phase TEXT NOT NULL DEFAULT 'running';
ALTER TABLE runs ADD COLUMN committer TEXT;
ALTER TABLE runs ADD COLUMN locks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN summary TEXT NOT NULL DEFAULT '';
UPDATE runs SET phase = 'terminal' WHERE status <> 'running';
CREATE INDEX runs_not_over ON runs(phase) WHERE phase <> 'terminal';
CREATE INDEX runs_by_device ON runs(device, started);
CREATE TRIGGER no_event_after_the_end BEFORE INSERT ON events
WHEN (SELECT phase FROM runs WHERE id = NEW.run) = 'terminal'
BEGIN SELECT RAISE(ABORT, 'the run is over'); END;
CREATE TRIGGER no_call_while_a_run_ends BEFORE INSERT ON events
WHEN NEW.type = 'call_intended'
    AND (SELECT phase FROM runs WHERE id = NEW.run) <> 'running'
BEGIN SELECT RAISE(ABORT, 'the run is ending'); END;
CREATE TABLE messages (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL REFERENCES sessions(id),
    run     TEXT NOT NULL,
    role    TEXT NOT NULL,
    chars   INTEGER NOT NULL,
    body    TEXT NOT NULL
);
CREATE INDEX messages_by_session ON messages(session, seq, chars);
CREATE TABLE checkpoints (
    session TEXT PRIMARY KEY REFERENCES sessions(id),
    run     TEXT NOT NULL,
    body    TEXT NOT NULL
);
CREATE TABLE marks (
    run     TEXT PRIMARY KEY REFERENCES runs(id),
    applied REAL NOT NULL
);
CREATE TABLE outbox (
    run      TEXT PRIMARY KEY REFERENCES runs(id),
    queued   REAL NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE previews (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    run     TEXT NOT NULL REFERENCES runs(id),
    turn    INTEGER NOT NULL,
    call_id TEXT NOT NULL,
    mime    TEXT NOT NULL,
    data    BLOB NOT NULL
);
CREATE INDEX previews_by_run ON previews(run, seq);
"""

MIGRATIONS: tuple[str, ...] = (_VERSION_1, _VERSION_2)
"""Script N brings a database from version N to N + 1."""


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the schema to the newest version, all or nothing.

    Raises:
        RecordError: the file was written by a newer program; it is not touched.
        sqlite3.Error: as SQLite says; the file is as before.
    """
    if _version(connection) == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")  # two processes may open a new home at once
    try:
        version = _version(connection)
        if version > len(MIGRATIONS):
            raise RecordError(
                f"{path} was written by a newer version (schema {version}; this one knows "
                f"{len(MIGRATIONS)})",
                advice="update bridge, or choose another BRIDGE_HOME",
            )
        for script in MIGRATIONS[version:]:
            for statement in _statements(script):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _statements(script: str) -> list[str]:
    # executescript would commit the open transaction; a migration is all or nothing
    statements: list[str] = []
    pending = ""
    for piece in script.split(";"):
        pending += piece + ";"
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return [statement for statement in statements if statement.strip(" \n;")]
