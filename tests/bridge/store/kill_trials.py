"""kill -9 before and after every commit point of a run; in full by scripts/proof/record_kills.py.

A child records a run and says on a pipe before and after each event what it does; ``executed``
stands for the effect of a call. It is killed while it waits at one of these words, or a moment
behind it: inside a commit. Children are forked: call this from a single thread.
"""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.conversation.events import AssistantText, ResponseFinished, ResponseStarted
from bridge.store.recovery import unanswered
from bridge.store.transcripts import Transcripts
from tests.bridge.store.stories import begin, end, finished, intended

NAME = "bridge.db"


@dataclass(frozen=True)
class Killed:
    """What the child had said when it was killed."""

    executed: frozenset[int]
    recorded: int


def write_run(folder: Path, turns: int, say: Callable[[str], None]) -> None:
    """A run of ``5 * turns + 2`` events. ``say`` returns when the run may go on."""

    def around(event: Any) -> None:
        say("before")
        recorder.record(event)
        say("recorded")

    with closing(Transcripts(folder / NAME)) as transcripts:
        say("before")
        recorder = begin(transcripts, "r-1", "s-1")
        say("recorded")
        for turn in range(1, turns + 1):
            around(ResponseStarted(turn))
            around(AssistantText(turn, f"turn {turn}"))
            around(intended(turn))
            say(f"executed {turn}")
            around(finished(turn))
            around(ResponseFinished(turn, "stop", f"turn {turn}", 1, 1, 1.0))
        say("before")
        end(recorder)
        say("recorded")


def child(folder: Path, turns: int, point: int, out: int, wait: int | None) -> None:
    """What a forked child does; ends the process. At its ``point``-th word it waits to be killed
    when there is something to wait on, else it goes on."""
    said = itertools.count()

    def say(what: str) -> None:
        os.write(out, f"{what}\n".encode())
        if next(said) == point and wait is not None:
            os.read(wait, 1)

    write_run(folder, turns, say)
    os._exit(0)


def kill_at(folder: Path, turns: int, point: int, delay: float | None = None) -> Killed | None:
    """Run a child and kill it at its ``point``-th word; None when it had ended before.

    Without ``delay`` it waits there; with it, it goes on and the kill comes ``delay`` seconds
    later: somewhere inside what it does next.
    """
    words_out, words_in = os.pipe()
    never_out, never_in = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(words_out)
        child(folder, turns, point, words_in, never_out if delay is None else None)
    os.close(words_in)
    with os.fdopen(words_out, "rb") as words:
        heard = [words.readline() for _ in range(point + 1)]
        time.sleep(delay or 0)
        os.kill(pid, signal.SIGKILL)
        heard += words
        _, status = os.waitpid(pid, 0)
    os.close(never_in)
    os.close(never_out)
    if os.WIFEXITED(status):
        return None
    said = [word.decode().split() for word in heard]
    executed = frozenset(int(word[1]) for word in said if word[0] == "executed")
    return Killed(executed, sum(word[0] == "recorded" for word in said))


def problems(folder: Path, killed: Killed) -> list[str]:
    """Open what the child left; what is wrong with it."""
    with closing(Transcripts(folder / NAME)) as transcripts:
        (verdict,) = transcripts.database.rows("PRAGMA integrity_check")[0]
        records = list(transcripts.events("r-1"))
    found = [] if verdict == "ok" else [f"integrity: {verdict}"]
    theirs = [record for record in records if record.get("error") != "interrupted"]
    if len(theirs) not in (killed.recorded, killed.recorded + 1):
        found.append(f"{killed.recorded} events were acknowledged, {len(theirs)} are stored")
    calls = {record["turn"] for record in records if record["type"] == "call_intended"}
    if missing := killed.executed - calls:
        found.append(f"executed and not recorded: {sorted(missing)}")
    if unanswered(records):
        found.append("a call without an outcome is left")
    if records and [r["type"] for r in records].count("run_finished") != 1:
        found.append("the run has no single end")
    return found
