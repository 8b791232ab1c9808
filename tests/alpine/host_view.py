"""What the host sees of the phone's processes: an observer that shares no code with the guard."""

from __future__ import annotations

import os
import time
from pathlib import Path


def carrying(word: str) -> list[int]:
    """Processes with ``word`` among their arguments, not counting this one."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit() and int(place.name) != os.getpid():
            try:
                arguments = (place / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if word.encode() in arguments:
                found.append(int(place.name))
    return found


def wait_until_started(word: str, count: int, seconds: float = 15.0) -> None:
    end = time.monotonic() + seconds
    while len(carrying(word)) < count:
        assert time.monotonic() < end, f"{word}: {len(carrying(word))} of {count} started"
        time.sleep(0.02)


def wait_until_gone(word: str, seconds: float = 5.0) -> None:
    end = time.monotonic() + seconds
    while left := carrying(word):
        assert time.monotonic() < end, f"{word}: still there after {seconds:g} s: {left}"
        time.sleep(0.05)
