"""Sessions are listed, found, filtered and deleted."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bridge.errors import RecordError
from bridge.store.database import Database, connect
from bridge.store.sessions import RUNS_FOLDER, Filter, delete, find, listed, newest
from bridge.store.transcripts import Transcripts
from tests.bridge.store.stories import begin, whole_run


def ids(transcripts: Transcripts, wanted: Filter) -> list[str]:
    return [session.id for session in listed(transcripts.database, wanted=wanted)]


def test_lists_sessions_by_last_use(tmp_path: Path) -> None:
    """The session whose newest run began last comes first, with that run's facts."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        whole_run(transcripts, "r-1", "s-1", "first")
        whole_run(transcripts, "r-2", "s-2", "second")
        begin(transcripts, "r-3", "s-1", "first again")
        found = listed(transcripts.database)
        assert [(each.id, each.runs, each.newest.id) for each in found] == [
            ("s-1", 2, "r-3"),
            ("s-2", 1, "r-2"),
        ]
        assert found[0].title == "first" and found[0].newest.status == "running"
        assert newest(transcripts.database)[0].id == "r-3"
        assert len(listed(transcripts.database, limit=1)) == 1


def test_finds_by_id_session_and_beginning(tmp_path: Path) -> None:
    """An id, a session id and a beginning that means one session find their runs."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        for run, session in (("r-1", "s-1"), ("r-2", "s-2"), ("r-3", "s-2")):
            whole_run(transcripts, run, session)
        found = {name: [run.id for run in find(transcripts.database, name)] for name in NAMES}
        assert found == NAMES
        for name in ("r-", "s-", "x", "%", "R-1"):
            with pytest.raises(RecordError):
                find(transcripts.database, name)


NAMES = {"r-1": ["r-1"], "s-1": ["r-1"], "s-2": ["r-2", "r-3"], "r-3": ["r-3"]}


def test_filters_narrow_together(tmp_path: Path) -> None:
    """Status, device, time and text; what stands for itself in SQL or JSON is plain text here."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        whole_run(transcripts, "r-1", "s-1", 'say "100%" and 你好')
        whole_run(transcripts, "r-2", "s-2", "other")
        begin(transcripts, "r-3", "s-3", "third")
        assert ids(transcripts, Filter(status="done")) == ["s-2", "s-1"]
        assert ids(transcripts, Filter(status="running", device="virtual")) == ["s-3"]
        assert ids(transcripts, Filter(device="another")) == []
        assert ids(transcripts, Filter(since=4e9)) == []
        assert ids(transcripts, Filter(since=0.0, text="OTHER")) == ["s-2"]
        for text in ('"100%"', "你好", "100%"):
            assert ids(transcripts, Filter(text=text)) == ["s-1"]
        assert ids(transcripts, Filter(text="turn 1")) == ["s-2", "s-1"]
        assert ids(transcripts, Filter(text="1_0%")) == []


def test_deleting_removes_every_trace_of_the_session(tmp_path: Path) -> None:
    """Rows, files and bytes go; other sessions stay; a session in use is refused."""
    path = tmp_path / "bridge.db"
    with closing(Transcripts(path)) as transcripts:
        whole_run(transcripts, "r-1", "s-1", "the unwanted task")
        whole_run(transcripts, "r-2", "s-1", "again")
        whole_run(transcripts, "r-3", "s-2", "kept")
        folder = tmp_path / RUNS_FOLDER / "r-1"
        folder.mkdir(parents=True)
        (folder / "state.json").write_text("{}")
        gone = delete(transcripts.database, tmp_path, "r-2")
        assert [run.id for run in gone] == ["r-1", "r-2"]
        assert ids(transcripts, Filter()) == ["s-2"]
        assert not folder.exists()
        begin(transcripts, "r-4", "s-2")
        with pytest.raises(RecordError, match="going on"):
            delete(transcripts.database, tmp_path, "s-2")
    stored = b"".join(file.read_bytes() for file in tmp_path.glob("bridge.db*"))
    assert b"unwanted" not in stored and b"kept" in stored


def test_listing_costs_the_same_whatever_the_record_holds(tmp_path: Path) -> None:
    """SQLite takes no more steps for the newest five of 800 sessions with long runs than of 8."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    def counting(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.set_progress_handler(count, 1)
        return connection

    taken = []
    with closing(Database(tmp_path / "bridge.db", counting)) as database:
        for first, last, events in ((0, 8, 1), (8, 800, 20)):
            add_sessions(database, first, last, events)
            steps = 0
            assert len(listed(database, 5)) == 5
            taken.append(steps)
    assert taken[0] > 0
    assert taken[1] <= taken[0] + 5


def add_sessions(database: Database, first: int, last: int, events: int) -> None:
    with database.transaction() as connection:
        for number in range(first, last):
            run, session = f"r-{number}", f"s-{number}"
            connection.execute(
                "INSERT INTO sessions VALUES (?, ?, 'task', ?, ?, 1)",
                (session, number, number, run),
            )
            connection.execute(
                "INSERT INTO runs (id, session, started, status, device, provider, model, "
                "protocol, pid) VALUES (?, ?, ?, 'done', 'd', 'p', 'm', 'ctl', 1)",
                (run, session, number),
            )
            connection.executemany(
                "INSERT INTO events (run, time, type, body) VALUES (?, 1, 'notice', '{}')",
                [(run,)] * events,
            )
