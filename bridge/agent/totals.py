"""What a run used so far: turns, calls, tokens, money."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bridge.agent.limits import RunLimits
from bridge.conversation.stream import Usage
from bridge.conversation.usage import Prices, added, cost_of
from bridge.errors import LimitReached


@dataclass
class Totals:
    """Sums of what is known. ``unreported`` counts replies whose usage, or with ``prices`` whose
    cost, is not wholly known."""

    prices: Prices | None = None
    turns: int = 0
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    unreported: int = 0

    @property
    def tokens(self) -> int:
        """Input plus output as far as they are known."""
        return (self.usage.input_tokens or 0) + (self.usage.output_tokens or 0)

    def add(self, usage: Usage) -> float | None:
        """Count one response; its cost, None when that is unknown."""
        self.usage = added(self.usage, usage)
        if usage.input_tokens is None or usage.output_tokens is None:
            self.unreported += 1
        cost = cost_of(usage, self.prices)
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost
        return cost

    def check(self, limits: RunLimits) -> None:
        """Raises LimitReached when no further request may be sent."""
        if self.turns >= limits.turns:
            raise LimitReached(
                f"the run used its {limits.turns} turns",
                advice="split the task, or raise --max-turns (64 at most)",
            )
        if limits.tokens is not None and self.tokens >= limits.tokens:
            raise LimitReached(
                f"the run used {self.tokens} of its {limits.tokens} tokens",
                advice="raise --max-tokens or split the task",
            )
        if limits.cost is not None and self.cost is not None and self.cost >= limits.cost:
            raise LimitReached(
                f"the run used {self.cost:.4f} of its {limits.cost:g} {self.currency}",
                advice="raise --max-cost or split the task",
            )

    def unchecked(self, limits: RunLimits) -> str:
        """Which ceiling cannot be held so far, and why; "" when all can."""
        if limits.cost is not None and self.prices is None:
            return "no price is known for this model: --max-cost cannot be checked"
        if self.unreported and (limits.tokens is not None or limits.cost is not None):
            return (
                "the server did not report the whole usage of a reply, or the reply was not read "
                "to its end: the ceiling counts only what is known"
            )
        return ""

    @property
    def currency(self) -> str:
        return self.prices.currency if self.prices else ""

    def as_json(self) -> dict[str, Any]:
        """The ``totals`` of ``run_finished``."""
        return {
            "turns": self.turns,
            "calls": self.calls,
            "input_tokens": self.usage.input_tokens,
            "output_tokens": self.usage.output_tokens,
            "cached_tokens": self.usage.cached_tokens,
            "cache_write_tokens": self.usage.cache_write_tokens,
            "reasoning_tokens": self.usage.reasoning_tokens,
            "cost": None if self.cost is None else round(self.cost, 6),
            "currency": self.currency,
            "unreported": self.unreported,
        }
