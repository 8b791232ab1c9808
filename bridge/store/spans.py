"""Where a text is secret: the spans that the patterns find and the boundary replaces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Secret:
    """``text[start:end]`` is secret; ``kind`` names it in the replacement."""

    start: int
    end: int
    kind: str


def apart(found: Iterable[Secret]) -> list[Secret]:
    """In order and never overlapping; what begins first, and of those the longest, wins, and takes
    over the rest of one that it cuts."""
    kept: list[Secret] = []
    for secret in sorted(found, key=lambda each: (each.start, -each.end)):
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
        elif secret.end > kept[-1].end:
            kept[-1] = Secret(kept[-1].start, secret.end, kept[-1].kind)
    return kept
