"""RUNNING → COMMITTING → TERMINAL: who may end a run. Pure; the database holds the state.

Normal end, cancel, replacement, time limit and crash recovery race for one terminal result.
Whoever moves the run from RUNNING to COMMITTING has won and alone ends it. Only when the process
of the run is gone may recovery take a claim over, and then the old claim is worth nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Phase(StrEnum):
    RUNNING = "running"
    COMMITTING = "committing"
    TERMINAL = "terminal"


class Ender(StrEnum):
    """Who wants to end a run."""

    END = "end"
    CANCEL = "cancel"
    REPLACED = "replaced"
    TIME_LIMIT = "time_limit"
    RECOVERY = "recovery"


@dataclass(frozen=True)
class RunState:
    """``committer`` is who claimed the end, None while nobody did."""

    phase: Phase = Phase.RUNNING
    committer: Ender | None = None


def claim(state: RunState, who: Ender) -> RunState | None:
    """The state once ``who`` won the right to end the run; None when it was not to be won."""
    if state.phase is not Phase.RUNNING:
        return None
    return RunState(Phase.COMMITTING, who)


def take_over(state: RunState) -> RunState | None:
    """Recovery's claim, for a run whose process is known to be gone."""
    if state.phase is Phase.TERMINAL:
        return None
    return RunState(Phase.COMMITTING, Ender.RECOVERY)


def close(state: RunState, who: Ender) -> RunState | None:
    """The terminal state, for the one who holds the claim; None for anybody else."""
    if state != RunState(Phase.COMMITTING, who):
        return None
    return RunState(Phase.TERMINAL, who)
