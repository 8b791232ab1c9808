"""The record on a real SQLite file."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bridge.conversation.events import (
    CallFinished,
    CallIntended,
    Notice,
    RunFinished,
    RunStarted,
    RunStatus,
)
from bridge.errors import RecordError
from bridge.store.database import open_database
from bridge.store.journal import Recorder
from bridge.store.run_state import Ender
from bridge.store.sessions import find, listed
from bridge.store.transcripts import Transcripts
from device_tools.schema import RiskGroup

STARTED = RunStarted("turn off Wi-Fi", "virtual", "demo", "demo-rules", "ctl-heredoc")
CALL = CallIntended(1, "c1", "tap", RiskGroup.DIRECT, {"x": 1, "y": 2}, "call c1 tap")


def outcome(call: CallIntended, exit_code: int = 0) -> CallFinished:
    what = ("DONE" if exit_code == 0 else "UNKNOWN", exit_code, "", "ok", 1.0)
    return CallFinished(call.turn, call.call_id, call.name, call.group, *what)


def record_run(path: Path, run: str, session: str, *, finish: bool = True) -> None:
    with closing(Transcripts(path)) as transcripts:
        recorder = Recorder(transcripts, run, session)
        recorder.record(STARTED)
        recorder.record(Notice(1, "ünïcode 你好"))
        if finish:
            recorder.record(RunFinished(RunStatus.DONE, 0, "done"))


def test_a_run_has_one_terminal_result(tmp_path: Path) -> None:
    """The second terminal event is refused and changes nothing."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        recorder = Recorder(transcripts, "r-1", "s-1")
        recorder.record(STARTED)
        recorder.record(RunFinished(RunStatus.DONE, 0, "done"))
        with pytest.raises(RecordError):
            recorder.record(RunFinished(RunStatus.FAILED, 1, "no"))
        assert find(transcripts.database, "r-1")[0].status == "done"
        assert len(list(transcripts.events("r-1"))) == 2


def test_only_the_winner_of_the_claim_ends_a_run(tmp_path: Path) -> None:
    """Once a cancel has claimed the end, the normal end is refused and no call may start, but
    the outcome of the call under way is still taken; after the end nothing is."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        recorder = Recorder(transcripts, "r-1", "s-1")
        recorder.record(STARTED)
        recorder.record(CALL)
        canceller = Recorder(transcripts, "r-1", "s-1")
        assert canceller.begin_commit(Ender.CANCEL)
        assert not recorder.begin_commit(Ender.CANCEL)
        for refused in (RunFinished(RunStatus.DONE, 0, "done"), replace(CALL, call_id="c2")):
            with pytest.raises(RecordError):
                recorder.record(refused)
        recorder.record(outcome(CALL, 130))
        canceller.record(RunFinished(RunStatus.CANCELLED, 130, "cancelled"))
        with pytest.raises(RecordError, match="over"):
            recorder.record(Notice(1, "late"))
        types = [record["type"] for record in transcripts.events("r-1")]
    assert types == ["run_started", "call_intended", "call_finished", "run_finished"]


def test_a_call_under_way_at_the_end_gets_the_outcome_unknown(tmp_path: Path) -> None:
    """A run that ends before a call has answered records that nobody knows whether it happened."""
    shown: list[Mapping[str, Any]] = []
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        recorder = Recorder(transcripts, "r-1", "s-1", [shown.append])
        recorder.record(STARTED)
        recorder.record(CALL)
        recorder.record(RunFinished(RunStatus.FAILED, 1, "internal error"))
        stored = list(transcripts.events("r-1"))
    assert stored == shown
    assert [record["type"] for record in stored][2:] == ["call_finished", "run_finished"]
    assert (stored[2]["outcome"], stored[2]["exit_code"]) == ("UNKNOWN", 75)


def test_events_cannot_be_changed(tmp_path: Path) -> None:
    """The database itself refuses to rewrite an event."""
    path = tmp_path / "bridge.db"
    record_run(path, "r-1", "s-1")
    with closing(open_database(path)) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute("UPDATE events SET body = '{}'")


def test_kill_9_leaves_calls_whose_outcome_is_unknown(tmp_path: Path) -> None:
    """A writer killed between intent and outcome leaves what it stored; the next one who opens
    the record adds that the outcome is unknown and the run was interrupted, once."""
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
        "recorder.record(Notice(1, 'not synced by itself'))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(path)], env={**os.environ}, check=False)
    assert ended.returncode == -signal.SIGKILL
    for _ in range(2):
        with closing(Transcripts(path)) as transcripts:
            records = list(transcripts.events("r-1"))
            (session,) = listed(transcripts.database)
        assert [record["type"] for record in records] == [
            "run_started", "call_intended", "notice", "call_finished", "run_finished",
        ]  # fmt: skip
        assert (records[3]["call_id"], records[3]["outcome"]) == ("c1", "UNKNOWN")
        assert session.newest.status == "interrupted"


def test_a_living_run_of_another_process_is_left_alone(tmp_path: Path) -> None:
    """Opening the record beside a run that is going on does not end it."""
    path = tmp_path / "bridge.db"
    with closing(Transcripts(path)) as transcripts:
        recorder = Recorder(transcripts, "r-1", "s-1")
        recorder.record(STARTED)
        code = (
            "import sys; from pathlib import Path\n"
            "from bridge.store.transcripts import Transcripts\n"
            "Transcripts(Path(sys.argv[1])).close()\n"
        )
        subprocess.run([sys.executable, "-c", code, str(path)], check=True)
        recorder.record(RunFinished(RunStatus.DONE, 0, "done"))
        assert find(transcripts.database, "r-1")[0].status == "done"
    assert list((tmp_path / "live").iterdir()) == []
