"""Every deviation of a real server that is known: which calls run, and which never do."""

from __future__ import annotations

import pytest

from tests.bridge.providers.deviations.replay import replay
from tests.bridge.providers.deviations.row import Row
from tests.bridge.providers.deviations.table import ROWS

SIZES = (1, 7, 100_000)


def name(row: Row) -> str:
    return f"{row.number}-{row.wire}-{row.what[:30].replace(' ', '_')}"


@pytest.mark.parametrize("mode", ["native-eos", "native-inc"])
@pytest.mark.parametrize("row", ROWS, ids=name)
def test_only_what_the_row_allows_runs(row: Row, mode: str) -> None:
    """Over a real socket and however the bytes are cut, the same calls run and no other."""
    for size in SIZES:
        outcome = replay(row, mode, size)
        assert tuple(outcome.runs) == row.runs(mode)
        assert outcome.text == row.text
        assert outcome.fault == row.fault
        assert (row.error in outcome.error) if row.error else not outcome.error
        words = {row.refused} if row.refused else set()
        # native-inc may have run all that came before the fault
        assert set(outcome.refused) == words or (mode == "native-inc" and row.inc)
        assert set(outcome.refused) <= words
