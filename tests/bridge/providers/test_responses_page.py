"""The page about the Responses wire says what the code does."""

from __future__ import annotations

from pathlib import Path

from bridge.providers.responses_answer import CUT
from bridge.providers.responses_output import Output

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "wire-responses.md").read_text("utf-8")


def test_every_event_that_means_something_is_on_the_page() -> None:
    """By its name, without the prefix that all have."""
    for kind in Output(native=True).handlers:
        assert f"`{kind.removeprefix('response.')}`" in PAGE


def test_every_reason_of_a_cut_is_on_the_page_with_its_meaning() -> None:
    """The table of ends and the one of the code hold the same words."""
    rows = [line for line in PAGE.splitlines() if line.startswith("| status `incomplete`")]
    assert len(rows) == len(CUT)
    for word, reason in CUT.items():
        assert f"| status `incomplete`, `{word}` | `{reason.value}` |" in rows
