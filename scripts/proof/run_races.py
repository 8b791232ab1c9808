"""Race normal end, cancel, replacement, time limit and crash recovery for the end of a run.

    PYTHONPATH=. python scripts/proof/run_races.py [--races 10000] [--seed 1]

Each race is one run in a real record; who acts next is drawn on a fake clock, calls go on,
and a crash may come at any step. Exactly one terminal event, one published result and one delivery
to the session, and an outcome for every call, or the race stops with exit code 1.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.bridge.store.races import race

FAST = Path("/dev/shm")
PER_RECORD = 250
"""Races in one database."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--races", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    ends: Counter[str] = Counter()
    started = time.monotonic()
    for first in range(0, options.races, PER_RECORD):
        count = min(PER_RECORD, options.races - first)
        place = str(FAST) if FAST.is_dir() else None
        with tempfile.TemporaryDirectory(prefix="bridge-races-", dir=place) as folder:
            for number in range(count):
                ends[race(Path(folder) / "bridge.db", f"r-{number}", chance)] += 1
    seconds = round(time.monotonic() - started)
    print(json.dumps({"races": ends.total(), "ended": dict(ends), "seconds": seconds}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
