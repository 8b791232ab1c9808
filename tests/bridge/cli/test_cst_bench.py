"""``bridge cst bench`` as a researcher runs it: tables, JSON Lines, plots."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from bridge.cst.bench.arms import ARMS
from bridge.cst.bench.tasks import TASKS
from bridge.cst.carriers import CARRIERS
from tests.doubles.provider_server import ScriptedServer, chat_answer


def bench(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bridge", "cst", "bench", *argv],
        capture_output=True, check=False, timeout=100, text=True,
    )  # fmt: skip


def test_json_lines_name_their_table() -> None:
    """One object per row; every mode is in every table of C."""
    ran = bench("--experiment", "C", "--replies", "2", "--cuts", "1", "--json")
    assert ran.returncode == 0
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    assert {row["table"] for row in rows} == {"truncation", "pending"}
    assert {row["mode"] for row in rows} >= {*CARRIERS, "json-whole", "json-object"}
    cut = next(row for row in rows if row["table"] == "truncation")
    assert set(cut) == {
        "table", "mode", "cuts", "ending", "points", "whole", "executable", "lost", "wrong",
        "wrong_valid",
    }  # fmt: skip


def test_a_terminal_gets_tables() -> None:
    """Each table has a title and a head; no figure is lost."""
    ran = bench("--experiment", "C", "--replies", "1", "--cuts", "0")
    assert ran.returncode == 0
    assert ran.stdout.startswith("C: replies cut")
    assert "| mode " in ran.stdout and "| wrong valid" in ran.stdout


def test_samples_of_the_users_own_are_judged(tmp_path: Path) -> None:
    """D reads the file that is named instead of the packaged ones."""
    path = tmp_path / "mine.jsonl"
    sample = {"source": "mine", "arm": "ctl", "task": "phone-home", "finish": "stop"}
    text = "call c1 press_key\narg key home\nend\n"
    lines = [{"samples": 1, "made": "by hand"}, {**sample, "text": text}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    ran = bench("--experiment", "D", "--samples", str(path), "--json")
    row = json.loads(ran.stdout)
    assert (row["table"], row["source"], row["well_formed"], row["as_asked"]) == (
        "correctness", "mine", 1, 1,
    )  # fmt: skip


def test_a_file_without_samples_ends_with_exit_2(tmp_path: Path) -> None:
    """One line what, one line what to do."""
    path = tmp_path / "bad.jsonl"
    path.write_text("nonsense", encoding="utf-8")
    ran = bench("--experiment", "D", "--samples", str(path))
    assert ran.returncode == 2
    assert "holds no samples" in ran.stderr and "--save" in ran.stderr


def test_a_model_is_asked_at_temperature_0_and_its_words_are_kept(tmp_path: Path) -> None:
    """A server of the user's is asked each task in every arm; the file can be judged again."""
    path = tmp_path / "kept.jsonl"
    home = "call c1 press_key\narg key home\nend\n"
    with ScriptedServer([chat_answer(home)] * len(ARMS) * len(TASKS)) as server:
        argv = ("--base-url", server.base_url, "--model", "small", "--save", str(path))
        asked = bench("--experiment", "D", "--json", *argv)
    assert asked.returncode == 0, asked.stderr
    assert {request.json["temperature"] for request in server.requests} == {0}
    assert len(server.requests) == len(ARMS) * len(TASKS)
    rows = [json.loads(line) for line in asked.stdout.splitlines()]
    assert [(row["arm"], row["kind"], row["as_asked"]) for row in rows] == [
        ("ctl", "file", 0), ("ctl", "phone", 1), ("ctl, counts only", "file", 0),
        ("ctl, counts only", "phone", 1), ("ctl-heredoc", "file", 0),
        ("ctl-heredoc", "phone", 1),
    ]  # fmt: skip
    again = bench("--experiment", "D", "--json", "--samples", str(path))
    assert again.stdout == asked.stdout


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs the extra bench (matplotlib)")
def test_plots_are_drawn_into_the_folder(tmp_path: Path) -> None:
    """The pictures of what was measured, and no others."""
    ran = bench("--experiment", "C", "--quick", "--plots", str(tmp_path / "new"))
    assert ran.returncode == 0
    names = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert names == ["cst-cut.png", "cst-first-call.png"]
    assert (tmp_path / "new" / "cst-cut.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.skipif(find_spec("matplotlib") is not None, reason="matplotlib is installed")
def test_plots_without_the_extra_say_what_to_install() -> None:
    """A missing library is named before anybody looks for pictures."""
    ran = bench("--experiment", "C", "--replies", "1", "--cuts", "0", "--plots", "anywhere")
    assert ran.returncode == 2
    assert "bridge-android[bench]" in ran.stderr
