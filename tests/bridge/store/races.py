"""One race for the end of a run: actors that step in an order drawn by chance, on a fake clock."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from bridge.conversation.events import RunFinished, RunStatus
from bridge.errors import RecordError
from bridge.store.journal import Recorder
from bridge.store.run_state import Ender
from bridge.store.transcripts import Transcripts
from tests.bridge.store.stories import begin, finished, intended

STATUS = {
    Ender.END: RunStatus.DONE,
    Ender.CANCEL: RunStatus.CANCELLED,
    Ender.REPLACED: RunStatus.CANCELLED,
    Ender.TIME_LIMIT: RunStatus.LIMIT,
}


def race(path: Path, run: str, chance: random.Random) -> str:
    """Race one run to its end and check that it ended once; the status it ended with.

    Actors are generators: each step is one thing another actor may come before or after. A crash
    stops every actor of the run's process for good and lets its lock go; recovery then opens the
    record like any other program would.
    """
    transcripts = Transcripts(path)
    begin(transcripts, run, f"s-{run}")
    published: list[RunStatus] = []
    actors = {who: _ender(Recorder(transcripts, run, f"s-{run}"), who, published) for who in STATUS}
    worker = _worker(Recorder(transcripts, run, f"s-{run}"))
    times = [(chance.random(), name) for name in ("work", *STATUS) for _ in range(3)]
    times.append((chance.random() * 2, "crash"))
    steps = {"work": worker, **actors}
    for _, name in sorted(times, key=lambda pair: pair[0]):
        if name == "crash":
            break
        next(steps[name], None)
    transcripts.close()  # as the death of the process does: the lock goes, its file stays
    for _ in range(2):  # two programs open it; the second has nothing left to do
        with closing(Transcripts(path)) as opened:
            status = _check(opened, run, published)
    return status


def _ender(recorder: Recorder, who: Ender, published: list[RunStatus]) -> Iterator[None]:
    if not recorder.begin_commit(who):
        return
    yield
    recorder.record(RunFinished(STATUS[who], 0, who.value))
    published.append(STATUS[who])
    yield


def _worker(recorder: Recorder) -> Iterator[None]:
    """Calls go on until one is refused because the run is being ended."""
    for turn in (1, 2, 3):
        try:
            recorder.record(intended(turn))
        except RecordError:
            return
        yield
        try:
            recorder.record(finished(turn))
        except RecordError:
            return


def _check(transcripts: Transcripts, run: str, published: list[RunStatus]) -> str:
    records = list(transcripts.events(run))
    ends = [record for record in records if record["type"] == "run_finished"]
    assert len(ends) == 1 and records[-1] is ends[0], records
    assert len(published) <= 1
    status = str(ends[0]["status"])
    assert status == (published[0].value if published else "interrupted")
    row = "SELECT phase, status, (SELECT count(*) FROM marks WHERE run = runs.id) FROM runs"
    assert transcripts.database.rows(f"{row} WHERE id = ?", (run,)) == [("terminal", status, 1)]
    answered = [record for record in records if record["type"] == "call_finished"]
    intents = [record for record in records if record["type"] == "call_intended"]
    assert len(answered) == len(intents)
    return status
