"""The tables of docs/redaction.md are what the rules do."""

from __future__ import annotations

from pathlib import Path

from scripts.redaction_tables import page
from tests.shared_data import shared_data

PAGE = Path(__file__).resolve().parents[1] / "docs" / "redaction.md"


def test_the_page_shows_what_the_rules_find() -> None:
    """Changed rules or texts need new tables: scripts/redaction_tables.py prints them."""
    written = PAGE.read_text(encoding="utf-8")
    for table in page(None).split("\n\n"):
        assert table in written


def test_the_page_shows_what_the_rules_find_in_messages() -> None:
    """The collected messages give the third table."""
    assert page(shared_data("phone/otp")) in PAGE.read_text(encoding="utf-8")
