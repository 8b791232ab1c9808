"""Normal end, cancel, replacement, time limit and crash recovery race for one terminal result.

The races run on a fake clock: who acts next is drawn by seed. The full count is in
scripts/proof/run_races.py.
"""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from bridge.store.run_state import Ender, Phase, RunState, claim, close, take_over
from bridge.store.transcripts import Transcripts
from tests.bridge.store.races import race
from tests.bridge.store.stories import begin


@pytest.mark.parametrize("seed", range(4))
def test_random_races_have_one_winner(seed: int, tmp_path: Path) -> None:
    """Whatever the order, one claim wins, one terminal event is stored, one entry is queued."""
    chance = random.Random(seed)
    for number in range(25):
        race(tmp_path / "bridge.db", f"r-{number}", chance)


def test_every_state_and_actor() -> None:
    """The whole table: only RUNNING can be claimed, only the claimant closes, nothing reopens."""
    for holder in Ender:
        committing = RunState(Phase.COMMITTING, holder)
        terminal = RunState(Phase.TERMINAL, holder)
        assert claim(RunState(), holder) == committing
        for who in Ender:
            assert claim(committing, who) is None
            assert claim(terminal, who) is None
            assert close(RunState(), who) is None
            assert close(terminal, who) is None
            assert close(committing, who) == (terminal if who is holder else None)
        assert take_over(committing) == RunState(Phase.COMMITTING, Ender.RECOVERY)
        assert take_over(terminal) is None


def test_two_cancels_are_two_claims(tmp_path: Path) -> None:
    """The same word from two sides wins once."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        begin(transcripts, "r-1", "s-1")
        assert [transcripts.begin_commit("r-1", Ender.CANCEL) for _ in range(2)] == [True, False]


def test_threads_with_connections_of_their_own_have_one_winner(tmp_path: Path) -> None:
    """Real threads, each with its own connection as another process has, claim the same run."""
    path = tmp_path / "bridge.db"
    with closing(Transcripts(path)) as transcripts, ExitStack() as stack:
        others = [stack.enter_context(closing(Transcripts(path))) for _ in Ender]
        together = threading.Barrier(len(others))

        def try_to_win(other: Transcripts, who: Ender, run: str) -> bool:
            together.wait(10)
            return other.begin_commit(run, who)

        with ThreadPoolExecutor(len(others)) as pool:
            for number in range(5):
                run = f"r-{number}"
                begin(transcripts, run, f"s-{number}")
                won = list(pool.map(try_to_win, others, Ender, [run] * len(others)))
                assert won.count(True) == 1
