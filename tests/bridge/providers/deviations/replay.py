"""Plays bytes over a real socket, cut into pieces, through a provider and a native carrier."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from bridge.conversation.frames import (
    CallReady,
    CallRefused,
    ContractError,
    Frame,
    TextConfirmed,
)
from bridge.conversation.messages import ModelRequest, UserMessage
from bridge.conversation.stream import Finish, StreamEvent
from bridge.cst.carrier import Reader
from bridge.cst.carriers import CARRIERS
from bridge.errors import ProviderError
from bridge.providers.endpoint import HttpLimits
from device_tools.cancel import CancelScope
from device_tools.schema import ToolSpec, arguments_schema
from tests.bridge.providers.deviations.providers import provider_for
from tests.bridge.providers.deviations.row import Row
from tests.doubles.provider_server import Answer, ScriptedServer, cut

TOOLS = tuple(
    ToolSpec(name, f"the tool {name}", arguments_schema({"p": {"type": "integer"}}, []))
    for name in ("f", "g", "get_x")
)
ONCE = HttpLimits(attempts=1, first_byte=5.0, idle=5.0)


@dataclass
class Outcome:
    """``runs`` as "name arguments", ``refused`` as error words, ``error`` of the provider."""

    runs: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    fault: str = ""
    error: str = ""
    text: str = ""

    def add(self, frames: list[Frame]) -> None:
        for frame in frames:
            match frame:
                case CallReady(call):
                    self.runs.append(f"{call.name} {json.dumps(dict(call.arguments))}")
                case CallRefused():
                    self.refused.append(frame.error)
                case ContractError():
                    self.fault = frame.kind.value
                case TextConfirmed(text):
                    self.text += text
                case _:
                    pass


def replay(row: Row, mode: str, size: int) -> Outcome:
    """What comes of the row's bytes in pieces of ``size``, as the loop would read them."""
    reader = CARRIERS[mode].reader(TOOLS, row.cap)
    request = ModelRequest("s", (UserMessage("go"),), TOOLS, row.cap)
    outcome = Outcome()
    with ScriptedServer([Answer(cut(row.stream, size))]) as server:
        provider = provider_for(row, server.base_url, CancelScope(), ONCE)
        try:
            with provider.stream(request) as events:
                finish = _read(events, reader, outcome)
            outcome.add(reader.close(finish))
        except ProviderError as error:
            outcome.error = error.message
            outcome.add(reader.close(None))
    return outcome


def _read(events: Iterator[StreamEvent], reader: Reader, outcome: Outcome) -> Finish | None:
    finish = None
    for event in events:
        if isinstance(event, Finish):
            finish = event
        else:
            outcome.add(reader.feed(event))
    return finish
