"""The one terminal result of a run, made from its answer or from what ended it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bridge.agent.turn import Answer
from bridge.conversation.events import RunFinished, RunStatus
from bridge.errors import LimitReached
from device_tools.errors import BridgeError, Cancelled


def answered(answer: Answer, totals: Mapping[str, Any], unread: Sequence[str]) -> RunFinished:
    """The model said how it ended."""
    return RunFinished(
        RunStatus.DONE if answer.success else RunStatus.FAILED,
        0 if answer.success else 1,
        answer.summary,
        answer.output,
        error="" if answer.success else "model_reported_failure",
        totals=totals,
        unread=tuple(unread),
    )


def ended_by(error: BridgeError, totals: Mapping[str, Any], unread: Sequence[str]) -> RunFinished:
    """A fault, a limit or the user ended it."""
    status = RunStatus.FAILED
    if isinstance(error, Cancelled):
        status = RunStatus.CANCELLED
    elif isinstance(error, LimitReached):
        status = RunStatus.LIMIT
    return RunFinished(
        status,
        error.exit_code,
        error.message,
        error=type(error).__name__,
        advice=error.advice,
        totals=totals,
        unread=tuple(unread),
    )
