"""kill -9 before and after every commit point of a run of 202 events, and inside its commits.

    PYTHONPATH=. python scripts/proof/record_kills.py [--turns 40] [--inside 400] [--every 1]

One kill at each point where the run waits before or after an event or between a call's intent and
outcome (``--every N``: at each N-th), then ``--inside`` kills at random moments of the work behind
a random point. After each the record is opened: it must be whole, hold every acknowledged event and
every executed call, and give each call an outcome. Prints the counts and the time of an fsync here;
exit code 1 when a trial found a problem.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bridge.store.kill_trials import kill_at, problems

INSIDE_SECONDS = 0.012
"""Spread of the kills inside: about three commits."""


def fsync_milliseconds(folder: Path, count: int = 100) -> float:
    """Median time to write and sync 4 KiB here."""
    taken = []
    descriptor = os.open(folder / "fsync", os.O_RDWR | os.O_CREAT)
    for number in range(count):
        os.pwrite(descriptor, b"x" * 4096, number * 4096)
        start = time.perf_counter()
        os.fsync(descriptor)
        taken.append((time.perf_counter() - start) * 1000)
    os.close(descriptor)
    return round(statistics.median(taken), 2)


def trials(turns: int, inside: int, every: int) -> Iterator[tuple[int, float | None]]:
    """Point and delay; the points are 2 for each event and 1 for each executed call."""
    points = 2 * (5 * turns + 2) + turns
    for point in range(0, points, every):
        yield point, None
    chance = random.Random(turns)
    for _ in range(inside):
        yield chance.randrange(points), chance.uniform(0, INSIDE_SECONDS)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--inside", type=int, default=400)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    kills, late, found, started = 0, 0, [], time.monotonic()
    for point, delay in trials(options.turns, options.inside, options.every):
        with tempfile.TemporaryDirectory(prefix="bridge-kills-") as name:
            killed = kill_at(Path(name), options.turns, point, delay)
            if killed is None:
                late += 1
                continue
            kills += 1
            found += [f"{point} {delay}: {problem}" for problem in problems(Path(name), killed)]
    with tempfile.TemporaryDirectory() as name:
        fsync = fsync_milliseconds(Path(name))
    report = {
        "events": 5 * options.turns + 2,
        "kills": kills,
        "ended_before_the_kill": late,
        "problems": len(found),
        "fsync_ms": fsync,
        "seconds": round(time.monotonic() - started),
    }
    for problem in found[:20]:
        print(problem, file=sys.stderr)
    print(json.dumps(report))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
