"""Limits of a run, in one table."""

from __future__ import annotations

from dataclasses import dataclass

MAX_TURNS = 64
MAX_CALLS = 256
MAX_MINUTES = 30.0
"""Of a run, its pauses included, where nothing else is set."""
MAX_FAULTS_IN_A_ROW = 3
"""The third unreadable reply in a row ends the run."""
MAX_PAUSES_IN_A_ROW = 3
"""So often a paused reply is sent again; each further pause counts as an unreadable reply."""
MAX_LOST_TURNS = 2
"""Turns in a row that ended with the phone out of reach; then asking the model is pointless."""
MAX_OUTPUT_TOKENS = 8192
"""What a request allows a reply, its reasoning included, where nothing else is set: the most that
all known providers accept."""
REASONING_CHARS = 16_000
"""Of one response's visible reasoning, for the record; what is longer loses its end."""

DEVICE_LOST = frozenset({"device_disconnected", "device_not_found", "adb_unavailable"})
"""The ``error`` words of results that say so."""


@dataclass(frozen=True)
class RunLimits:
    """``turns`` can only be lowered from 64. ``tokens`` (input plus output) and ``cost`` (in the
    currency of the prices) are ceilings of the whole run, as far as the server reports its usage;
    None sets none. ``output_tokens`` is the cap of each reply. ``context_tokens`` is the room of a
    request's messages; beyond it older results are cut (None: never)."""

    turns: int = MAX_TURNS
    calls: int = MAX_CALLS
    faults: int = MAX_FAULTS_IN_A_ROW
    tokens: int | None = None
    cost: float | None = None
    output_tokens: int = MAX_OUTPUT_TOKENS
    context_tokens: int | None = None
