"""Small helpers of the benchmarks: repeated timings of a call or a command, and one table."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figures:
    """Milliseconds over all repetitions."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f} to {self.high:.2f})"


def figures(seconds: Sequence[float]) -> Figures:
    ordered = sorted(second * 1000 for second in seconds)
    return Figures(statistics.median(ordered), ordered[0], ordered[-1])


def interleaved(subjects: dict[str, Callable[[], object]], repeat: int) -> dict[str, list[float]]:
    """Seconds of each call; subjects alternate, so that a busy moment hits all of them alike."""
    taken: dict[str, list[float]] = {name: [] for name in subjects}
    for call in subjects.values():
        call()
    for _ in range(repeat):
        for name, call in subjects.items():
            start = time.perf_counter()
            call()
            taken[name].append(time.perf_counter() - start)
    return taken


def command(argv: Sequence[str]) -> Callable[[], object]:
    """A call that runs a command to its end and fails loudly when the command does."""
    return lambda: subprocess.run(argv, check=True, capture_output=True, env=os.environ)


def python(*arguments: str) -> list[str]:
    return [sys.executable, *arguments]


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
