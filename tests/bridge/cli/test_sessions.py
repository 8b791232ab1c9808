"""``bridge sessions`` on a record of two sessions."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bridge.cli.main import app
from bridge.cli.sessions import parse_since
from bridge.errors import ConfigurationError
from bridge.run import DATABASE
from bridge.store.transcripts import Transcripts
from tests.bridge.store.stories import begin, end, take_turn, whole_run

Sessions = Callable[..., Result]


@pytest.fixture
def sessions(tmp_path: Path) -> Sessions:
    """Runs ``bridge sessions ARGS`` on a home with a finished and an interrupted session."""
    with closing(Transcripts(tmp_path / DATABASE)) as transcripts:
        whole_run(transcripts, "r-1", "s-1", "turn off Wi-Fi")
        begin(transcripts, "r-2", "s-2", "read the code")
    environment = {"BRIDGE_HOME": str(tmp_path), "NO_COLOR": "1"}
    return lambda *argv: CliRunner().invoke(app, ["sessions", *argv], env=environment)


def lines(result: Result) -> list[dict[str, object]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_lists_with_filters(sessions: Sessions) -> None:
    """Newest first; each filter narrows; a JSON line has the session and its newest run."""
    listed = lines(sessions("list", "--json"))
    assert [each["session"] for each in listed] == ["s-2", "s-1"]
    assert listed[1]["run"] == "r-1" and listed[1]["status"] == "done" and listed[1]["v"] == 1
    narrowed = lines(sessions("list", "--status", "interrupted", "--since", "1d", "--json"))
    assert [each["session"] for each in narrowed] == ["s-2"]
    assert "turn off Wi-Fi" in sessions("list", "--text", "wi-fi").stdout
    assert sessions("list", "--device", "none").stdout == ""


def test_shows_a_run_and_hands_out_a_bounded_transcript(sessions: Sessions, tmp_path: Path) -> None:
    """The story for people; as JSON the newest 96,000 characters, behind a notice."""
    assert "turn off Wi-Fi" in sessions("show", "s-1").stdout
    assert "interrupted" in sessions("show").stdout
    with closing(Transcripts(tmp_path / DATABASE)) as transcripts:
        recorder = begin(transcripts, "r-3", "s-3")
        for turn in range(1, 20):
            take_turn(recorder, turn, text="z" * 9_000)
        end(recorder)
    shown = sessions("show", "r-3", "--json")
    assert len(shown.stdout) <= 96_000
    assert "left out here" in str(lines(shown)[0]["text"])
    assert len(lines(sessions("export", "r-3"))) == 2 + 5 * 19


def test_exports_to_a_file_in_both_forms(sessions: Sessions, tmp_path: Path) -> None:
    """JSON Lines holds every event, Markdown the story."""
    file = tmp_path / "out.jsonl"
    assert sessions("export", "s-1", "--output", str(file)).stdout == ""
    types = [json.loads(line)["type"] for line in file.read_text(encoding="utf-8").splitlines()]
    assert types[0] == "run_started" and types[-1] == "run_finished"
    page = sessions("export", "s-1", "--format", "markdown").stdout
    assert page.startswith("# turn off Wi-Fi\n") and "## Call" in page


def test_deletes_one_session(sessions: Sessions) -> None:
    """The session and its runs are gone, the other one stays; an unknown one is an error."""
    gone = lines(sessions("delete", "r-1", "--json"))
    assert gone == [{"v": 1, "type": "deleted", "session": "s-1", "runs": ["r-1"]}]
    assert [each["session"] for each in lines(sessions("list", "--json"))] == ["s-2"]
    assert sessions("delete", "s-1").exit_code == 1


@pytest.mark.parametrize(("text", "seconds"), [("45m", 2700), ("12h", 43_200), ("7d", 604_800)])
def test_since_takes_a_span(text: str, seconds: int) -> None:
    """Minutes, hours and days before now."""
    assert parse_since(text, 1e9) == 1e9 - seconds


def test_since_takes_a_date_and_refuses_the_rest() -> None:
    """A date with or without time and zone; anything else is a named error."""
    assert parse_since("2026-01-31T00:00+00:00", 0) == 1_769_817_600
    assert parse_since("2026-01-31", 0) < parse_since("2026-01-31T09:30", 0)
    for text in ("", "d", "soon", "-3h", "2026-13-01"):
        with pytest.raises(ConfigurationError):
            parse_since(text, 0)
