"""Arithmetic of tokens and money; what a server did not say stays unknown and is never guessed."""

from __future__ import annotations

from dataclasses import dataclass, fields

from bridge.conversation.stream import Usage

_MILLION = 1_000_000


@dataclass(frozen=True)
class Prices:
    """Money per million tokens, in ``currency``, as the provider's price page said on ``dated``
    (YYYY-MM-DD). ``cached`` and ``cache_write`` None: these tokens cost what input costs."""

    input: float
    output: float
    cached: float | None = None
    cache_write: float | None = None
    dated: str = ""
    currency: str = "USD"


def merged(earlier: Usage, later: Usage) -> Usage:
    """``later`` over ``earlier``, field by field; a field that it leaves out keeps its value."""
    values = {item.name: getattr(later, item.name) for item in fields(Usage)}
    return Usage(
        **{
            name: getattr(earlier, name) if value is None else value
            for name, value in values.items()
        }
    )


def added(total: Usage, more: Usage) -> Usage:
    """The sum of what is known; None only where neither knows."""
    return Usage(
        **{
            item.name: _sum(getattr(total, item.name), getattr(more, item.name))
            for item in fields(Usage)
        }
    )


def cost_of(usage: Usage, prices: Prices | None) -> float | None:
    """The price of one response; None when the prices, its input or its output are unknown."""
    if prices is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    cached, written = usage.cached_tokens or 0, usage.cache_write_tokens or 0
    plain = max(usage.input_tokens - cached - written, 0)
    cached_price = prices.input if prices.cached is None else prices.cached
    write_price = prices.input if prices.cache_write is None else prices.cache_write
    money = plain * prices.input + cached * cached_price + written * write_price
    return (money + usage.output_tokens * prices.output) / _MILLION


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one + (other or 0)
