"""A finished run reaches its session exactly once, whatever comes in between."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bridge.store import outbox
from bridge.store.entries import ARCHIVE_CHARS, CHECKPOINT_CHARS, Role, entries_of, from_json
from bridge.store.transcripts import Transcripts
from tests.bridge.store.stories import begin, end, end_undelivered, take_turn, whole_run


@dataclass
class SteppingClock:
    """Every look at it takes ``step`` seconds."""

    step: float = 0.0
    now: float = 1000.0

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        self.now += self.step
        return self.now


def waiting(transcripts: Transcripts) -> list[str]:
    return [run for (run,) in transcripts.database.rows("SELECT run FROM outbox ORDER BY run")]


def roles(transcripts: Transcripts, session: str) -> list[str]:
    query = "SELECT role FROM messages WHERE session = ? ORDER BY seq"
    return [role for (role,) in transcripts.database.rows(query, (session,))]


def test_a_finished_run_waits_until_it_is_applied(tmp_path: Path) -> None:
    """Ending a run only queues it; the next drain writes its messages and takes it off."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        whole_run(transcripts, "r-1", "s-1", delivered=False)
        assert waiting(transcripts) == ["r-1"]
        assert roles(transcripts, "s-1") == []
        assert transcripts.drain() == 0
        assert waiting(transcripts) == []
        assert roles(transcripts, "s-1") == ["user", "assistant", "tool", "assistant"]


def test_a_replay_finds_the_mark_and_changes_nothing(tmp_path: Path) -> None:
    """An entry whose acknowledgement was lost is delivered again without a second copy."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        whole_run(transcripts, "r-1", "s-1")
        before = transcripts.database.rows("SELECT * FROM messages")
        with transcripts.database.transaction() as connection:
            outbox.put(connection, "r-1", 1.0)
        transcripts.drain()
        assert waiting(transcripts) == []
        assert transcripts.database.rows("SELECT * FROM messages") == before


def test_a_drain_takes_eight_and_skips_what_exceeds_its_budget(tmp_path: Path) -> None:
    """A run that takes too long is put back behind the others and gets twice the time later."""
    clock = SteppingClock(step=0.2)
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        whole_run(transcripts, "r-00", "s-00", turns=3, delivered=False)
        for number in range(1, 10):
            begin(transcripts, f"r-{number:02}", f"s-{number:02}")
            end_undelivered(transcripts, f"r-{number:02}")
        left = [outbox.drain(transcripts.database, transcripts.events, clock) for _ in range(3)]
        assert roles(transcripts, "s-00").count("tool") == 3
    # eight, of which one is put back; then the other two; then two seconds are enough
    assert left == [3, 1, 0]


def test_runs_of_one_session_are_applied_in_their_order(tmp_path: Path) -> None:
    """A run that waits for more time holds back the later ones of its session only."""
    clock = SteppingClock(step=0.2)
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        whole_run(transcripts, "r-1", "s-1", turns=3, delivered=False)
        for run, session in (("r-2", "s-1"), ("r-3", "s-2")):
            begin(transcripts, run, session)
            end_undelivered(transcripts, run)
        left = []
        while not left or left[-1]:
            left.append(outbox.drain(transcripts.database, transcripts.events, clock))
        applied = transcripts.database.rows("SELECT run FROM marks ORDER BY applied, rowid")
    assert applied == [("r-3",), ("r-1",), ("r-2",)]
    assert left == [2, 2, 1, 0]


def test_the_archive_and_the_checkpoint_stay_within_their_limits(tmp_path: Path) -> None:
    """A session of long runs keeps its newest messages, behind a notice that counts the rest."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        total = 0
        for number in range(6):
            recorder = begin(transcripts, f"r-{number}", "s-1")
            for turn in range(1, 11):
                take_turn(recorder, turn, text="x" * 30_000)
            end(recorder)
            total += sum(entry.chars for entry in entries_of(transcripts.events(f"r-{number}")))
        bodies = transcripts.database.rows("SELECT body FROM messages ORDER BY seq")
        archive = [from_json(body) for (body,) in bodies]
        (text,) = transcripts.database.rows("SELECT body FROM checkpoints")[0]
        context = [from_json(line) for line in text.split("\n")]
    for kept, limit in ((archive, ARCHIVE_CHARS), (context, CHECKPOINT_CHARS)):
        assert [entry.role for entry in kept].count(Role.CUT) == 1
        assert kept[0].role is Role.CUT
        size = sum(entry.chars for entry in kept)
        assert limit - 31_000 < size <= limit
        assert size - kept[0].chars + kept[0].left_out == total
        assert str(kept[0].left_out) in kept[0].text


def test_a_run_longer_than_the_archive_is_cut_at_its_beginning(tmp_path: Path) -> None:
    """One answer of two million characters keeps its end, behind the notice."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        recorder = begin(transcripts, "r-1", "s-1")
        end(recorder, "long", "a" * 2_000_000 + "the very end")
        bodies = transcripts.database.rows("SELECT body FROM messages ORDER BY seq")
    cut, kept = [from_json(body) for (body,) in bodies]
    assert cut.role is Role.CUT and kept.text.endswith("the very end")
    assert cut.chars + kept.chars <= ARCHIVE_CHARS
    assert cut.left_out + kept.chars == 2_000_000 + len("the very end") + len("the task")
