"""What is settled before a run starts: the model's server, limits, the user's pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.agent.limits import RunLimits
from bridge.errors import ConfigurationError
from bridge.images import user_images

if TYPE_CHECKING:
    from bridge.config import Settings
    from bridge.providers.endpoint import HttpLimits
    from bridge.providers.settings import ProviderSettings, ResolvedProvider
    from device_tools.result import Image

UNKNOWN_CONTEXT_WINDOW = 128_000
"""Tokens; assumed where nobody told the window of the model."""
_REPLY_SHARE = 4
"""A reply may use one part in so many of a known window."""


@dataclass(frozen=True)
class RunPlan:
    """``images`` go with the task."""

    limits: RunLimits
    images: tuple[Image, ...] = ()


def plan_run(settings: Settings, chosen: ResolvedProvider, images: Sequence[Path]) -> RunPlan:
    """Nothing is opened, sent or started.

    Raises:
        ConfigurationError: a picture cannot be used, or they are too large.
    """
    window = chosen.context_window
    output_tokens = settings.max_output_tokens
    if window is not None:
        output_tokens = min(output_tokens, max(1, window // _REPLY_SHARE))
    limits = RunLimits(
        turns=settings.max_turns,
        tokens=settings.max_tokens,
        cost=settings.max_cost,
        output_tokens=output_tokens,
        context_tokens=(window or UNKNOWN_CONTEXT_WINDOW) - output_tokens,
    )
    return RunPlan(limits, user_images(images, chosen.profile.image))


def provider_settings(settings: Settings) -> ProviderSettings:
    """The provider part of the settings; there is no silent default for where data goes."""
    from bridge.providers.settings import ProviderSettings

    if settings.provider is None:
        if settings.base_url is None:
            raise ConfigurationError(
                "no model provider is configured",
                advice="name one with --provider; --provider demo needs no key and no model",
            )
        name = "custom"
    else:
        name = settings.provider
    return ProviderSettings(
        name,
        settings.base_url or "",
        settings.model or "",
        settings.quirk or "",
        settings.wire or "",
        settings.protocol or "",
        settings.thinking or "",
        settings.web_search,
        settings.pictures,
        settings.reasoning,
        settings.context_window,
        settings.request,
        settings.headers,
        settings.record or "",
        settings.debug_http or "",
        _http_limits(settings),
    )


def _http_limits(settings: Settings) -> HttpLimits:
    from bridge.providers.endpoint import HttpLimits

    usual = HttpLimits()
    return replace(
        usual,
        connect=settings.connect_timeout or usual.connect,
        first_byte=settings.first_byte_timeout or usual.first_byte,
        idle=settings.idle_timeout or usual.idle,
        answer_wait=settings.answer_timeout or usual.answer_wait,
    )
