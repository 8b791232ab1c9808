from __future__ import annotations

from pathlib import Path

import pytest

from bridge.errors import ConfigurationError
from bridge.providers.settings import ProviderSettings, key_of, resolve


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (ProviderSettings("nobody"), "unknown provider 'nobody'"),
        (ProviderSettings("custom", model="m"), "needs a base URL"),
        (ProviderSettings("ollama"), "needs a model"),
        (ProviderSettings("openai", quirk="stop-with-calls"), "not known to need the quirk"),
        (ProviderSettings("custom", "ftp://x/v1", "m"), "http:// or https://"),
        (ProviderSettings("custom", "127.0.0.1:80", "m"), "http:// or https://"),
        (ProviderSettings("custom", "http://[::1", "m"), "not a URL"),
        (ProviderSettings("custom", "http://h:99999/", "m"), "not a URL"),
        (ProviderSettings("custom", "https://user:secret@h/v1", "m"), "no user name"),
        (ProviderSettings("custom", "https://h/v1?key=secret", "m"), "no user name"),
        (ProviderSettings("demo", model="gpt"), "built in"),
        (ProviderSettings("demo", protocol="ctl"), "does not speak ctl"),
        (ProviderSettings("openai", request={"stream": False}), "must not hold stream"),
        (ProviderSettings("openai", request={"previous_response_id": "x"}), "must not hold"),
        (ProviderSettings("replay:nowhere.jsonl"), "cannot be played back"),
    ],
)
def test_wrong_settings_are_named(settings: ProviderSettings, words: str) -> None:
    """Each wrong setting is an error of its own that never repeats a secret."""
    with pytest.raises(ConfigurationError, match=words) as caught:
        resolve(settings)
    assert "secret" not in caught.value.message + caught.value.advice


@pytest.mark.parametrize(
    ("settings", "wire"),
    [
        (ProviderSettings("openai"), "responses"),
        (ProviderSettings("openai", "https://api.openai.com/v1/"), "responses"),
        (ProviderSettings("openai", "https://elsewhere.test/v1"), "chat"),
        (ProviderSettings("openai", wire="chat"), "chat"),
        (ProviderSettings("custom", "https://h/v1", "m"), "chat"),
        (ProviderSettings("custom", "https://h/v1", "m", wire="responses"), "responses"),
        (ProviderSettings("anthropic", model="m"), "anthropic"),
        (ProviderSettings("anthropic", "https://h/v1", "m"), "anthropic"),
        (ProviderSettings("openrouter", model="m"), "chat"),
        (ProviderSettings("ollama", model="m"), "chat"),
    ],
)
def test_the_wire_follows_the_server_unless_the_user_says_so(
    settings: ProviderSettings, wire: str
) -> None:
    """Responses at OpenAI's own server, Messages at Anthropic, Chat Completions elsewhere."""
    assert resolve(settings).wire == wire


def test_reasoning_needs_the_catalogue_and_no_word_against_it() -> None:
    """An exact hit at the provider's own server reasons, unless the server says it does not."""
    assert resolve(ProviderSettings("openai", model="gpt-5")).reasons
    assert not resolve(ProviderSettings("openai", model="gpt-5", reasoning=False)).reasons
    assert not resolve(ProviderSettings("openai", model="gpt-99", reasoning=True)).reasons
    assert not resolve(ProviderSettings("openai", "https://h/v1", "gpt-5")).reasons


def test_prices_are_those_of_the_providers_own_server() -> None:
    """Behind another base URL, or for a model nobody knows, the cost is unknown."""
    own = resolve(ProviderSettings("openai", model="gpt-5"))
    assert own.prices is not None
    assert (own.prices.input, own.prices.output, own.context_window) == (1.25, 10, 400_000)
    assert resolve(ProviderSettings("openai", "https://h/v1", "gpt-5")).prices is None
    unknown = resolve(ProviderSettings("openai", model="gpt-99", context_window=5000))
    assert (unknown.prices, unknown.context_window) == (None, 5000)
    assert resolve(ProviderSettings("openai", model="gpt-99")).context_window == 128_000
    assert resolve(ProviderSettings("openai", "https://h/v1", "gpt-5")).context_window is None


def test_a_providers_own_key_goes_to_its_own_server_only() -> None:
    """The profile's variable serves the profile's own server; BRIDGE_API_KEY serves any."""
    keys = {"OPENAI_API_KEY": "sk-a"}
    own = key_of(resolve(ProviderSettings("openai")), keys)
    assert own is not None
    assert (own.value, own.source) == ("sk-a", "OPENAI_API_KEY")
    with pytest.raises(ConfigurationError, match="needs a key") as caught:
        key_of(resolve(ProviderSettings("openai", "https://elsewhere.test/v1")), keys)
    assert "BRIDGE_API_KEY" in caught.value.advice
    assert "key set elsewhere.test" in caught.value.advice
    china = resolve(ProviderSettings("kimi", "https://api.moonshot.cn/v1", "kimi-k3"))
    region = key_of(china, {"MOONSHOT_API_KEY": "sk-c"})
    assert region is not None and region.value == "sk-c" and china.prices is None
    both = key_of(resolve(ProviderSettings("openai")), {**keys, "BRIDGE_API_KEY": "sk-b"})
    assert both is not None
    assert both.source == "BRIDGE_API_KEY"


@pytest.mark.parametrize("environment", [{}, {"OPENAI_API_KEY": "sk-a\nb"}])
def test_a_missing_or_broken_key_is_told_before_anything_is_sent(
    environment: dict[str, str],
) -> None:
    """The error names the variable and not the key."""
    with pytest.raises(ConfigurationError) as caught:
        key_of(resolve(ProviderSettings("openai")), environment)
    told = caught.value.message + caught.value.advice
    assert "OPENAI_API_KEY" in told
    assert "sk-a" not in told


def test_a_replay_keeps_to_its_recording(tmp_path: Path) -> None:
    """Wire, model and protocol are the recorded ones; another one is refused."""
    path = tmp_path / "r.jsonl"
    path.write_text(
        '{"v":1,"type":"recording","provider":"openai","model":"m","wire":"chat",'
        '"protocol":"native-eos"}\n'
    )
    chosen = resolve(ProviderSettings(f"replay:{path}"))
    assert (chosen.model, chosen.wire, chosen.protocol) == ("m", "chat", "native-eos")
    assert key_of(chosen, {}) is None
    with pytest.raises(ConfigurationError, match="has the protocol of its recording"):
        resolve(ProviderSettings(f"replay:{path}", protocol="ctl"))
