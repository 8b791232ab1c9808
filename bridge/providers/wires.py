"""The wires by name, with the quirks of a profile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bridge.errors import ConfigurationError
from bridge.providers.profiles import ANTHROPIC, CHAT, RESPONSES, WIRES, ProviderProfile
from bridge.providers.wire import Wire


def open_wire(
    name: str, profile: ProviderProfile, *, stop_with_calls: bool, note: Callable[[str], None]
) -> Wire:
    """The wire ``name`` as ``profile`` needs it. ``note`` is told what a quirk let through.

    Raises:
        ConfigurationError: no such wire.
    """
    if name == CHAT:
        from bridge.providers.chat_completions import ChatWire

        return ChatWire(replace(profile.quirks, stop_with_calls=stop_with_calls), note)
    if name == RESPONSES:
        from bridge.providers.responses import ResponsesWire

        return ResponsesWire(note)
    if name == ANTHROPIC:
        from bridge.providers.anthropic import AnthropicWire

        return AnthropicWire()
    raise ConfigurationError(f"there is no wire {name!r}", advice=f"wires: {', '.join(WIRES)}")
