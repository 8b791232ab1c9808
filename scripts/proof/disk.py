"""Cut the power, and let the disk fail, at every operation of a recorded workload.

    PYTHONPATH=. python scripts/proof/disk.py [--cuts 12000] [--jobs 2]

A power cut behind every operation, with unsynced sectors applied, dropped or garbled by seed, until
``--cuts`` are done; then EIO and ENOSPC at every operation, once and from then on. Each time the
record is opened again and compared with what was acknowledged. The same cuts on a disk that does
not sync must be noticed, else the proof proves nothing. Exit code 1 when one trial found a problem.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from tests.bridge.store.disk_trials import Heard, failing_disk, power_cut, recorded_workload
from tests.doubles.disk import Disk

FAST = Path("/dev/shm")
"""Where trials lie when it exists: the real disk is not what is tested here."""


def base() -> str | None:
    return str(FAST) if FAST.is_dir() else None


def cut(recorded: tuple[Disk, Heard], trial: tuple[int, int]) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="bridge-cut-", dir=base()) as folder:
        return [f"cut {trial}: {problem}" for problem in power_cut(Path(folder), *recorded, *trial)]


def fail(trial: tuple[int, str, bool]) -> tuple[bool, list[str]]:
    with tempfile.TemporaryDirectory(prefix="bridge-fail-", dir=base()) as folder:
        failed, problems = failing_disk(Path(folder), *trial)
    return failed > 0, [f"failure {trial}: {problem}" for problem in problems]


def failures(first: int, last: int) -> Iterator[tuple[int, str, bool]]:
    for at in range(first, last):
        for fault in ("io", "full"):
            for stays in (False, True):
                yield at, fault, stays


def record(*, lies: bool) -> tuple[Disk, Heard]:
    with tempfile.TemporaryDirectory(prefix="bridge-disk-", dir=base()) as folder:
        return recorded_workload(Path(folder), lies=lies)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cuts", type=int, default=12_000)
    parser.add_argument("--from-operation", type=int, default=0, help="failures from here on")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    started = time.monotonic()
    recorded, lying = record(lies=False), record(lies=True)
    places = len(recorded[0].log) + 1
    cuts = [(number % places, number) for number in range(options.cuts)]
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        found = list(chain.from_iterable(pool.imap_unordered(partial(cut, recorded), cuts, 50)))
        noticed = sum(
            bool(problems)
            for problems in pool.imap_unordered(
                partial(cut, lying), [(len(lying[0].log), seed) for seed in range(100)], 10
            )
        )
        trials = list(failures(options.from_operation, recorded[0].operations))
        outcomes = list(pool.imap_unordered(fail, trials, 50))
    found += [problem for _, problems in outcomes for problem in problems]
    report = {
        "operations_logged": places - 1,
        "power_cuts": len(cuts),
        "failure_trials": len(trials),
        "failures_that_hit": sum(hit for hit, _ in outcomes),
        "cuts_noticed_of_100_on_a_disk_that_lies": noticed,
        "problems": len(found),
        "seconds": round(time.monotonic() - started),
    }
    for problem in found[:20]:
        print(problem[:1000], file=sys.stderr)
    print(json.dumps(report))
    return 1 if found or not noticed else 0


if __name__ == "__main__":
    sys.exit(main())
