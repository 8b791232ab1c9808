"""docs/tools.md is what the catalog says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_page_of_tools_is_made_from_the_catalog() -> None:
    """A changed tool needs a new page: python scripts/tools_page.py > docs/tools.md."""
    made = subprocess.run(
        [sys.executable, ROOT / "scripts" / "tools_page.py"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )

    assert made.stdout == (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
