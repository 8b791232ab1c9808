"""Those who may end a run race with real threads over a real record."""

from __future__ import annotations

import random
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from bridge.control.ending import ended_by
from bridge.control.session import RunSession
from bridge.conversation.events import RunFinished, RunStatus
from bridge.errors import ControlError, RecordError
from bridge.store.run_state import Ender
from bridge.store.transcripts import Transcripts
from device_tools.cancel import CancelScope
from tests.bridge.store.stories import begin, intended

OUTSIDE = (Ender.CANCEL, Ender.REPLACED, Ender.TIME_LIMIT)


def race(transcripts: Transcripts, run: str, chance: random.Random) -> Ender:
    """One run whose thread settles its own end while three others want to end it."""
    recorder = begin(transcripts, run, f"s-{run}")
    cancel = CancelScope()
    session = RunSession(run, recorder, cancel)
    start = threading.Barrier(len(OUTSIDE) + 1)
    waits = {who: chance.random() / 500 for who in (*OUTSIDE, Ender.END)}
    won: list[Ender] = []

    def end(who: Ender) -> None:
        start.wait()
        time.sleep(waits[who])
        if session.end(who, "7"):
            won.append(who)

    threads = [threading.Thread(target=end, args=(who,)) for who in OUTSIDE]
    for thread in threads:
        thread.start()
    start.wait()
    time.sleep(waits[Ender.END])
    ender = session.settle()
    reason = session.reason(ender)
    if reason is None:
        recorder.record(RunFinished(RunStatus.DONE, 0, "done"))
    else:
        recorder.record(ended_by(reason, {}, session.control.close()))
    for thread in threads:
        thread.join(20)
    assert won == ([] if ender is Ender.END else [ender])
    assert session.settle() is ender
    assert cancel.cancelled is (ender is not Ender.END)
    with pytest.raises(RecordError):
        recorder.record(RunFinished(RunStatus.FAILED, 1, "a second one"))
    return ender


def test_one_of_four_ends_the_run(tmp_path: Path) -> None:
    """In 80 races one claim wins, the loser learns it, and the result stored is the winner's."""
    chance = random.Random(3)
    status = {"end": "done", "cancel": "cancelled", "replaced": "cancelled", "time_limit": "limit"}
    seen = set()
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        for number in range(80):
            ender = race(transcripts, f"r-{number:03}", chance)
            seen.add(ender)
            ends = [
                record
                for record in transcripts.events(f"r-{number:03}")
                if record["type"] == "run_finished"
            ]
            assert [end["status"] for end in ends] == [status[ender.value]]
    assert len(seen) > 1


def test_a_run_that_is_being_ended_takes_no_call_and_no_message(tmp_path: Path) -> None:
    """From the claim on nothing new begins, though the run's thread has not noticed yet."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        recorder = begin(transcripts, "r-1", "s-1")
        session = RunSession("r-1", recorder, CancelScope())
        assert session.end(Ender.CANCEL)
        with pytest.raises(RecordError, match="ending"):
            recorder.record(intended(1))
        with pytest.raises(ControlError):
            session.control.steer("more", "socket")
