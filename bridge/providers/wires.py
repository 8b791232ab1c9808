"""The wires by name, with the quirks of a profile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bridge.errors import ConfigurationError
from bridge.providers.chat_quirks import ChatQuirks
from bridge.providers.profiles import ANTHROPIC, CHAT, RESPONSES, WIRES, ProviderProfile
from bridge.providers.wire import Wire


def open_wire(
    name: str, profile: ProviderProfile, *, quirk: str, note: Callable[[str], None]
) -> Wire:
    """The wire ``name`` as ``profile`` needs it. ``note`` is told what a quirk let through,
    and what the server changed.

    Raises:
        ConfigurationError: no such wire.
    """
    if name == CHAT:
        from bridge.providers.chat_completions import ChatWire

        return ChatWire(_asked(profile.quirks, quirk), note)
    if name == RESPONSES:
        from bridge.providers.responses import ResponsesWire

        return ResponsesWire(note)
    if name == ANTHROPIC:
        from bridge.providers.anthropic import AnthropicWire

        return AnthropicWire()
    raise ConfigurationError(f"there is no wire {name!r}", advice=f"wires: {', '.join(WIRES)}")


def _asked(quirks: ChatQuirks, quirk: str) -> ChatQuirks:
    """The quirks of a profile with the one that the user asked for."""
    return replace(
        quirks,
        stop_with_calls=quirk == "stop-with-calls",
        comments_as_data=quirk == "comments-as-data",
    )
