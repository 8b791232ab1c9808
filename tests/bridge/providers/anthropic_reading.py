"""Reads scripted answers over the Anthropic wire and a real socket, for several test files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from bridge.conversation.frames import CallReady, CallRefused
from bridge.conversation.messages import ModelRequest, UserMessage
from bridge.conversation.stream import (
    Finish,
    OpaqueItem,
    StreamEvent,
)
from bridge.cst.carriers import CARRIERS
from bridge.errors import ProviderError
from bridge.providers.anthropic import AnthropicWire
from bridge.providers.endpoint import HttpLimits, Server
from bridge.providers.provider import HttpProvider
from bridge.providers.wire import RequestOptions
from device_tools.cancel import CancelScope
from device_tools.catalog import PHONE_TOOLS
from tests.doubles.provider_server import Answer, ScriptedServer, Step

KEY = "sk-ant-verysecretkey"
TEXT = ModelRequest("be brief", (UserMessage("hello"),))
NATIVE = replace(TEXT, tools=PHONE_TOOLS)
OPTIONS = RequestOptions("claude-test")
LIMITS = HttpLimits(attempts=1, connect=2.0, first_byte=5.0, idle=5.0)
PIECE = {"type": "input_json_delta", "partial_json": "{"}
SIGNATURE = "EqQBCgIYAhIM+/=é" * 9


def read(
    *steps: Step, request: ModelRequest = NATIVE, options: RequestOptions = OPTIONS
) -> list[StreamEvent]:
    with ScriptedServer([Answer(steps)]) as server:
        address = Server(server.base_url, KEY)
        provider = HttpProvider(
            "test", AnthropicWire(), options, address, CancelScope(), limits=LIMITS
        )
        with provider.stream(request) as events:
            return list(events)


def failure(*steps: Step) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        read(*steps)
    assert KEY not in str(caught.value) + caught.value.advice
    return caught.value


def finish_of(events: Sequence[StreamEvent]) -> Finish:
    assert isinstance(events[-1], Finish)
    return events[-1]


def items_of(events: Sequence[StreamEvent]) -> list[Any]:
    return [event.item for event in events if isinstance(event, OpaqueItem)]


def judged(events: Sequence[StreamEvent], mode: str = "native-eos") -> list[str]:
    """What the carrier lets run or refuses, in order."""
    reader = CARRIERS[mode].reader(PHONE_TOOLS, None)
    frames = [frame for event in events[:-1] for frame in reader.feed(event)]
    frames += reader.close(finish_of(events))
    said = []
    for frame in frames:
        if isinstance(frame, CallReady):
            said.append(f"{frame.call.name} {dict(frame.call.arguments)}")
        elif isinstance(frame, CallRefused):
            said.append(f"{frame.call.name} {frame.error}")
    return said
