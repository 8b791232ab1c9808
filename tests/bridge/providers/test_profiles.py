from __future__ import annotations

import pytest

from bridge.config_values import PROTOCOLS
from bridge.config_values import WIRES as SETTABLE_WIRES
from bridge.cst.carriers import CARRIERS
from bridge.providers.catalogue import PRICE_PAGES, facts_of, known_models
from bridge.providers.profiles import PROVIDERS, WIRES
from bridge.providers.settings import ProviderSettings, resolve

NAMES = (
    "openai anthropic openrouter deepseek qwen glm kimi minimax gemini ollama vllm llama.cpp "
    "lmstudio custom demo"
)


def test_every_profile_is_complete() -> None:
    """Names are the keys of the table, base URLs are https or local, none ends in a slash."""
    assert set(PROVIDERS) == set(NAMES.split())
    assert set(WIRES) == set(SETTABLE_WIRES)
    assert set(PROTOCOLS) == set(CARRIERS)
    for name, profile in PROVIDERS.items():
        assert profile.name == name
        assert profile.title
        assert profile.wire in WIRES
        assert profile.carrier in CARRIERS
        assert not profile.base_url.endswith("/")
        if profile.base_url:
            local = not resolve(ProviderSettings(name, model="m")).needs_key
            assert profile.base_url.startswith("http://127.0.0.1:" if local else "https://")
            assert bool(profile.key_variables) is not local


@pytest.mark.parametrize("provider", PRICE_PAGES)
def test_prices_have_a_date_and_a_page(provider: str) -> None:
    """Each catalogued model has a window and plausible dated prices."""
    assert PRICE_PAGES[provider].startswith("https://")
    for model in known_models(provider):
        facts = facts_of(provider, model)
        assert facts.prices is not None
        assert facts.prices.dated
        assert 0 < facts.prices.input <= facts.prices.output < 1000
        assert (facts.prices.cached or 0) <= facts.prices.input
        assert facts.context_window is not None
        assert facts.context_window >= 64_000


def test_only_an_exact_name_is_known() -> None:
    """A model called alike gets no reasoning, window or price from another one."""
    assert facts_of("openai", "gpt-5-mini").reasons
    for provider, model in (("openai", "gpt-5-mini-x"), ("custom", "gpt-5-mini"), ("qwen", "x")):
        unknown = facts_of(provider, model)
        assert (unknown.reasons, unknown.context_window, unknown.prices) == (False, None, None)
