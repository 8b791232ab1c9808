"""The record of one home folder: runs begin, append events, and end exactly once.

What a run says is appended as it happens (``events``). Only its end touches the session, through
the outbox (``bridge.store.outbox``). Opening brings to an end what a dead process left behind.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bridge.errors import RecordError
from bridge.store import liveness, outbox, recovery
from bridge.store.database import Connect, Database, connect, record_error
from bridge.store.recovery import unanswered
from bridge.store.redaction import Redacted
from bridge.store.run_state import Ender, Phase, RunState, claim, close, take_over

__all__ = ["RUNNING", "Transcripts", "unanswered"]

TITLE_CHARS = 120
SUMMARY_CHARS = 200
RUNNING = "running"
_SLICE = 200
"""Events read at once: a reader that prints slowly must not hold a transaction open."""


class Transcripts:
    """Write and read the record. One object per process and home is enough."""

    def __init__(self, path: Path, connector: Connect = connect) -> None:
        self.database = Database(path, connector)
        self.home = path.parent
        self._held: dict[str, liveness.Held] = {}
        self.recover()
        self.drain()

    def close(self) -> None:
        for held in self._held.values():
            held.release(forget=False)
        self.database.close()

    def begin_run(self, run: str, session: str, started: Redacted, pid: int) -> None:
        """Store a run with its first event; a new ``session`` is created with it.

        Raises:
            RecordError: not stored, the run exists already, or another one of the session goes on.
        """
        record = started.record
        title = " ".join(str(record["task"]).split())[:TITLE_CHARS]
        self._held[run] = liveness.hold(self.home, run)
        with self.database.transaction() as connection:
            connection.execute(
                "INSERT INTO sessions (id, created, title) VALUES (?, ?, ?) "
                "ON CONFLICT(id) DO NOTHING",
                (session, record["time"], title),
            )
            _check_idle(connection, session)
            outbox.put_unapplied(connection, session, record["time"])
            connection.execute(
                "INSERT INTO runs (id, session, started, status, device, provider, model, "
                "protocol, pid, phase, locks) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)",
                (
                    run, session, record["time"], RUNNING, record["device"], record["provider"],
                    record["model"], record["protocol"], pid, Phase.RUNNING,
                ),
            )  # fmt: skip
            connection.execute(
                "UPDATE sessions SET updated = ?, newest = ?, runs = runs + 1 WHERE id = ?",
                (record["time"], run, session),
            )
            _insert(connection, started)

    def append(self, event: Redacted, *, durable: bool = True) -> None:
        """Store one event. Without ``durable`` it survives the death of the process at once, and
        a power cut with the next durable one.

        Raises:
            RecordError: not stored; a call also when the run is being ended, any event when it
                has ended.
        """
        with self.database.transaction(durable=durable) as connection:
            _insert(connection, event)

    def begin_commit(self, run: str, who: Ender) -> bool:
        """Try to win the right to end ``run``; whoever gets True must call ``finish_run``."""
        # without a sync: the claim is worth something only while this process lives
        with self.database.transaction(durable=False) as connection:
            won = claim(_state(connection, run), who)
            if won is not None:
                _move(connection, run, won)
        return won is not None

    def finish_run(self, finished: Redacted, who: Ender | None = None) -> list[Redacted]:
        """Store the terminal event, the run's end and its outbox entry in one transaction.

        ``who`` holds the claim; None claims and ends at once. Calls that are still under way get
        the outcome UNKNOWN; those records are returned.

        Raises:
            RecordError: the run has another result, or another one is ending it.
        """
        run = finished.record["run"]
        ender = who or Ender.END
        with self.database.transaction() as connection:
            state = _state(connection, run)
            claimed = claim(state, ender) if who is None else state
            ended = close(claimed, ender) if claimed else None
            if ended is None:
                raise RecordError(f"run {run} was ended already ({state.committer})")
            unknown = recovery.unknown_outcomes(run, _calls(connection, run), time.time())
            _end(connection, [*unknown, finished], ended)
        if held := self._held.pop(run, None):
            held.release(forget=True)
        return unknown

    def recover(self) -> list[str]:
        """End every run whose process is gone, as interrupted; the ids of those it ended.

        Calls with an intent and no outcome get the outcome UNKNOWN. Doing it twice does nothing.
        """
        query = "SELECT id, pid, locks FROM runs WHERE phase <> 'terminal'"
        left = [
            run for run, pid, locks in self.database.rows(query) if not self._lives(run, pid, locks)
        ]
        return [run for run in left if self._end_dead(run)]

    def drain(self) -> int:
        """Hand finished runs to their sessions; how many are still waiting."""
        return outbox.drain(self.database, self.events, time)

    def events(self, run: str, after: int = 0) -> Iterator[dict[str, Any]]:
        """The records of one run in order; from behind event ``after`` (``seq``), 0 for all."""
        query = "SELECT seq, body FROM events WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?"
        while rows := self.database.rows(query, (run, after, _SLICE)):
            for _, body in rows:
                yield self._parsed(body)
            after = rows[-1][0]

    def _parsed(self, body: str) -> dict[str, Any]:
        try:
            record: dict[str, Any] = json.loads(body)
        except ValueError as error:
            raise record_error(error, self.database.path) from error
        return record

    def _lives(self, run: str, pid: int, locks: int) -> bool:
        if run in self._held:
            return True
        return liveness.lives(self.home, run) if locks else liveness.process_lives(pid)

    def _end_dead(self, run: str) -> bool:
        records = list(self.events(run))
        with self.database.transaction() as connection:
            state = take_over(_state(connection, run))
            ended = close(state, Ender.RECOVERY) if state else None
            if ended is None:
                return False
            now = time.time()
            unknown = recovery.unknown_outcomes(run, records, now)
            _end(
                connection,
                [*unknown, recovery.interrupted(run, records, len(unknown), now)],
                ended,
            )
        liveness.forget(self.home, run)
        return True


def _end(connection: sqlite3.Connection, last: Sequence[Redacted], ended: RunState) -> None:
    """Write the last events, of which the last one is terminal, and all that hangs on them."""
    for event in last:
        _insert(connection, event)
    record = last[-1].record
    connection.execute(
        "UPDATE runs SET finished = ?, status = ?, exit_code = ?, summary = ? WHERE id = ?",
        (
            record["time"],
            record["status"],
            record["exit_code"],
            str(record["summary"])[:SUMMARY_CHARS],
            record["run"],
        ),
    )
    _move(connection, record["run"], ended)
    outbox.put(connection, record["run"], record["time"])


def _check_idle(connection: sqlite3.Connection, session: str) -> None:
    query = "SELECT id FROM runs WHERE session = ? AND phase <> 'terminal'"
    if other := connection.execute(query, (session,)).fetchone():
        raise RecordError(
            f"run {other[0]} of this session is going on",
            advice=f"bridge steer {other[0]}, or wait",
        )


def _calls(connection: sqlite3.Connection, run: str) -> list[dict[str, Any]]:
    query = "SELECT body FROM events WHERE run = ? AND type IN ('call_intended', 'call_finished')"
    return [json.loads(body) for (body,) in connection.execute(query, (run,))]


def _state(connection: sqlite3.Connection, run: str) -> RunState:
    query = "SELECT phase, committer FROM runs WHERE id = ?"
    row = connection.execute(query, (run,)).fetchone()
    if row is None:
        raise RecordError(f"no run {run} is recorded", advice="see bridge sessions list")
    return RunState(Phase(row[0]), Ender(row[1]) if row[1] else None)


def _move(connection: sqlite3.Connection, run: str, state: RunState) -> None:
    connection.execute(
        "UPDATE runs SET phase = ?, committer = ? WHERE id = ?", (state.phase, state.committer, run)
    )


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
