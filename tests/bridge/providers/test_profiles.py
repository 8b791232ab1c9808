from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.conversation.messages import ModelRequest, UserMessage
from bridge.conversation.stream import Finish, FinishReason, TextDelta
from bridge.errors import ConfigurationError
from bridge.providers.profiles import (
    PROVIDERS,
    ProviderSettings,
    open_provider,
    resolve,
)
from device_tools.cancel import CancelScope
from device_tools.catalog import PHONE_TOOLS
from tests.doubles.provider_server import DONE, Answer, ScriptedServer, chat_answer, chat_chunk

REQUEST = ModelRequest("s", (UserMessage("go home"),))


def test_every_profile_is_complete() -> None:
    """Names are the keys of the table, base URLs are https or local, none ends in a slash."""
    for name, profile in PROVIDERS.items():
        assert profile.name == name
        assert profile.title
        assert not profile.base_url.endswith("/")
        if profile.base_url:
            settings = ProviderSettings(name, model="m")
            local = not resolve(settings, {}).needs_key
            assert profile.base_url.startswith("http://127.0.0.1:" if local else "https://")


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
    ],
)
def test_wrong_settings_are_named(settings: ProviderSettings, words: str) -> None:
    """Each wrong setting is an error of its own that never repeats a secret."""
    with pytest.raises(ConfigurationError, match=words) as caught:
        resolve(settings, {})
    assert "secret" not in caught.value.message + caught.value.advice


def test_the_key_comes_from_the_environment_only() -> None:
    """The profile's variable serves the profile's own server; BRIDGE_API_KEY serves any."""
    keys = {"OPENAI_API_KEY": "sk-a"}
    own = resolve(ProviderSettings("openai"), keys)
    assert (own.key_variable, own.has_key, own.needs_key) == ("OPENAI_API_KEY", True, True)
    other = resolve(ProviderSettings("openai", "https://elsewhere.test/v1"), keys)
    assert (other.key_variable, other.has_key) == ("BRIDGE_API_KEY", False)
    both = resolve(ProviderSettings("openai"), {**keys, "BRIDGE_API_KEY": "sk-b"})
    assert both.key_variable == "BRIDGE_API_KEY"


@pytest.mark.parametrize("environment", [{}, {"OPENAI_API_KEY": "sk-a\nb"}])
def test_a_missing_or_broken_key_is_told_before_anything_is_sent(
    environment: dict[str, str],
) -> None:
    """The error names the variable and not the key."""
    with (
        pytest.raises(ConfigurationError) as caught,
        open_provider(ProviderSettings("openai"), CancelScope(), environment),
    ):
        pass
    told = caught.value.message + caught.value.advice
    assert "OPENAI_API_KEY" in told
    assert "sk-a" not in told


def test_a_local_server_needs_no_key() -> None:
    """Any profile with a base URL on this machine works without a key."""
    with ScriptedServer([chat_answer("hi")]) as server:
        settings = ProviderSettings("openai", server.base_url)
        with (
            open_provider(settings, CancelScope(), {}) as provider,
            provider.stream(REQUEST) as events,
        ):
            texts = [each.text for each in events if isinstance(each, TextDelta)]
        assert "".join(texts) == "hi"
        assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize(
    ("quirk", "reason"), [("", FinishReason.STOP), ("stop-with-calls", FinishReason.TOOL_CALLS)]
)
def test_the_quirk_reaches_the_provider_only_when_asked_for(
    quirk: str, reason: FinishReason
) -> None:
    """A stop behind native calls is a tool reason with the quirk, and noted; else it stays one."""
    call = {"index": 0, "id": "a", "function": {"name": "current_app", "arguments": "{}"}}
    reply = Answer([chat_chunk({"tool_calls": [call]}), chat_chunk(finish="stop"), DONE])
    notices: list[str] = []
    with ScriptedServer([reply]) as server:
        settings = ProviderSettings("custom", server.base_url, "m", quirk)
        request = replace(REQUEST, tools=PHONE_TOOLS)
        with (
            open_provider(settings, CancelScope(), {}, on_retry=notices.append) as provider,
            provider.stream(request) as events,
        ):
            *_, finish = events
    assert finish == Finish(reason, "stop")
    assert len(notices) == bool(quirk)


def test_a_proxy_is_not_used_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """HTTP_PROXY without NO_PROXY does not lead local requests astray."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with (
        open_provider(ProviderSettings(), CancelScope(), {}) as provider,
        provider.stream(REQUEST) as events,
    ):
        *_, finish = events
    assert finish == Finish(FinishReason.STOP, "stop")
