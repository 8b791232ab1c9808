"""The record on a disk that loses power or fails; in full: scripts/proof/disk.py."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

pytest.importorskip("apsw", reason="the disk double needs the package apsw")

from tests.bridge.store.disk_trials import failing_disk, power_cut, recorded_workload

CUTS = 60
FAILURES = 12


def test_a_power_cut_loses_nothing_acknowledged(tmp_path: Path) -> None:
    """Whatever became of unsynced sectors: it opens, and what was synced is there, unchanged."""
    (tmp_path / "first").mkdir()
    disk, heard = recorded_workload(tmp_path / "first")
    chance = random.Random(5)
    for seed in range(CUTS):
        folder = tmp_path / f"cut-{seed}"
        folder.mkdir()
        count = chance.randrange(len(disk.log) + 1)
        assert power_cut(folder, disk, heard, count, seed) == [], (count, seed)


def test_the_trial_notices_a_disk_that_does_not_sync(tmp_path: Path) -> None:
    """The same cuts on a disk that only says it synced lose acknowledged records."""
    (tmp_path / "first").mkdir()
    disk, heard = recorded_workload(tmp_path / "first", lies=True)
    lost = 0
    for seed in range(10):
        folder = tmp_path / f"cut-{seed}"
        folder.mkdir()
        lost += bool(power_cut(folder, disk, heard, len(disk.log), seed))
    assert lost > 0


@pytest.mark.parametrize("fault", ["io", "full"])
@pytest.mark.parametrize("stays", [False, True])
def test_a_failing_operation_is_told_and_loses_nothing(
    tmp_path: Path, fault: str, stays: bool
) -> None:
    """EIO or ENOSPC at one operation, or from one on: an error by name, and all that was
    acknowledged can be read once the disk works again."""
    chance = random.Random(7)
    for number in range(FAILURES):
        folder = tmp_path / str(number)
        folder.mkdir()
        at = chance.randrange(400)
        assert failing_disk(folder, at, fault, stays)[1] == [], at
