"""The tables of docs/providers.md are what the code says."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

from bridge.config_values import CHECKS
from bridge.providers.endpoint import HttpLimits

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "providers.md"


def test_the_tables_of_providers_are_made_from_the_code() -> None:
    """A changed profile, price or limit needs: python scripts/providers_page.py --write."""
    made = subprocess.run(
        [sys.executable, ROOT / "scripts" / "providers_page.py"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )

    assert made.stdout == PAGE.read_text(encoding="utf-8")


def test_the_page_names_every_setting_and_every_limit() -> None:
    """No limit of a request and no setting of a provider is left untold."""
    page = PAGE.read_text(encoding="utf-8")
    settings = ROOT / "docs" / "command-line.md"
    told = page + settings.read_text(encoding="utf-8")
    assert [name for name in CHECKS if f"`{name}`" not in told] == []
    assert [item.name for item in fields(HttpLimits) if f"`{item.name}`" not in page] == []
