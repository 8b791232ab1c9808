"""The speed tables run and say what they should; no time is asserted."""

from __future__ import annotations

import json

from bridge.cst.bench import parsers
from bridge.cst.bench.speed import SEGMENTS, SegmentRow, Size, SpeedRow, TargetRow, speed


def test_the_tables_name_every_subject_and_target() -> None:
    """Each document and feed compares the CTL modes with every JSON parser at hand."""
    rows = speed(Size(argument=2, stream=8, body=10, repeat=1))
    compared = [row for row in rows if isinstance(row, SpeedRow)]
    feeds = {row.feed for row in compared if row.document == "ten calls"}
    assert feeds == {"one piece", "20-byte deltas", "64 KiB chunks"}
    for feed in feeds:
        subjects = [r.subject for r in compared if (r.document, r.feed) == ("ten calls", feed)]
        assert subjects[:1] == ["ctl-heredoc parser"]
        assert set(parsers.json_parsers()) < set(subjects)
    assert all(row.milliseconds > 0 and row.ratio > 0 for row in compared)
    segments = [row for row in rows if isinstance(row, SegmentRow)]
    assert [len(row.microseconds) for row in segments] == [SEGMENTS] * 2
    assert len([row for row in rows if isinstance(row, TargetRow)]) == 5


def test_parsing_on_every_delta_ends_with_the_value() -> None:
    """The comparison reads the same document to its end."""
    data = json.dumps({"text": "ä" * 50}, ensure_ascii=False).encode()
    pieces = [data[at : at + 3] for at in range(0, len(data), 3)]
    for loads in parsers.json_parsers().values():
        assert parsers.on_every_delta(loads)(pieces) == {"text": "ä" * 50}
        assert parsers.joined(loads)(pieces) == {"text": "ä" * 50}
