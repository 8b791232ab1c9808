"""How long a real phone needs for an operation; the virtual phone waits that long when asked to."""

from __future__ import annotations

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
