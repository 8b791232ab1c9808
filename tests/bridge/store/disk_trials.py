"""Trials of the record on a disk that fails or loses power; also run in full by scripts/proof.

The workload is two runs in one session, a deletion and an unfinished run, with a log so short
that it is written back to the database several times on the way.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bridge.conversation.events import Notice
from bridge.errors import RecordError
from bridge.store.journal import Recorder
from bridge.store.sessions import delete
from bridge.store.transcripts import Transcripts
from tests.bridge.store.stories import begin, end, intended, take_turn
from tests.doubles.disk import Disk, after_power_cut

NAME = "bridge.db"
DELETED = "r-0"
RUNS = ("r-1", "r-2", "r-3")


@dataclass
class Heard:
    """What the program was told is stored: the records, in order, by run.

    ``failed`` counts the operations that failed before the record was closed: closing writes the
    log back, and a failure there takes nothing and is told to nobody.
    """

    disk: Disk
    records: list[dict[str, Any]] = field(default_factory=list)
    failed: int = 0

    def listen(self, record: Any) -> None:
        self.records.append(json.loads(json.dumps(record)))
        durable = record["type"] in ("run_started", "call_intended", "run_finished")
        self.disk.mark(f"{'durable' if durable else 'written'} {len(self.records)}")


def workload(folder: Path, disk: Disk, heard: Heard) -> None:
    """RecordError where the disk failed."""
    with _opened(folder, disk) as transcripts:
        end(begin(transcripts, DELETED, "s-0", "to be deleted"))
        for run in RUNS[:2]:
            recorder = _listened(begin(transcripts, run, "s-1"), heard, run, transcripts)
            for turn in (1, 2):
                take_turn(recorder, turn, text="x" * 3000)
            end(recorder)
        delete(transcripts.database, folder, DELETED)
        recorder = _listened(begin(transcripts, RUNS[2], "s-1"), heard, RUNS[2], transcripts)
        take_turn(recorder, 1)
        recorder.record(intended(2))
        recorder.record(Notice(2, "the last word"))
        heard.failed = disk.failed


def _listened(_begun: Recorder, heard: Heard, run: str, transcripts: Transcripts) -> Recorder:
    """A recorder of a run that has begun, whose later events are heard."""
    (started,) = transcripts.events(run)
    heard.listen(started)
    return Recorder(transcripts, run, "s-1", [heard.listen])


@dataclass
class _Opened:
    folder: Path
    disk: Disk
    transcripts: Transcripts | None = None

    def __enter__(self) -> Transcripts:
        def connect(path: Path) -> sqlite3.Connection:
            connection = self.disk.connect(path)
            connection.execute("PRAGMA wal_autocheckpoint = 25")
            return connection

        self.transcripts = Transcripts(self.folder / NAME, connect)
        return self.transcripts

    def __exit__(self, *_what: object) -> None:
        if self.transcripts is not None:
            with suppress(RecordError):
                self.transcripts.close()


def _opened(folder: Path, disk: Disk) -> _Opened:
    return _Opened(folder, disk)


def recorded_workload(folder: Path, *, lies: bool = False) -> tuple[Disk, Heard]:
    """The workload once, without a fault."""
    disk = Disk(lies=lies)
    heard = Heard(disk)
    workload(folder, disk, heard)
    return disk, heard


def power_cut(folder: Path, disk: Disk, heard: Heard, count: int, seed: int) -> list[str]:
    """Cut the power behind operation ``count`` and open what is found; the problems."""
    for name, content in after_power_cut(disk.log, count, random.Random(seed)).items():
        (folder / name).write_bytes(content)
    marks = [each.name.split() for each in disk.log[:count] if each.kind == "mark"]
    durable = max((int(number) for word, number in marks if word == "durable"), default=0)
    written = max((int(number) for _, number in marks), default=0)
    return problems(folder, heard.records[:durable], heard.records[: written + 1])


def failing_disk(folder: Path, fail_at: int, fault: str, stays: bool) -> tuple[int, list[str]]:
    """Let operation ``fail_at`` fail; how many operations failed, and the problems."""
    disk = Disk(fail_at=fail_at, fault=fault, stays=stays)
    heard = Heard(disk)
    refused = False
    try:
        workload(folder, disk, heard)
    except RecordError:
        refused = True
    found = problems(folder, heard.records, None)
    if stays and heard.failed and not refused:
        found.append("the disk stayed broken and nobody was told")
    return disk.failed, found


def problems(
    folder: Path, must: list[dict[str, Any]], may: list[dict[str, Any]] | None
) -> list[str]:
    """Open the record with the standard library and compare: all of ``must`` is there, in order;
    nothing that ``may`` (None: whatever was asked) does not hold; all calls have an outcome."""
    try:
        with closing(Transcripts(folder / NAME)) as transcripts:
            (verdict,) = transcripts.database.rows("PRAGMA integrity_check")[0]
            foreign = transcripts.database.rows("PRAGMA foreign_key_check")
            stored = [record for run in RUNS for record in transcripts.events(run)]
    except RecordError as error:
        return [f"unreadable: {error}"]
    found = [] if (verdict, foreign) == ("ok", []) else [f"integrity: {verdict} {foreign}"]
    theirs = [record for record in stored if not _added_by_recovery(record)]
    missing = [record for record in must if record not in theirs]
    if missing:
        found.append(f"acknowledged and lost: {missing}")
    if may is not None and theirs != may[: len(theirs)]:
        found.append("stored is not what was recorded, in its order")
    found += _unfinished(stored)
    return found


def _added_by_recovery(record: dict[str, Any]) -> bool:
    return record.get("error") == "interrupted"


def _unfinished(stored: list[dict[str, Any]]) -> Iterator[str]:
    for run in {record["run"] for record in stored}:
        kinds = [record["type"] for record in stored if record["run"] == run]
        if kinds.count("run_finished") != 1 or kinds[-1] != "run_finished":
            yield f"{run} has no single end"
        if kinds.count("call_intended") != kinds.count("call_finished"):
            yield f"{run} has calls without an outcome"
