"""The record on a real SQLite file."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from bridge.conversation.events import Notice, RunFinished, RunStarted, RunStatus
from bridge.errors import RecordError
from bridge.store.database import MIGRATIONS, open_database
from bridge.store.journal import Recorder
from bridge.store.transcripts import Transcripts, unanswered

STARTED = RunStarted("turn off Wi-Fi", "virtual", "demo", "demo-rules", "ctl-heredoc")


def record_run(path: Path, run: str, session: str, *, finish: bool = True) -> None:
    with closing(Transcripts(path)) as transcripts:
        recorder = Recorder(transcripts, run, session)
        recorder.record(STARTED)
        recorder.record(Notice(1, "ünïcode 你好"))
        if finish:
            recorder.record(RunFinished(RunStatus.DONE, 0, "done"))


def test_lists_and_finds_runs_by_id_session_and_beginning(tmp_path: Path) -> None:
    """Runs come newest first; an id, a session id and an unambiguous beginning find them."""
    path = tmp_path / "bridge.db"
    record_run(path, "r-1", "s-1")
    record_run(path, "r-2", "s-2", finish=False)
    with closing(Transcripts(path)) as transcripts:
        assert [run.id for run in transcripts.runs()] == ["r-2", "r-1"]
        assert [(run.status, run.exit_code) for run in transcripts.runs()] == [
            ("running", None),
            ("done", 0),
        ]
        assert [run.id for run in transcripts.find("s-1")] == ["r-1"]
        assert [run.id for run in transcripts.find("r-2")] == ["r-2"]
        for name in ("r-", "x", "%"):
            with pytest.raises(RecordError):
                transcripts.find(name)
        types = [record["type"] for record in transcripts.events("r-1")]
    assert types == ["run_started", "notice", "run_finished"]


def test_a_run_has_one_terminal_result(tmp_path: Path) -> None:
    """The second terminal event is refused and changes nothing."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        recorder = Recorder(transcripts, "r-1", "s-1")
        recorder.record(STARTED)
        recorder.record(RunFinished(RunStatus.DONE, 0, "done"))
        with pytest.raises(RecordError):
            recorder.record(RunFinished(RunStatus.FAILED, 1, "no"))
        assert transcripts.runs()[0].status == "done"
        assert len(list(transcripts.events("r-1"))) == 2


def test_events_cannot_be_changed(tmp_path: Path) -> None:
    """The database itself refuses to rewrite an event."""
    path = tmp_path / "bridge.db"
    record_run(path, "r-1", "s-1")
    with closing(open_database(path)) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute("UPDATE events SET body = '{}'")


def test_refuses_a_newer_and_a_foreign_file(tmp_path: Path) -> None:
    """A file of a newer program, or no database at all, is a clear error and stays as it is."""
    newer = tmp_path / "newer.db"
    with closing(sqlite3.connect(newer)) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    foreign = tmp_path / "foreign.db"
    foreign.write_bytes(b"this is no database, it is a text file\n" * 50)
    before = foreign.read_bytes()
    with pytest.raises(RecordError, match="newer version"):
        open_database(newer)
    with pytest.raises(RecordError, match="not a readable database"):
        open_database(foreign)
    assert foreign.read_bytes() == before


def test_a_home_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    """A path below a file cannot become a folder: RecordError, not OSError."""
    (tmp_path / "home").write_text("a file")
    with pytest.raises(RecordError):
        open_database(tmp_path / "home" / "bridge.db")


def test_kill_9_leaves_intents_readable_as_unknown(tmp_path: Path) -> None:
    """A writer killed between intent and outcome leaves both what it stored and the question."""
    path = tmp_path / "bridge.db"
    code = (
        "import os, sys; from pathlib import Path\n"
        "from bridge.store.journal import Recorder\n"
        "from bridge.store.transcripts import Transcripts\n"
        "from bridge.conversation.events import *\n"
        "from device_tools.schema import RiskGroup\n"
        "recorder = Recorder(Transcripts(Path(sys.argv[1])), 'r-1', 's-1')\n"
        "recorder.record(RunStarted('t', 'd', 'p', 'm', 'ctl-heredoc'))\n"
        "recorder.record(CallIntended(1, 'c1', 'tap', RiskGroup.DIRECT, {'x': 1}, 'call'))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(path)], env={**os.environ}, check=False)
    assert ended.returncode == -signal.SIGKILL
    with closing(Transcripts(path)) as transcripts:
        records = list(transcripts.events("r-1"))
    assert [record["type"] for record in records] == ["run_started", "call_intended"]
    assert [record["call_id"] for record in unanswered(records)] == ["c1"]
