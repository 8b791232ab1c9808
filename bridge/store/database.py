"""The one function that opens the record's database, and transactions on it.

Write-ahead log with synchronous FULL: a durable transaction that returned survives a power cut.
A transaction that need not be durable by itself is written to the log without a sync: it
survives the death of the process, and the next durable one syncs it too.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bridge.errors import RecordError
from bridge.store.migrations import migrate

BUSY_SECONDS = 5.0
"""How long a writer waits for another process's commit."""

Connect = Callable[[Path], sqlite3.Connection]

# a garbled schema ends up in SQLite's message, which Python then cannot decode
_FAULTS = (OSError, sqlite3.Error, UnicodeDecodeError)
_LEAST_ROOM = 64 * 1024
_NOT_OURS = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}
_HARMLESS = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_ERROR,
}
"""Errors after which the same connection may go on: nothing was half written."""


def connect(path: Path) -> sqlite3.Connection:
    """A connection without implicit transactions, usable from any one thread at a time."""
    return sqlite3.connect(
        path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )


def open_database(path: Path, connector: Connect = connect) -> sqlite3.Connection:
    """Open (and create or migrate) the record.

    Raises:
        RecordError: unreadable, corrupt, locked, full, or written by a newer program.
    """
    try:
        _make(path)
        connection = connector(path)
    except _FAULTS as error:
        raise record_error(error, path) from error
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        migrate(connection, path)
    except _FAULTS as error:
        connection.close()
        raise record_error(error, path) from error
    except RecordError:
        connection.close()
        raise
    return connection


def _make(path: Path) -> None:
    """An empty file in its folder, private from the first byte: the log takes over its mode."""
    if not path.parent.is_dir():
        path.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
        # SQLite syncs the folder of its files; that the folder exists is ours to make durable
        folder = os.open(path.parent.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


class Database:
    """One connection, one transaction at a time, from any thread.

    After an error of the disk nothing more is written through it: what a failed sync left in
    the caches of the system is unknown, and trying again would hide that.
    """

    def __init__(self, path: Path, connector: Connect = connect) -> None:
        self.path = path
        self._connection = open_database(path, connector)
        self._lock = threading.RLock()
        self._durable = True
        self._broken: RecordError | None = None

    def close(self) -> None:
        with self._lock:
            try:
                self._connection.close()
            except sqlite3.Error as error:
                raise record_error(error, self.path) from error

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """All rows of a reading query; keep it bounded, the reader is in the writers' way.

        Raises:
            RecordError: the file cannot be read.
        """
        with self._lock:
            try:
                return self._connection.execute(query, tuple(values)).fetchall()
            except _FAULTS as error:
                raise record_error(error, self.path) from error

    @contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """All or nothing. With ``durable`` it is on disk, with all before it, on return.

        Raises:
            RecordError: nothing was written; whatever was acknowledged before stands.
        """
        with self._lock:
            if self._broken is not None:
                raise self._broken
            try:
                self._synchronous(durable)
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    yield self._connection
                    self._connection.execute("COMMIT")
                finally:
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
            except _FAULTS as error:
                failure = record_error(error, self.path)
                if _code(error) not in _HARMLESS:
                    self._broken = failure
                raise failure from error

    def _synchronous(self, durable: bool) -> None:
        if durable != self._durable:
            level = "FULL" if durable else "NORMAL"
            self._connection.execute(f"PRAGMA synchronous = {level}")
            self._durable = durable


def record_error(error: Exception, path: Path | str) -> RecordError:
    """The error of the tree for what SQLite or the file system said."""
    code = _code(error)
    if code in _NOT_OURS or isinstance(error, ValueError):
        return RecordError(
            f"{path} is not a readable database ({error})",
            advice="move the file away, with its -wal and -shm, to start a new record",
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return RecordError(
            f"the record {path} is locked by another program",
            advice="end what holds it (a backup, a database browser), then try again",
        )
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _is_full(path)):
        return RecordError(
            f"the record {path} cannot grow: the disk is full",
            advice="make space; what was recorded so far is safe",
        )
    if code == sqlite3.SQLITE_READONLY:
        return RecordError(
            f"the record {path} may not be written",
            advice="check the permissions of the home folder (BRIDGE_HOME)",
        )
    if code == sqlite3.SQLITE_CONSTRAINT:
        return RecordError(f"the record refuses this: {error}")
    return RecordError(
        f"the record {path} cannot be used: {error}",
        advice="check free space and permissions of the home folder (BRIDGE_HOME)",
    )


def _is_full(path: Path | str) -> bool:
    """A full disk also takes no shared memory file, which SQLite calls an I/O error."""
    try:
        left = os.statvfs(Path(path).parent)
    except OSError:
        return False
    return left.f_bavail * left.f_frsize < _LEAST_ROOM


def _code(error: Exception) -> int:
    """The primary result code of SQLite, 0 when the error has none."""
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
