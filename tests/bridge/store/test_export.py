"""Transcripts for others."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from bridge.store.export import handed_out, json_line, markdown
from bridge.store.sessions import find
from bridge.store.transcripts import Transcripts
from tests.bridge.store.stories import begin, end, take_turn


def test_a_short_transcript_is_handed_out_whole(tmp_path: Path) -> None:
    """Below the limit nothing is cut and no notice is added."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        take_turn(begin(transcripts, "r-1", "s-1"), 1)
        records = list(transcripts.events("r-1"))
    assert handed_out(records) == records


def test_a_long_transcript_is_handed_out_with_a_notice(tmp_path: Path) -> None:
    """At most 96,000 characters: a notice with the size of what is missing, then the newest."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        recorder = begin(transcripts, "r-1", "s-1")
        for turn in range(1, 20):
            take_turn(recorder, turn, text="z" * 9_000)
        records = list(transcripts.events("r-1"))
    handed = handed_out(records)
    assert 80_000 < sum(len(json_line(record)) + 1 for record in handed) <= 96_000
    assert handed[0]["type"] == "notice" and "left out here" in handed[0]["text"]
    assert handed[1:] == records[len(records) - len(handed) + 1 :]
    missing = sum(len(json_line(record)) + 1 for record in records[: 1 - len(handed)])
    assert str(missing) in handed[0]["text"]


def test_one_record_over_the_limit_leaves_the_notice(tmp_path: Path) -> None:
    """A record that does not fit by itself is left out, and that is said."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        take_turn(begin(transcripts, "r-1", "s-1"), 1, text="z" * 200_000)
        records = list(transcripts.events("r-1"))
    assert [record["type"] for record in handed_out(records)] == ["notice", "response_finished"]
    assert [record["type"] for record in handed_out(records[:-1])] == ["notice"]


def test_markdown_quotes_what_others_said(tmp_path: Path) -> None:
    """Text of a screen or model cannot end its block, make a heading or a link."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        recorder = begin(transcripts, "r-1", "s-1", "show\nme")
        take_turn(recorder, 1, text="```\n# fake heading\n````\n[link](http://x)")
        end(recorder, "That is all.")
        page = markdown(find(transcripts.database, "r-1")[0], transcripts.events("r-1"))
    assert page.startswith("# show me\n")
    assert "\n`````text\ntap " in page
    headings = [line for line in page.splitlines() if line.startswith("## ")]
    assert headings == ["## Task", "## Model", "## Call", "## Model"]
