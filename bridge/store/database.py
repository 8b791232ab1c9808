"""The one function that opens the record's database, and its schema by version.

WAL with synchronous FULL: a commit that returned survives a power cut. A file written by a newer
program is refused, never touched.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from bridge.errors import RecordError

BUSY_SECONDS = 5.0
"""How long a writer waits for another process's commit."""

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

MIGRATIONS: tuple[str, ...] = (_VERSION_1,)
"""Script N brings a database from version N to N + 1; released scripts never change."""


def open_database(path: Path) -> sqlite3.Connection:
    """Open (and create or migrate) the record.

    Raises:
        RecordError: unreadable, corrupt, locked, or written by a newer program.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # made here so that its WAL, which takes over its mode, is private from the first byte
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise record_error(error, path) from error
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        _migrate(connection, path)
    except (OSError, sqlite3.Error) as error:
        connection.close()
        raise record_error(error, path) from error
    except RecordError:
        connection.close()
        raise
    return connection


def record_error(error: Exception, path: Path | str) -> RecordError:
    """The error of the tree for what SQLite or the file system said."""
    if isinstance(error, sqlite3.DatabaseError) and "not a database" in str(error):
        return RecordError(
            f"{path} is not a readable database", advice="move the file away to start a new record"
        )
    return RecordError(
        f"the record {path} cannot be used: {error}",
        advice="check free space and permissions of the home folder (BRIDGE_HOME)",
    )


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
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
    except (sqlite3.Error, RecordError):
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


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
