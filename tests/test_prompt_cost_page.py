"""docs/prompt-cost.md is what the prompts of the carriers cost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_the_page_of_costs_is_made_from_the_prompts() -> None:
    """Changed tools or rules need a new page: scripts/prompt_cost.py prints it."""
    pytest.importorskip("bpe_openai", reason="bpe-openai (extra dev) counts the tokens")
    made = subprocess.run(
        [sys.executable, ROOT / "scripts" / "prompt_cost.py"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert made.stdout == (ROOT / "docs" / "prompt-cost.md").read_text(encoding="utf-8")
