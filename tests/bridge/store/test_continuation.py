"""What a continued session hands to its next run."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from bridge.conversation.events import AssistantText
from bridge.conversation.messages import AssistantMessage, Message, UserMessage
from bridge.errors import RecordError
from bridge.store.continuation import continuation
from bridge.store.transcripts import Transcripts
from tests.bridge.store.stories import (
    begin,
    end,
    end_undelivered,
    finished,
    intended,
    take_turn,
    whole_run,
)


def texts(history: tuple[Message, ...]) -> str:
    return "\n".join(str(getattr(message, "text", "")) for message in history)


def test_history_alternates_and_ends_with_the_answer(tmp_path: Path) -> None:
    """Task, words, record of calls, answer: user and assistant in turn, whichever id is named."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        whole_run(transcripts, "r-1", "s-1", "turn off Wi-Fi", delivered=False)
        for drained in (False, True):
            if drained:
                transcripts.drain()
            told = continuation(transcripts, "r-1")
            assert told == continuation(transcripts, "s-1")
            kinds = [type(message) for message in told.history]
            assert kinds == [UserMessage, AssistantMessage, UserMessage, AssistantMessage]
            assert 'tap {"x": 1}: DONE exit=0' in texts(told.history)


def test_each_run_adds_its_own_message_once(tmp_path: Path) -> None:
    """A continuation of a continuation repeats no task and no answer."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        for number in (1, 2, 3):
            # one of them is still in the outbox when it is continued
            task = f"task number {number}"
            whole_run(transcripts, f"r-{number}", "s-1", task, delivered=number != 2)
            text = texts(continuation(transcripts, "s-1").history)
            for each in range(1, number + 1):
                assert text.count(f"task number {each}: done") == 1
                assert text.count(f"task number {each}") == 2
        assert continuation(transcripts, "r-1").newest.id == "r-3"


def test_an_interrupted_run_tells_which_call_nobody_knows_of(tmp_path: Path) -> None:
    """After a crash the next run learns that the call may or may not have happened."""
    path = tmp_path / "bridge.db"
    with closing(Transcripts(path)) as transcripts:
        recorder = begin(transcripts, "r-1", "s-1")
        recorder.record(AssistantText(1, "I tap."))
        recorder.record(intended(1))
    with closing(Transcripts(path)) as transcripts:
        history = continuation(transcripts, "r-1").history
    assert isinstance(history[-1], UserMessage)
    assert "it is unknown whether this call happened" in history[-1].text
    assert "interrupted" in history[-1].text


def test_old_screens_are_left_out_with_a_notice(tmp_path: Path) -> None:
    """The next run learns that the screen was looked at, not what was on it."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        recorder = begin(transcripts, "r-1", "s-1")
        screen = "Screen o1: Settings\n[1] button Back\n[2] switch Wi-Fi"
        recorder.record(replace(finished(1, text=screen), name="observe_screen"))
        end_undelivered(transcripts, "r-1")
        for _ in range(2):
            told = texts(continuation(transcripts, "s-1").history)
            assert "Screen o1: Settings\n[element list left out" in told
            assert "Wi-Fi" not in told
            transcripts.drain()


def test_a_running_session_is_not_continued(tmp_path: Path) -> None:
    """Two runs of one session at once would not know of each other."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        begin(transcripts, "r-1", "s-1")
        with pytest.raises(RecordError, match="going on"):
            continuation(transcripts, "s-1")
        with pytest.raises(RecordError, match="going on"):
            begin(transcripts, "r-2", "s-1")


def test_a_long_session_is_cut_with_a_notice(tmp_path: Path) -> None:
    """The context keeps its newest 96,000 characters and says that older ones are missing."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        recorder = begin(transcripts, "r-1", "s-1")
        for turn in range(1, 9):
            take_turn(recorder, turn, text="y" * 30_000)
        end(recorder, "the last word")
        told = texts(continuation(transcripts, "s-1").history)
    assert len(told) < 97_000
    assert "left out here" in told[:400]
    assert told.endswith("the last word")
