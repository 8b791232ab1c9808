"""The real provider for a row, pointed at a test server."""

from __future__ import annotations

from collections.abc import Callable

from bridge.agent.ports import Provider
from bridge.providers.anthropic import AnthropicWire
from bridge.providers.chat_completions import ChatWire
from bridge.providers.endpoint import HttpLimits, Server
from bridge.providers.provider import HttpProvider
from bridge.providers.responses import ResponsesWire
from bridge.providers.wire import RequestOptions, Wire
from device_tools.cancel import CancelScope
from tests.bridge.providers.deviations.row import Row

WIRES: dict[str, Callable[[], Wire]] = {"responses": ResponsesWire, "anthropic": AnthropicWire}


def provider_for(row: Row, base_url: str, cancel: CancelScope, limits: HttpLimits) -> Provider:
    wire = WIRES[row.wire]() if row.wire != "chat" else ChatWire(row.quirks)
    return HttpProvider(
        "test", wire, RequestOptions("m"), Server(base_url, "sk-test"), cancel, limits=limits
    )
