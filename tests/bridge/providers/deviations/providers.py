"""The real provider for a row, pointed at a test server."""

from __future__ import annotations

from bridge.agent.ports import Provider
from bridge.providers.chat_completions import ChatCompletionsProvider
from bridge.providers.http import HttpLimits
from device_tools.cancel import CancelScope
from tests.bridge.providers.deviations.row import Row


def provider_for(row: Row, base_url: str, cancel: CancelScope, limits: HttpLimits) -> Provider:
    return ChatCompletionsProvider(
        "test",
        base_url,
        "m",
        "sk-test",
        cancel,
        limits=limits,
        stop_with_calls=row.quirks.stop_with_calls,
    )
