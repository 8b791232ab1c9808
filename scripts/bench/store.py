"""What the record costs: per turn of a run, per event, and to list a home of 10,000 sessions.

Run: python scripts/bench/store.py [runs]. Targets: below 5 ms per turn beside model and device, at
turn 64 at most 1.5 times turn 2; a list of 20 within 100 ms beyond the start of the program. The
time of an fsync on the same disk stands beside: one of them is in every turn with a call.
"""

from __future__ import annotations

import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from measure import figures, interleaved, python, table

from bridge.agent.limits import RunLimits
from bridge.agent.loop import AgentLoop
from bridge.config import group_switches
from bridge.conversation.events import AssistantText, CallIntended, RunStarted
from bridge.conversation.messages import ModelRequest
from bridge.conversation.stream import Finish, FinishReason, StreamEvent, TextDelta, Usage
from bridge.cst.carriers import CARRIERS
from bridge.policy import Policy
from bridge.store.journal import Recorder
from bridge.store.sessions import listed
from bridge.store.transcripts import Transcripts
from bridge.tools import Tools
from device_tools.cancel import CancelScope
from device_tools.catalog import PHONE_TOOLS
from device_tools.result import Secrecy, ToolResult, done
from device_tools.schema import RiskGroup, ValidCall

TURNS = 66
SESSIONS = 10_000
HUGE = 100_000
"""Events of the one huge session, 1 KB each."""
SCREEN = "Screen o1: Settings 1080x2400 rotation 0\n" + "\n".join(
    f'[{number}] button "Entry number {number} of the list" id=com.android.settings/row'
    for number in range(50)
)
STARTED = RunStarted("the task", "phone", "scripted", "m", "ctl-heredoc")


@dataclass
class Reply:
    events: Iterator[StreamEvent]

    def __iter__(self) -> Iterator[StreamEvent]:
        return self.events

    def expect_end(self) -> None:
        pass


@dataclass
class Model:
    """Answers at once, and notes when it is asked: by the clock, and by the processor's time."""

    asked: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)
    name: str = "scripted"
    model: str = "m"

    @contextmanager
    def stream(self, _request: ModelRequest) -> Iterator[Reply]:
        self.asked.append(time.perf_counter())
        self.worked.append(time.process_time())
        call = "call c1 observe_screen\nend\n"
        if len(self.asked) == TURNS:
            call = "call f finish\narg success true\narg summary Done.\nend\n"
        yield Reply(
            iter(
                (
                    TextDelta("I look at the screen, then decide.\n"),
                    TextDelta(call),
                    Finish(FinishReason.STOP, "stop"),
                    Usage(1000, 50),
                )
            )
        )


class Phone:
    def secrecy(self, name: str, arguments: Mapping[str, Any]) -> Secrecy:
        return Secrecy()

    def begin_turn(self) -> None:
        pass

    def execute(self, _call: ValidCall) -> ToolResult:
        return done(SCREEN)


class Clock:
    def monotonic(self) -> float:
        return time.monotonic()


def turn_seconds(home: Path) -> tuple[list[float], list[float]]:
    """Seconds of each turn of one run, from request to request: on the clock, at work."""
    model = Model()
    with closing(Transcripts(home / "bridge.db")) as transcripts:
        run = f"r-{time.monotonic_ns()}"
        recorder = Recorder(transcripts, run, f"s-{run}")
        recorder.record(STARTED)
        policy = Policy(partial(group_switches, home))
        tools = Tools(Phone(), PHONE_TOOLS, policy, lambda _call, _answer: None)
        carrier = CARRIERS["ctl-heredoc"]
        limits = RunLimits(turns=TURNS + 1)
        AgentLoop(model, carrier, tools, recorder, Clock(), CancelScope(), limits).run("the task")
    return steps(model.asked), steps(model.worked)


def steps(moments: list[float]) -> list[float]:
    return [after - before for before, after in pairwise(moments)]


def fsync_seconds(folder: Path, count: int = 100) -> list[float]:
    taken = []
    descriptor = os.open(folder / "fsync", os.O_RDWR | os.O_CREAT)
    for number in range(count):
        os.pwrite(descriptor, b"x" * 4096, number * 4096)
        start = time.perf_counter()
        os.fsync(descriptor)
        taken.append(time.perf_counter() - start)
    os.close(descriptor)
    return taken


def per_turn(home: Path, runs: int) -> None:
    fsyncs: list[float] = []
    clock: list[list[float]] = []
    work: list[list[float]] = []
    for _ in range(runs):
        fsyncs += fsync_seconds(home, 20)
        taken, worked = turn_seconds(home)
        clock.append(taken)
        work.append(worked)
    rows = []
    for name, turns in (("on the clock", clock), ("of the processor", work)):
        for number in (2, 64):
            rows.append([f"turn {number}, {name}", figures([each[number - 1] for each in turns])])
        rows.append([f"turns 2 to 64, {name}", figures([t for each in turns for t in each[1:64]])])
    rows.append(["one fsync of 4 KiB", figures(fsyncs)])
    print(table(["one turn with one call", "ms: median (lowest to highest)"], rows))
    for name, turns in (("clock", clock), ("processor", work)):
        # the neighbours too: one turn alone says more about its moment than about its number
        early = statistics.median(turn for each in turns for turn in each[1:9])
        late = statistics.median(turn for each in turns for turn in each[56:64])
        print(f"\nturns 57 to 64 take {late / early:.2f} times turns 2 to 9 ({name}; target: 1.5)")


def per_event(home: Path, count: int = 200) -> None:
    with closing(Transcripts(home / "bridge.db")) as transcripts:
        recorder = Recorder(transcripts, "r-events", "s-events")
        recorder.record(STARTED)
        text = AssistantText(1, "I look at the screen, then decide.")
        intent = CallIntended(1, "c", "tap", RiskGroup.DIRECT, {"x": 1, "y": 2}, "call c tap")
        taken = interleaved(
            {
                "a text": partial(recorder.record, text),
                "an intent": partial(recorder.record, intent),
            },
            count,
        )
    rows = [[name, figures(seconds)] for name, seconds in taken.items()]
    print(table(["commit of one event", "ms: median (lowest to highest)"], rows))


def fill(home: Path) -> None:
    """10,000 sessions with 4 events each, and one with 100,000, as the program stores them."""
    Transcripts(home / "bridge.db").close()
    chance = random.Random(1)
    with closing(sqlite3.connect(home / "bridge.db")) as connection:
        for number in range(SESSIONS):
            run, session, at = f"r-{number:05}", f"s-{number:05}", 1.7e9 + number
            connection.execute(
                "INSERT INTO sessions (id, created, title, updated, newest, runs) "
                "VALUES (?, ?, ?, ?, ?, 1)",
                (session, at, f"task {chance.random()}", at, run),
            )
            connection.execute(
                "INSERT INTO runs (id, session, started, finished, status, exit_code, device, "
                "provider, model, protocol, pid, phase) VALUES (?, ?, ?, ?, 'done', 0, 'phone', "
                "'p', 'm', 'ctl', 1, 'running')",
                (run, session, at, at),
            )
            count = HUGE if number == SESSIONS - 1 else 4
            connection.executemany(
                "INSERT INTO events (run, time, type, body) VALUES (?, ?, 'notice', ?)",
                (
                    (run, at, f'{{"type":"notice","run":"{run}","turn":1,"text":"{"x" * 1000}"}}')
                    for _ in range(count)
                ),
            )
        connection.execute("UPDATE runs SET phase = 'terminal'")
        connection.commit()


def in_process(home: Path) -> None:
    with closing(Transcripts(home / "bridge.db")) as transcripts:
        assert len(listed(transcripts.database)) == 20


def program(home: Path) -> None:
    environment = {**os.environ, "BRIDGE_HOME": str(home)}
    command = python("-m", "bridge", "sessions", "list")
    subprocess.run(command, check=True, capture_output=True, env=environment)


def work_seconds() -> float:
    """Processor time of this process and the children it has waited for."""
    return sum(os.times()[:4])


def listing(home: Path, empty: Path, repeat: int) -> None:
    fill(home)
    size = (home / "bridge.db").stat().st_size / 1e6
    calls = {
        f"bridge sessions list, {SESSIONS} sessions": partial(program, home),
        "bridge sessions list, an empty home": partial(program, empty),
        f"open and list 20 of {SESSIONS}, in process": partial(in_process, home),
    }
    clock: dict[str, list[float]] = {name: [] for name in calls}
    work: dict[str, list[float]] = {name: [] for name in calls}
    for number, (name, call) in enumerate(list(calls.items()) * (repeat + 1)):
        started, worked = time.perf_counter(), work_seconds()
        call()
        if number >= len(calls):  # the first round warms up
            clock[name].append(time.perf_counter() - started)
            work[name].append(work_seconds() - worked)
    rows = [[name, figures(clock[name]), figures(work[name])] for name in calls]
    print(table([f"a record of {size:.0f} MB", "ms on the clock", "ms of the processor"], rows))
    for name, times in (("clock", clock), ("processor", work)):
        full, none, _ = (statistics.median(seconds) * 1000 for seconds in times.values())
        print(f"\nbeyond start-up: {full - none:.1f} ms ({name}; target: at most 100)")


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(name, each) for each in ("turns", "events", "many", "empty")]
        for folder in folders:
            folder.mkdir()
        per_turn(folders[0], runs)
        print()
        per_event(folders[1])
        print()
        listing(folders[2], folders[3], runs)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
