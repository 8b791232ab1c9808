"""What is known of single models: reasoning, context window, prices. Unknown stays unknown.

Only an exact name counts: a model that is merely called alike gets nothing from here. Prices are
US dollars per million tokens as the providers' public price pages had them on ``DATED`` (source:
the genai-prices data set 0.2.3, whose notes name those pages). Where a page charges more for long
requests, ``context_window`` is the size up to which the price below holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bridge.conversation.usage import Prices

DATED = "2026-10-14"
PRICE_PAGES: Mapping[str, str] = {
    "openai": "https://developers.openai.com/api/docs/pricing",
    "anthropic": "https://www.anthropic.com/pricing#api",
    "gemini": "https://ai.google.dev/gemini-api/docs/pricing",
    "kimi": "https://platform.kimi.ai/docs/pricing",
    "glm": "https://docs.z.ai/guides/overview/pricing",
}


@dataclass(frozen=True)
class ModelFacts:
    """``reasons``: takes an effort of thinking on its provider's wire."""

    reasons: bool = False
    context_window: int | None = None
    prices: Prices | None = None


UNKNOWN_MODEL = ModelFacts()

# name: reasons, context window, then input, output, cached input, cache write
_Row = tuple[bool, int, float, float, float | None, float | None]
_OPENAI: Mapping[str, _Row] = {
    "gpt-4o": (False, 128_000, 2.5, 10, 1.25, None),
    "gpt-4o-mini": (False, 128_000, 0.15, 0.6, 0.075, None),
    "gpt-4.1": (False, 1_000_000, 2, 8, 0.5, None),
    "gpt-4.1-mini": (False, 1_000_000, 0.4, 1.6, 0.1, None),
    "o3": (True, 200_000, 2, 8, 0.5, None),
    "o4-mini": (True, 200_000, 1.1, 4.4, 0.275, None),
    "gpt-5": (True, 400_000, 1.25, 10, 0.125, None),
    "gpt-5-mini": (True, 400_000, 0.25, 2, 0.025, None),
    "gpt-5-nano": (True, 400_000, 0.05, 0.4, 0.005, None),
    "gpt-5.1": (True, 400_000, 1.25, 10, 0.125, None),
    "gpt-5.2": (True, 400_000, 1.75, 14, 0.175, None),
    "gpt-5.4": (True, 272_000, 2.5, 15, 0.25, None),
    "gpt-5.4-mini": (True, 400_000, 0.75, 4.5, 0.075, None),
    "gpt-5.4-nano": (True, 400_000, 0.2, 1.25, 0.02, None),
    "gpt-5.5": (True, 272_000, 5, 30, 0.5, None),
    "gpt-5.6-luna": (True, 272_000, 0.2, 1.2, 0.02, 0.25),
    "gpt-5.6-sol": (True, 272_000, 4, 20, 0.4, 5),
    "gpt-5.6-terra": (True, 272_000, 2, 12, 0.2, 2.5),
    "gpt-6-astra": (True, 272_000, 10, 50, 1, 12.5),
    "gpt-6-luna": (True, 272_000, 0.1, 0.5, 0.01, 0.125),
    "gpt-6-sol": (True, 272_000, 2, 10, 0.2, 2.5),
    "gpt-6.1-sol": (True, 272_000, 2, 10, 0.1, 2.5),
    "gpt-6.1-terra": (True, 272_000, 1, 5, 0.05, 1.25),
}
_ANTHROPIC: Mapping[str, _Row] = {
    "claude-haiku-4-5": (True, 200_000, 1, 5, 0.1, 1.25),
    "claude-haiku-5-5": (True, 100_000, 0.1, 0.5, 0.01, 0.125),
    "claude-sonnet-4-5": (True, 200_000, 3, 15, 0.3, 3.75),
    "claude-sonnet-4-6": (True, 1_000_000, 3, 15, 0.3, 3.75),
    "claude-sonnet-5": (True, 1_000_000, 2, 10, 0.2, 2.5),
    "claude-sonnet-5-5": (True, 1_000_000, 2, 10, 0.1, 2.5),
    "claude-opus-4-5": (True, 200_000, 5, 25, 0.5, 6.25),
    "claude-opus-4-8": (True, 1_000_000, 5, 25, 0.5, 6.25),
    "claude-opus-5": (True, 1_000_000, 5, 25, 0.5, 6.25),
    "claude-opus-5-5": (True, 1_000_000, 4, 20, 0.2, 5),
}
_GEMINI: Mapping[str, _Row] = {
    "gemini-2.5-flash": (True, 1_048_576, 0.3, 2.5, 0.03, None),
    "gemini-2.5-flash-lite": (True, 1_000_000, 0.1, 0.4, 0.01, None),
    "gemini-2.5-pro": (True, 200_000, 1.25, 10, 0.125, None),
    "gemini-3.1-pro-preview": (True, 200_000, 2, 12, 0.2, None),
    "gemini-3.5-flash": (True, 1_000_000, 1.5, 9, 0.15, None),
    "gemini-3.5-flash-lite": (True, 1_000_000, 0.3, 2.5, 0.03, None),
}
# these servers have no field for an effort that is known to work
_KIMI: Mapping[str, _Row] = {
    "kimi-k2.6": (False, 262_144, 0.95, 4, 0.16, None),
    "kimi-k3": (False, 1_048_576, 3, 15, 0.3, 3),
    "kimi-k3.1-pro": (False, 1_048_576, 2, 10, 0.2, 2),
}
_GLM: Mapping[str, _Row] = {
    "glm-4.5v": (False, 64_000, 0.6, 1.8, 0.11, None),
    "glm-4.6v": (False, 128_000, 0.3, 0.9, 0.05, None),
    "glm-5.3": (False, 1_000_000, 1.4, 4.4, 0.26, None),
}
_ALL: Mapping[str, Mapping[str, _Row]] = {
    "openai": _OPENAI,
    "anthropic": _ANTHROPIC,
    "gemini": _GEMINI,
    "kimi": _KIMI,
    "glm": _GLM,
}


def facts_of(provider: str, model: str) -> ModelFacts:
    """What is known of ``model`` at ``provider``; ``UNKNOWN_MODEL`` without an exact hit."""
    row = _ALL.get(provider, {}).get(model)
    if row is None:
        return UNKNOWN_MODEL
    reasons, window, entered, written, cached, cache_write = row
    return ModelFacts(reasons, window, Prices(entered, written, cached, cache_write, DATED))


def known_models(provider: str) -> tuple[str, ...]:
    """The names the catalogue has for a provider."""
    return tuple(_ALL.get(provider, {}))
