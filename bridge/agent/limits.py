"""Limits of a run, in one table."""

from __future__ import annotations

from dataclasses import dataclass

MAX_TURNS = 64
MAX_CALLS = 256
MAX_FAULTS_IN_A_ROW = 3
MAX_LOST_TURNS = 2
"""Turns in a row that ended with the phone out of reach; then asking the model is pointless."""

DEVICE_LOST = frozenset({"device_disconnected", "device_not_found", "adb_unavailable"})
"""The ``error`` words of results that say so."""


@dataclass(frozen=True)
class RunLimits:
    """``turns`` can only be lowered from 64. ``tokens`` is a ceiling on input plus output tokens
    of the whole run, as far as the server reports them; None sets no ceiling."""

    turns: int = MAX_TURNS
    calls: int = MAX_CALLS
    faults: int = MAX_FAULTS_IN_A_ROW
    tokens: int | None = None
