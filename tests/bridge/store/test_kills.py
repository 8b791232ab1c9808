"""kill -9 at points of a short run; in full: scripts/proof/record_kills.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_no_acknowledged_event_and_no_executed_call_is_lost() -> None:
    """Before, after and inside commits: the record opens whole and every call has an outcome."""
    script = str(ROOT / "scripts" / "proof" / "record_kills.py")
    ran = subprocess.run(
        [sys.executable, script, "--turns", "2", "--every", "2", "--inside", "10"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    assert report["kills"] + report["ended_before_the_kill"] == 23
    assert report["kills"] >= 13 and report["problems"] == 0
