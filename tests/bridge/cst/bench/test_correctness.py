"""Experiment D: how replies of a model are judged, kept and counted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bridge.conversation.messages import ModelRequest
from bridge.conversation.stream import Finish, FinishReason, StreamEvent, TextDelta
from bridge.cst.bench.arms import ARMS
from bridge.cst.bench.correctness import (
    Sample,
    Score,
    ask_model,
    correctness,
    load,
    packaged,
    save,
    score,
    wilson,
)
from bridge.cst.bench.tasks import TASKS
from bridge.errors import ConfigurationError

OPEN = "call c1 open_app\narg app Notes\nend\n"
FILE = "call c1 write_file\narg path /sdcard/hello.py\n"
HELLO = 'print("hello")\n'


def sample(
    text: str, mode: str = "ctl-heredoc", task: str = "phone-open", finish: str = "stop"
) -> Sample:
    return Sample("crafted", mode, task, finish, text)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (sample(OPEN), Score(True, True, True, "")),
        (sample(OPEN.replace("Notes", "notes ")), Score(True, True, True, "")),
        (sample(f"```\n{OPEN}```\n"), Score(True, True, True, "")),
        (sample(OPEN.replace("Notes", "Chrome")), Score(True, True, False, "other_call")),
        (sample(OPEN.replace("app Notes", "name Notes")), Score(True, False, False, "schema")),
        (sample(OPEN.replace("open_app", "start")), Score(True, False, False, "unknown_tool")),
        (sample("call c1 open_app Notes\nend\n"), Score(False, False, False, "bad_call")),
        (sample(f"{OPEN}call c2 finish"), Score(False, True, True, "unexpected_line")),
        (sample("I open Notes."), Score(False, False, False, "no_call")),
        (sample(OPEN.removesuffix("end\n"), finish="length"),
         Score(False, False, False, "unexpected_line")),
        (sample(f"{FILE}arg content <<EOF\n{HELLO}EOF\nend\n", task="file-hello"),
         Score(True, True, True, "")),
        (sample(f"{FILE}arg content <<EOF\n{HELLO}", task="file-hello"),
         Score(False, False, False, "heredoc_eof")),
        (sample(f"{FILE}arg content {len(HELLO)}\n{HELLO}\nend\n", "ctl", "file-hello"),
         Score(True, True, True, "")),
        (sample(f"{FILE}arg content 10\n{HELLO}\nend\n", "ctl", "file-hello"),
         Score(False, False, False, "unexpected_line")),
        (sample(f"{FILE}arg content 400\n{HELLO}\nend\n", "ctl", "file-hello"),
         Score(False, False, False, "body_eof")),
    ],
)  # fmt: skip
def test_crafted_replies(given: Sample, wanted: Score) -> None:
    """Well-formed, valid and as asked are three different things; the fault names the first."""
    assert score(given) == wanted


def test_digits_are_a_count_only_where_lengths_are_asked_for() -> None:
    """The same text is right by heredoc rules and broken by length-prefix rules."""
    text = "call c1 type_text\narg text 4417\narg index 3\nend\n"
    assert score(sample(text, task="phone-code")).as_asked
    assert not score(sample(text, "ctl", "phone-code")).well_formed


def test_rows_count_by_mode_and_kind() -> None:
    """One row per source, mode and kind of task, with the kinds of faults."""
    given = [sample(OPEN), sample("call c1 open_app Notes\n"), sample("no"), sample(OPEN, "ctl")]
    rows = correctness(given)
    assert [(row.arm, row.kind, row.replies, row.well_formed, row.as_asked) for row in rows] == [
        ("ctl", "phone", 1, 1, 1),
        ("ctl-heredoc", "phone", 3, 1, 1),
    ]
    assert rows[1].faults == {"bad_call": 1, "no_call": 1}


def test_wilson_intervals() -> None:
    """The published figures for 0 and 12 of 12, and a share in the middle."""
    assert [round(100 * each) for each in wilson(0, 12)] == [0, 24]
    assert [round(100 * each) for each in wilson(12, 12)] == [76, 100]
    assert [round(100 * each, 1) for each in wilson(6, 12)] == [25.4, 74.6]
    assert wilson(0, 0) == (0.0, 1.0)


def test_a_model_is_asked_every_task_in_every_arm_and_what_was_saved_reads_back(
    tmp_path: Path,
) -> None:
    """The prompt teaches the mode; what came is kept word for word."""
    asked: list[ModelRequest] = []

    @contextmanager
    def answer(request: ModelRequest) -> Iterator[Iterator[StreamEvent]]:
        asked.append(request)
        yield iter([TextDelta(OPEN[:5]), TextDelta(OPEN[5:]), Finish(FinishReason.STOP)])

    path = tmp_path / "made.jsonl"
    kept = save(path, "by a test", ask_model(answer, "a model", TASKS[:2]))
    assert [(each.arm, each.task) for each in kept] == [
        (arm, task.name) for arm in ARMS for task in TASKS[:2]
    ]
    assert kept[0].text == OPEN
    assert load(path) == kept
    assert "NBYTES" in asked[0].system and "<<TAG" in asked[2].system
    assert all(not request.tools and request.max_output_tokens for request in asked)


@pytest.mark.parametrize("text", ["", "{}\n", "nonsense", '{"samples": 1}\n{"arm": "ctl"}\n'])
def test_what_holds_no_samples_is_refused(text: str, tmp_path: Path) -> None:
    """The user is told that the file is none, and how to make one."""
    path = tmp_path / "bad.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="holds no samples"):
        load(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """A wrong path is the user's error, not a crash."""
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load(tmp_path / "none.jsonl")


def test_the_packaged_samples_can_be_judged_again() -> None:
    """Every reply that ships gets one verdict, whatever the parser has become."""
    samples = packaged()
    assert sum(row.replies for row in correctness(samples)) == len(samples)


def test_tasks_are_twelve_and_more_of_each_kind() -> None:
    """Names are unique, so that a sample points to one task."""
    assert len({task.name for task in TASKS}) == len(TASKS)
    assert min(sum(task.kind == kind for task in TASKS) for kind in ("phone", "file")) >= 12
