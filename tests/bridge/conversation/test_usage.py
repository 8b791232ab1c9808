"""Sums and prices of what is known; the unknown stays unknown."""

from __future__ import annotations

import pytest

from bridge.conversation.stream import Usage
from bridge.conversation.usage import Prices, added, cost_of, merged

PRICES = Prices(input=2.0, output=10.0, cached=0.5, cache_write=4.0, dated="2026-01-01")


def test_a_later_report_replaces_field_by_field() -> None:
    """Reports are cumulative: a field that is missing later keeps its value, none is added."""
    earlier, later = Usage(100, 1, 40), Usage(None, 25)
    assert merged(earlier, later) == Usage(100, 25, 40)


def test_sums_know_what_was_never_said() -> None:
    """None plus a number is the number; None plus None stays None."""
    assert added(Usage(1, None), Usage(2, 3)) == Usage(3, 3)


def test_cached_and_written_tokens_have_prices_of_their_own() -> None:
    """They are part of the input and are charged once."""
    cost = cost_of(Usage(1_000_000, 100_000, 600_000, 100_000), PRICES)
    assert cost == pytest.approx(0.3 * 2 + 0.6 * 0.5 + 0.1 * 4 + 0.1 * 10)
    plain = cost_of(Usage(1_000_000, 0, 600_000), Prices(2.0, 10.0))
    assert plain == pytest.approx(2.0)


@pytest.mark.parametrize("usage", [Usage(), Usage(5, None), Usage(None, 5)])
def test_half_a_report_has_no_cost(usage: Usage) -> None:
    """Without input or output tokens the cost is unknown, never nothing."""
    assert cost_of(usage, PRICES) is None
    assert cost_of(Usage(5, 5), None) is None
