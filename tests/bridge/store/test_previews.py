"""Pictures for the report are few and small."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from bridge.errors import RecordError
from bridge.store.continuation import continuation
from bridge.store.previews import (
    PREVIEW_BYTES,
    PREVIEWS_OF_A_RUN,
    Preview,
    add_preview,
    previews,
)
from bridge.store.transcripts import Transcripts
from tests.bridge.store.stories import whole_run


def test_previews_are_bounded_and_stay_out_of_the_history(tmp_path: Path) -> None:
    """A run keeps its first previews; one that is too large is refused; none is told to a model."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        whole_run(transcripts, "r-1", "s-1")
        before = continuation(transcripts, "r-1")
        kept = [
            add_preview(transcripts.database, "r-1", Preview(1, f"c{number}", "image/jpeg", b"jpg"))
            for number in range(PREVIEWS_OF_A_RUN + 2)
        ]
        assert kept == [True] * PREVIEWS_OF_A_RUN + [False] * 2
        large = Preview(1, "c", "image/jpeg", b"x" * (PREVIEW_BYTES + 1))
        with pytest.raises(RecordError, match="bytes"):
            add_preview(transcripts.database, "r-1", large)
        stored = list(previews(transcripts.database, "r-1"))
        assert stored[3] == Preview(1, "c3", "image/jpeg", b"jpg")
        assert continuation(transcripts, "r-1") == before
