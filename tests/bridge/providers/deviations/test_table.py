"""The table of deviations is whole, and its page says the same."""

from __future__ import annotations

import re
from pathlib import Path

from tests.bridge.providers.deviations.table import ELSEWHERE, ROWS

ROOT = Path(__file__).resolve().parents[4]


def titles() -> dict[int, str]:
    """What each number is called; the same number is always called the same."""
    found: dict[int, str] = {}
    for row in (*ROWS, *ELSEWHERE):
        assert found.setdefault(row.number, row.what) == row.what
    return found


def test_every_deviation_has_bytes_or_a_test_of_its_own() -> None:
    """None of the 46 known deviations is left out."""
    assert sorted(titles()) == list(range(1, 47))


def test_the_tests_that_the_table_points_at_exist() -> None:
    """A pointer names a test function in its file."""
    for row in ELSEWHERE:
        assert f"\ndef {row.test}(" in (ROOT / row.file).read_text()


def test_the_page_lists_the_same_deviations() -> None:
    """Number and name of each line of docs/deviations.md are those of the table."""
    page = (ROOT / "docs" / "deviations.md").read_text()
    lines = re.findall(r"^\| (\d+) \| ([^|]+) \| ([^|]+) \|", page, re.MULTILINE)
    assert {int(number): what.replace("`", "") for number, what, _ in lines} == titles()
    assert all(rule.strip() for _, _, rule in lines)
