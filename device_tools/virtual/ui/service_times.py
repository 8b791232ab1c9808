"""How long a real phone needs for an operation; the virtual phone waits that long when asked to."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class ServiceTimes:
    """Seconds; ``swipe_step`` per step of the injected gesture. All 0: answer at once."""

    click: float = 0.0
    swipe_step: float = 0.0
    dump: float = 0.0
    screenshot: float = 0.0


INSTANT = ServiceTimes()
REALISTIC = ServiceTimes(click=0.1, swipe_step=0.005, dump=0.15, screenshot=0.12)


class BusyTime:
    """Seconds during which at least one call was being served; benchmarks take it off the wall."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._active = 0
        self._since = 0.0

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Overlapping calls count once."""
        if not self._active:
            self._since = time.perf_counter()
        self._active += 1
        try:
            yield
        finally:
            self._active -= 1
            if not self._active:
                self.seconds += time.perf_counter() - self._since
