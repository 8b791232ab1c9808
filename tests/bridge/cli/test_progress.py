"""What a person reads of the events: one line each, plain about what is not known."""

from __future__ import annotations

import pytest

from bridge.cli.progress import describe
from bridge.conversation.events import (
    HostedToolEnded,
    HostedToolStarted,
    ReasoningText,
    ResponseFinished,
    RunEvent,
    RunFinished,
    RunStatus,
)
from bridge.store.redaction import Redactor

TOTALS = {
    "turns": 2, "calls": 3, "input_tokens": 200, "output_tokens": 20, "cost": 0.5,
    "currency": "USD", "unreported": 1, "seconds": 4.5,
}  # fmt: skip


def line(event: RunEvent) -> str:
    return describe(Redactor().redact(event, "r-1", 1.0).record)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (ReasoningText(1, "First,\nlook.", summary=False), "reasoning: First, look."),
        (ReasoningText(1, "Looks.", summary=True), "reasoning, summarised: Looks."),
        (HostedToolStarted(1, "w", "web_search"), "web_search of the provider: started"),
        (HostedToolEnded(1, "w", "web_search", failed=True), "web_search of the provider: failed"),
        (
            ResponseFinished(1, "stop", "", 100, 10, 1500.0, 40, None, 6, 0.0123),
            "stop, tokens: 100 in, 40 of them cached, 10 out, 6 of them reasoning, cost 0.0123",
        ),
        (ResponseFinished(1, "client_stop", "", None, None, 1.0), "tokens unknown"),
        (
            RunFinished(RunStatus.DONE, 0, "Done.", totals=TOTALS),
            "2 turns, 3 calls, at least 200 + 20 tokens, cost at least 0.5000 USD, 4.5 s",
        ),
        (
            RunFinished(
                RunStatus.DONE, 0, "Done.",
                totals={**TOTALS, "input_tokens": None, "output_tokens": None, "cost": None},
            ),
            "unknown + unknown tokens, 4.5 s",
        ),
    ],
)  # fmt: skip
def test_each_event_is_told_plainly(event: RunEvent, words: str) -> None:
    """The line holds the facts, and says what is unknown instead of nothing."""
    assert words in line(event)


def test_a_record_of_an_older_version_is_still_told() -> None:
    """Totals and replies that lack the newer fields are shown with what they have."""
    totals = {"turns": 1, "calls": 0, "input_tokens": 5, "output_tokens": 6, "seconds": 1.0}
    old = {"type": "run_finished", "status": "done", "summary": "Done.", "totals": totals}
    assert "5 + 6 tokens, 1.0 s" in describe(old)
    reply = {"type": "response_finished", "reason": "stop", "input_tokens": 5,
             "output_tokens": 6, "milliseconds": 10}  # fmt: skip
    assert "tokens: 5 in, 6 out" in describe(reply)
