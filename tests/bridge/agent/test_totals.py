"""Tokens and money of a run, and the ceilings on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.agent.limits import RunLimits
from bridge.conversation.stream import Usage
from bridge.conversation.usage import Prices
from bridge.errors import LimitReached
from tests.bridge.agent.bench import FINISH, OBSERVE, STOP, Bench, Reply, reply

PRICES = Prices(input=1000.0, output=10_000.0, cached=100.0, dated="2026-01-01")


def looked(usage: Usage | None) -> Reply:
    return [event for event in (*reply(OBSERVE)[:-1], usage) if event is not None]


def test_cost_and_tokens_are_told_per_reply_and_per_run(tmp_path: Path) -> None:
    """Cached and reasoning tokens travel with the rest; the cost follows the prices."""
    usage = Usage(100, 10, cached_tokens=40, reasoning_tokens=6)
    bench = Bench(tmp_path, [looked(usage), looked(usage), reply("Done.")], prices=PRICES)
    bench.run()
    first = bench.of_type("response_finished")[0]
    assert first["cost"] == pytest.approx(0.164)
    assert (first["cached_tokens"], first["reasoning_tokens"]) == (40, 6)
    totals = bench.loop.totals.as_json()
    assert totals["cost"] == pytest.approx(0.164 * 2 + 0.2)
    assert (totals["cached_tokens"], totals["currency"], totals["unreported"]) == (80, "USD", 0)


def test_the_cost_ceiling_stops_before_the_next_request(tmp_path: Path) -> None:
    """Once the money is used no request is sent, and the totals say what it was."""
    limits = RunLimits(cost=0.15)
    bench = Bench(tmp_path, [looked(Usage(100, 10))] * 3, limits=limits, prices=PRICES)
    with pytest.raises(LimitReached, match="USD"):
        bench.run()
    assert len(bench.model.requests) == 1
    assert bench.loop.totals.as_json()["cost"] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("limits", "prices", "word"),
    [
        (RunLimits(tokens=10), None, "the ceiling counts only what is known"),
        (RunLimits(cost=1.0), PRICES, "the ceiling counts only what is known"),
        (RunLimits(cost=1.0), None, "no price is known"),
    ],
)
def test_a_ceiling_that_cannot_be_checked_is_said_once(
    limits: RunLimits, prices: Prices | None, word: str, tmp_path: Path
) -> None:
    """A server without usage stops nothing, is never estimated, and the record says so."""
    replies = [looked(None), looked(None), reply(FINISH)]
    bench = Bench(tmp_path, replies, limits=limits, prices=prices)
    bench.run()
    notices = [record["text"] for record in bench.of_type("notice")]
    assert len(notices) == 1 and word in notices[0]
    assert bench.loop.totals.as_json()["input_tokens"] in (None, 100)


def test_without_ceilings_missing_usage_is_no_news(tmp_path: Path) -> None:
    """Nothing is said, and the totals are unknown rather than zero."""
    bench = Bench(tmp_path, [[*reply("Done.")[:-2], STOP]])
    bench.run()
    assert bench.of_type("notice") == []
    assert bench.loop.totals.as_json()["output_tokens"] is None
