"""Finished runs wait here until their session has applied them, each exactly once.

The terminal commit of a run only queues it, so that ending is short whatever the session holds.
Applying writes the run's messages, the session's checkpoint and the run's mark in one
transaction. Only when that is durable the entry goes; a replay finds the mark and does nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from bridge.store.database import Database
from bridge.store.entries import (
    ARCHIVE_CHARS,
    CHECKPOINT_CHARS,
    NOTICE_ROOM,
    Entry,
    bounded,
    cut_notice,
    entries_of,
    from_json,
    without_old_screen,
)

BATCH = 8
"""Entries looked at in one drain."""
ITEM_SECONDS = 0.5
"""Reading one run may take this long; twice as long at every further attempt."""

Events = Callable[[str], Iterator[dict[str, Any]]]


_FIRST_OF_EACH_SESSION = """
SELECT outbox.run, runs.session, attempts, min(outbox.rowid) AS place
FROM outbox JOIN runs ON runs.id = outbox.run GROUP BY runs.session ORDER BY attempts, place LIMIT ?
"""


class Clock(Protocol):
    def time(self) -> float: ...
    def monotonic(self) -> float: ...


def put(connection: sqlite3.Connection, run: str, now: float) -> None:
    """Queue a finished run, inside the transaction that ends it."""
    connection.execute("INSERT INTO outbox (run, queued) VALUES (?, ?)", (run, now))


def put_unapplied(connection: sqlite3.Connection, session: str, now: float) -> None:
    """Queue the runs of a session that an older program recorded, before a new one begins."""
    connection.execute(
        "INSERT INTO outbox (run, queued) SELECT id, ? FROM runs WHERE session = ? AND id NOT IN "
        "(SELECT run FROM marks) AND id NOT IN (SELECT run FROM outbox) ORDER BY started, rowid",
        (now, session),
    )


def drain(database: Database, events: Events, clock: Clock, batch: int = BATCH) -> int:
    """Apply up to ``batch`` waiting runs, those with the fewest attempts first.

    Of one session the oldest comes first, and the others stay behind it. A run that exceeds its
    budget is left for a later drain. Returns how many wait still.

    Raises:
        RecordError: the record cannot be read or written; what waits is still there.
    """
    waiting = database.rows(_FIRST_OF_EACH_SESSION, (batch,))
    for run, session, attempts, _ in waiting:
        _deliver(database, events, clock, run, session, attempts)
    (left,) = database.rows("SELECT count(*) FROM outbox")[0] if waiting else (0,)
    return int(left)


def apply(database: Database, run: str, session: str, entries: list[Entry], now: float) -> bool:
    """Put the entries of a run into its session, with the run's mark; False when it has one."""
    with database.transaction() as connection:
        marked = connection.execute(
            "INSERT INTO marks (run, applied) VALUES (?, ?) ON CONFLICT(run) DO NOTHING",
            (run, now),
        ).rowcount
        if not marked:
            return False
        connection.executemany(
            "INSERT INTO messages (session, run, role, chars, body) VALUES (?, ?, ?, ?, ?)",
            [(session, run, each.role, each.chars, each.to_json()) for each in entries],
        )
        _bound_archive(connection, session)
        told = [without_old_screen(entry) for entry in entries]
        context = bounded([*checkpoint(connection, session), *told], CHECKPOINT_CHARS)
        connection.execute(
            "INSERT INTO checkpoints (session, run, body) VALUES (?, ?, ?) "
            "ON CONFLICT(session) DO UPDATE SET run = excluded.run, body = excluded.body",
            (session, run, "\n".join(entry.to_json() for entry in context)),
        )
    return True


def checkpoint(connection: sqlite3.Connection, session: str) -> list[Entry]:
    """The bounded context of a session, empty when no run was applied yet."""
    query = "SELECT body FROM checkpoints WHERE session = ?"
    row = connection.execute(query, (session,)).fetchone()
    return [from_json(line) for line in row[0].split("\n")] if row and row[0] else []


def _deliver(
    database: Database, events: Events, clock: Clock, run: str, session: str, attempts: int
) -> None:
    entries = _read(events(run), clock, ITEM_SECONDS * 2**attempts)
    if entries is None:
        with database.transaction(durable=False) as connection:
            connection.execute("UPDATE outbox SET attempts = attempts + 1 WHERE run = ?", (run,))
        return
    apply(database, run, session, bounded(entries, ARCHIVE_CHARS - NOTICE_ROOM), clock.time())
    # losing this one to a power cut only means one replay, which the mark answers
    with database.transaction(durable=False) as connection:
        connection.execute("DELETE FROM outbox WHERE run = ?", (run,))


def _read(records: Iterator[dict[str, Any]], clock: Clock, seconds: float) -> list[Entry] | None:
    """The entries of a run; None when making them takes longer than ``seconds``."""
    end = clock.monotonic() + seconds
    entries: list[Entry] = []
    for entry in entries_of(records):
        if clock.monotonic() > end:
            return None
        entries.append(entry)
    return entries


def _bound_archive(connection: sqlite3.Connection, session: str) -> None:
    """Keep the newest messages of a session within the limit, behind a notice."""
    rows = connection.execute(
        "SELECT seq, chars FROM messages WHERE session = ? ORDER BY seq DESC", (session,)
    ).fetchall()
    if sum(chars for _, chars in rows) <= ARCHIVE_CHARS:
        return
    room = ARCHIVE_CHARS - NOTICE_ROOM
    first_dropped = 0
    for seq, chars in rows:
        if chars > room:
            first_dropped = seq
            break
        room -= chars
    _replace_oldest(connection, session, first_dropped)


def _replace_oldest(connection: sqlite3.Connection, session: str, last: int) -> None:
    """Put one notice in the place of the messages up to ``last``."""
    which = "FROM messages WHERE session = ? AND seq <= ?"
    rows = connection.execute(f"SELECT body {which}", (session, last)).fetchall()
    dropped = [from_json(body) for (body,) in rows]
    notice = cut_notice(sum(entry.left_out or entry.chars for entry in dropped))
    connection.execute(f"DELETE {which}", (session, last))
    connection.execute(
        "INSERT INTO messages (seq, session, run, role, chars, body) VALUES (?, ?, '', ?, ?, ?)",
        (last, session, notice.role, notice.chars, notice.to_json()),
    )
