"""From what the user chose to what a run needs: checks and completes, sends and starts nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bridge.conversation.usage import Prices
from bridge.errors import ConfigurationError
from bridge.providers.catalogue import UNKNOWN_MODEL, facts_of
from bridge.providers.endpoint import OWN_KEY_VARIABLE, HttpLimits, is_local
from bridge.providers.extra import check_extra
from bridge.providers.keys import Key, find_key
from bridge.providers.profiles import CHAT, PROVIDERS, ProviderProfile
from bridge.providers.replay import Recorded, read_recording

REPLAY = "replay:"


@dataclass(frozen=True)
class ProviderSettings:
    """What the user chose; "" or None leaves it to the profile.

    ``quirk`` is "" or one that the profile offers. ``thinking`` is "", "off" or an effort.
    ``request`` is laid over the request's JSON, ``headers`` beside its headers. ``reasoning``:
    what the server itself tells of the model; False overrides the catalogue. ``pictures``: the
    model reads them.
    ``record`` and ``debug_http`` name files.
    """

    name: str = "demo"
    base_url: str = ""
    model: str = ""
    quirk: str = ""
    wire: str = ""
    protocol: str = ""
    thinking: str = ""
    web_search: bool = False
    pictures: bool = True
    reasoning: bool | None = None
    context_window: int | None = None
    request: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    record: str = ""
    debug_http: str = ""
    limits: HttpLimits = field(default_factory=HttpLimits)


@dataclass(frozen=True)
class ResolvedProvider:
    """Settings after profile and catalogue filled the gaps. Holds no key, only where to look.

    ``key_account`` is its name in the keyring; ``recorded`` is what a replay plays.
    """

    settings: ProviderSettings
    profile: ProviderProfile
    base_url: str
    model: str
    wire: str
    protocol: str
    key_variables: tuple[str, ...] = ()
    key_account: str = ""
    needs_key: bool = False
    reasons: bool = False
    context_window: int | None = None
    prices: Prices | None = None
    recorded: Recorded | None = None


def resolve(settings: ProviderSettings) -> ResolvedProvider:
    """Check and complete the settings (``doctor`` uses it too).

    Raises:
        ConfigurationError: unknown provider, no or bad base URL, no model, a setting that does
            not fit the provider, a recording that cannot be read.
    """
    if settings.name.startswith(REPLAY):
        return _resolve_replay(settings)
    profile = PROVIDERS.get(settings.name)
    if profile is None:
        raise ConfigurationError(
            f"unknown provider {settings.name!r}",
            advice=f"known: {', '.join(PROVIDERS)}, and {REPLAY}FILE",
        )
    _check_quirk(settings, profile)
    check_extra(settings.request)
    if profile.name == "demo":
        return _resolve_demo(settings, profile)
    base_url = (settings.base_url or profile.base_url).rstrip("/")
    local = _check_url(base_url, profile)
    model = settings.model or profile.model
    if not model:
        raise ConfigurationError(
            f"provider {profile.name} needs a model", advice="choose one with --model"
        )
    own_server = base_url in (profile.base_url, *profile.regions)
    # prices and models differ between regions
    facts = facts_of(profile.name, model) if base_url == profile.base_url else UNKNOWN_MODEL
    return ResolvedProvider(
        settings,
        profile,
        base_url,
        model,
        settings.wire or _wire(profile, own_server),
        settings.protocol or profile.carrier,
        # a profile's own key goes to the profile's own server and nowhere else
        (OWN_KEY_VARIABLE, *(profile.key_variables if own_server else ())),
        profile.name if own_server else urlsplit(base_url).netloc,
        needs_key=not local,
        reasons=facts.reasons and settings.reasoning is not False,
        context_window=settings.context_window
        or facts.context_window
        or (profile.context_window if own_server else None),
        prices=facts.prices,
    )


def key_of(chosen: ResolvedProvider, environment: Mapping[str, str]) -> Key | None:
    """The key to use, None where none is needed and none is set.

    Raises:
        ConfigurationError: no key where one is needed; a key with odd characters.
    """
    # a server on this machine mostly needs none: no keyring is unlocked for it
    account = chosen.key_account if chosen.needs_key else ""
    key = find_key(chosen.key_variables, account, environment)
    if key is None and chosen.needs_key:
        raise ConfigurationError(
            f"provider {chosen.profile.name} needs a key",
            advice=f"put it into the environment variable {chosen.key_variables[-1]}, or keep it "
            f"in the keyring: bridge config key set {chosen.key_account}",
        )
    return key


def _wire(profile: ProviderProfile, own_server: bool) -> str:
    """OpenAI's own server has Responses; what only looks like it mostly has not."""
    return profile.wire if own_server or profile.name != "openai" else CHAT


def _check_quirk(settings: ProviderSettings, profile: ProviderProfile) -> None:
    if settings.quirk and settings.quirk not in profile.offered_quirks:
        offering = (p.name for p in PROVIDERS.values() if settings.quirk in p.offered_quirks)
        known = ", ".join(offering)
        raise ConfigurationError(
            f"provider {profile.name} is not known to need the quirk {settings.quirk}",
            advice=f"leave it out; it is there for: {known}",
        )


def _resolve_demo(settings: ProviderSettings, profile: ProviderProfile) -> ResolvedProvider:
    model = profile.model or ""
    if settings.base_url or settings.model not in ("", model) or settings.wire not in ("", CHAT):
        raise ConfigurationError(
            "provider demo is built in: it has no other base URL, model or wire",
            advice="name a provider, for example --provider openai or --provider custom",
        )
    if settings.protocol not in ("", profile.carrier):
        raise ConfigurationError(
            f"the demo provider does not speak {settings.protocol}",
            advice=f"--protocol {profile.carrier}, or name a model server with --provider",
        )
    return ResolvedProvider(settings, profile, "", model, CHAT, profile.carrier)


def _resolve_replay(settings: ProviderSettings) -> ResolvedProvider:
    recorded = read_recording(Path(settings.name.removeprefix(REPLAY)).expanduser())
    about = recorded.about
    for name, value in (
        ("base_url", settings.base_url),
        ("model", settings.model),
        ("wire", settings.wire),
        ("protocol", settings.protocol),
    ):
        if value not in ("", about.get(name, "")):
            raise ConfigurationError(
                f"a replay has the {name} of its recording", advice=f"leave the setting {name} out"
            )
    profile = ProviderProfile("replay", "a recording", "", carrier=about["protocol"])
    return ResolvedProvider(
        settings, profile, "", about["model"], about["wire"], about["protocol"], recorded=recorded
    )


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
