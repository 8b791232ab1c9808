"""Limits of a run, in one table."""

from __future__ import annotations

from dataclasses import dataclass

MAX_TURNS = 64
MAX_CALLS = 256
MAX_FAULTS_IN_A_ROW = 3


@dataclass(frozen=True)
class RunLimits:
    """``turns`` can only be lowered from 64. ``tokens`` is a ceiling on input plus output tokens
    of the whole run, as far as the server reports them; None sets no ceiling."""

    turns: int = MAX_TURNS
    calls: int = MAX_CALLS
    faults: int = MAX_FAULTS_IN_A_ROW
    tokens: int | None = None
