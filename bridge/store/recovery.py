"""What the record says of a run whose process is gone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bridge.conversation.events import CallFinished, RunFinished, RunStatus
from bridge.store.redaction import Redacted, Redactor
from device_tools.errors import Outcome
from device_tools.schema import RiskGroup

UNKNOWN_EXIT = 75
UNKNOWN_TEXT = "it is unknown whether this call happened: the run ended before it answered"
INTERRUPTED_TEXT = "the program ended before the run did"
INTERRUPTED_EXIT = 1


def unanswered(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Intents without an outcome: nobody knows whether those calls happened."""
    answered = {
        (record["turn"], record["call_id"])
        for record in records
        if record["type"] == "call_finished"
    }
    return [
        record
        for record in records
        if record["type"] == "call_intended" and (record["turn"], record["call_id"]) not in answered
    ]


def unknown_outcomes(run: str, records: Sequence[Mapping[str, Any]], now: float) -> list[Redacted]:
    """An outcome for every intent that has none."""
    redactor = Redactor()
    return [redactor.redact(_unknown(intent), run, now) for intent in unanswered(records)]


def interrupted(
    run: str, records: Sequence[Mapping[str, Any]], unknown: int, now: float
) -> Redacted:
    """The terminal event of a run whose process is gone; ``unknown`` calls have no outcome."""
    summary = INTERRUPTED_TEXT
    if unknown:
        summary += f"; {unknown} call(s) have an unknown outcome"
    finished = RunFinished(
        RunStatus.INTERRUPTED,
        INTERRUPTED_EXIT,
        summary,
        error="interrupted",
        advice="see what was done with `bridge sessions show`",
        totals=_totals(records),
        unread=tuple(_unread(records)),
    )
    return Redactor().redact(finished, run, now)


def _unknown(intent: Mapping[str, Any]) -> CallFinished:
    return CallFinished(
        intent["turn"],
        intent["call_id"],
        intent["name"],
        RiskGroup(intent["group"]),
        Outcome.UNKNOWN.value,
        UNKNOWN_EXIT,
        "interrupted",
        UNKNOWN_TEXT,
        0.0,
    )


def _unread(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Messages of the user that were acknowledged and that no turn has read."""
    read = {record["number"] for record in records if record["type"] == "steering_read"}
    queued = [record for record in records if record["type"] == "steering_queued"]
    return [str(record["text"]) for record in queued if record["number"] not in read]


def _totals(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the run had used by its last event. Cost is unknown: its currency is not recorded."""
    replies = [record for record in records if record["type"] == "response_finished"]
    begun = sum(record["type"] == "response_started" for record in records)
    reported = [reply for reply in replies if None not in (reply[_IN], reply[_OUT])]
    times = [record["time"] for record in records] or [0.0]
    return {
        "turns": begun,
        "calls": sum(record["type"] == "call_finished" for record in records),
        **{name: _sum(reply.get(name) for reply in replies) for name in _TOKENS},
        "cost": None,
        "currency": "",
        "unreported": begun - len(reported),
        "seconds": round(times[-1] - times[0], 2),
    }


_IN, _OUT = "input_tokens", "output_tokens"
_TOKENS = (_IN, _OUT, "cached_tokens", "cache_write_tokens", "reasoning_tokens")


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
