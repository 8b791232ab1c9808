"""The known model servers as data, and the factory that turns settings into a provider."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from bridge.errors import ConfigurationError
from bridge.providers.chat_completions import ChatWire
from bridge.providers.chat_quirks import ChatQuirks
from bridge.providers.endpoint import OWN_KEY_VARIABLE, HttpLimits, Server, is_local
from bridge.providers.provider import HttpProvider, ignore_notice
from bridge.providers.wire import RequestOptions
from device_tools.cancel import CancelScope


@dataclass(frozen=True)
class ProviderProfile:
    """A server that speaks Chat Completions. ``base_url`` "" = the user must name it; ``model``
    None = the user must choose. ``key_variable`` "" = no key of its own. ``stop_with_calls``: it is
    known to end whole native calls with ``stop``, so the user may choose to accept that."""

    name: str
    title: str
    base_url: str
    key_variable: str = ""
    model: str | None = None
    max_tokens_field: str = "max_tokens"
    stop_with_calls: bool = False


_ALL = (
    ProviderProfile("demo", "built-in rule-based demo, no model", "", model="demo-rules"),
    ProviderProfile(
        "openai",
        "OpenAI",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        "gpt-5-mini",
        # its newer models refuse max_tokens
        max_tokens_field="max_completion_tokens",
    ),
    ProviderProfile(
        "openrouter",
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        stop_with_calls=True,
    ),
    ProviderProfile(
        "deepseek", "DeepSeek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "deepseek-chat"
    ),
    ProviderProfile("ollama", "Ollama on this machine", "http://127.0.0.1:11434/v1"),
    # a llama-server has one model and ignores the name
    ProviderProfile(
        "llama.cpp", "llama-server on this machine", "http://127.0.0.1:8080/v1", model="default"
    ),
    ProviderProfile("lmstudio", "LM Studio on this machine", "http://127.0.0.1:1234/v1"),
    ProviderProfile(
        "vllm", "vLLM on this machine", "http://127.0.0.1:8000/v1", stop_with_calls=True
    ),
    ProviderProfile("custom", "any Chat Completions server", "", stop_with_calls=True),
)
PROVIDERS: Mapping[str, ProviderProfile] = {profile.name: profile for profile in _ALL}


@dataclass(frozen=True)
class ProviderSettings:
    """What the user chose; "" leaves it to the profile. ``quirk`` is "" or "stop-with-calls"."""

    name: str = "demo"
    base_url: str = ""
    model: str = ""
    quirk: str = ""


@dataclass(frozen=True)
class ResolvedProvider:
    """Settings after the profile filled the gaps. Holds no key, only where it comes from.

    ``key_variable`` names the set variable, or the one to set when ``has_key`` is false.
    """

    profile: ProviderProfile
    base_url: str
    model: str
    key_variable: str
    has_key: bool
    needs_key: bool


def resolve(settings: ProviderSettings, environment: Mapping[str, str]) -> ResolvedProvider:
    """Check and complete the settings; sends nothing, starts nothing (``doctor`` uses it too).

    Raises:
        ConfigurationError: unknown provider, no or bad base URL, no model.
    """
    profile = PROVIDERS.get(settings.name)
    if profile is None:
        raise ConfigurationError(
            f"unknown provider {settings.name!r}", advice="known: " + ", ".join(PROVIDERS)
        )
    if settings.quirk and not profile.stop_with_calls:
        known = ", ".join(each.name for each in _ALL if each.stop_with_calls)
        raise ConfigurationError(
            f"provider {profile.name} is not known to need the quirk {settings.quirk}",
            advice=f"leave it out; it is there for: {known}",
        )
    if profile.name == "demo":
        return _resolve_demo(settings, profile)
    base_url = settings.base_url or profile.base_url
    local = _check_url(base_url, profile)
    model = settings.model or profile.model
    if not model:
        raise ConfigurationError(
            f"provider {profile.name} needs a model", advice="choose one with --model"
        )
    # a profile's own key goes to the profile's own server and nowhere else
    own_server = not settings.base_url or settings.base_url.rstrip("/") == profile.base_url
    names = [OWN_KEY_VARIABLE]
    if profile.key_variable and own_server:
        names.append(profile.key_variable)
    variable = next((name for name in names if environment.get(name, "").strip()), "")
    return ResolvedProvider(
        profile, base_url, model, variable or names[-1], bool(variable), needs_key=not local
    )


@contextmanager
def open_provider(
    settings: ProviderSettings,
    cancel: CancelScope,
    environment: Mapping[str, str],
    *,
    limits: HttpLimits | None = None,
    on_retry: Callable[[str], None] = ignore_notice,
) -> Iterator[HttpProvider]:
    """The provider for the settings, for the length of a run (the demo's server lives as long).

    Raises:
        ConfigurationError: as ``resolve``; no key where one is needed; a key with odd characters.
    """
    chosen = resolve(settings, environment)
    if chosen.profile.name == "demo":
        from bridge.providers.demo.server import DemoServer

        with DemoServer() as demo:
            yield HttpProvider(
                "demo",
                ChatWire(),
                RequestOptions(demo.model),
                Server(demo.base_url, demo.key),
                cancel,
                limits=limits,
            )
        return
    yield HttpProvider(
        chosen.profile.name,
        ChatWire(ChatQuirks(stop_with_calls=bool(settings.quirk)), on_retry),
        RequestOptions(chosen.model, chosen.profile.max_tokens_field),
        Server(chosen.base_url, _key(chosen, environment), chosen.key_variable),
        cancel,
        limits=limits,
        on_retry=on_retry,
    )


def _resolve_demo(settings: ProviderSettings, profile: ProviderProfile) -> ResolvedProvider:
    model = profile.model or ""
    if settings.base_url or settings.model not in ("", model):
        raise ConfigurationError(
            "provider demo is built in: it has no other base URL or model",
            advice="name a provider, for example --provider openai or --provider custom",
        )
    return ResolvedProvider(profile, "", model, "", has_key=False, needs_key=False)


def _check_url(url: str, profile: ProviderProfile) -> bool:
    """Whether the URL names this machine."""
    if not url:
        raise ConfigurationError(
            f"provider {profile.name} needs a base URL",
            advice="for example --base-url http://127.0.0.1:8080/v1",
        )
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigurationError("the base URL is not a URL", advice=str(error)) from error
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigurationError(
            "the base URL must start with http:// or https:// and name a host",
            advice="for example --base-url http://127.0.0.1:8080/v1",
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigurationError(
            "the base URL must hold no user name, password, query or fragment",
            advice=f"put the key into the environment variable {OWN_KEY_VARIABLE}",
        )
    return is_local(host)


def _key(chosen: ResolvedProvider, environment: Mapping[str, str]) -> str | None:
    key = environment.get(chosen.key_variable, "").strip()
    if not key:
        if chosen.needs_key:
            raise ConfigurationError(
                f"provider {chosen.profile.name} needs a key",
                advice=f"put it into the environment variable {chosen.key_variable}",
            )
        return None
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ConfigurationError(
            f"the key in {chosen.key_variable} has characters that no key has",
            advice="copy it again; perhaps a quote or a line break came along",
        )
    return key
