"""What the loop needs from outside, as Protocols; the composition root plugs in real ones."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from bridge.conversation.events import RunEvent
from bridge.conversation.messages import ModelRequest, ToolCall
from bridge.conversation.stream import ModelStream
from device_tools.result import Secrecy, ToolResult
from device_tools.schema import ToolSpec, ValidCall


class Provider(Protocol):
    """A model behind some wire. Retries live inside, never after the first event."""

    name: str
    model: str

    def stream(self, request: ModelRequest) -> AbstractContextManager[ModelStream]:
        """Open one response; leaving the context closes the connection at once.

        Raises:
            ProviderError: at opening or while iterating; a broken stream never ends quietly.
            Cancelled: the run's scope was cancelled.
        """


class Toolbox(Protocol):
    """Tools on offer and their execution, behind name, schema and policy checks."""

    def offered(self) -> Sequence[ToolSpec]:
        """The specs to send with this turn (user switches and narrowing applied)."""

    def begin_turn(self) -> None:
        """The model is about to answer what it saw so far: indexes of this turn refer to that."""

    def check(self, call: ToolCall, offered: Sequence[ToolSpec]) -> ValidCall | ToolResult:
        """Name, schema, policy; a refusal is a result with exit code 2 and nothing is sent."""

    def secrecy(self, call: ToolCall) -> Secrecy:
        """What of a call that is about to run must not be stored; the call may be invalid."""

    def execute(self, call: ValidCall) -> ToolResult:
        """Run it once. Faults of the tool come back as results; ``Cancelled`` is raised."""


class Journal(Protocol):
    """Redacts, stores durably, then shows. An event is on disk when this returns.

    Raises RecordError when it cannot be stored: the run must stop.
    """

    def record(self, event: RunEvent) -> None: ...


class Clock(Protocol):
    def monotonic(self) -> float: ...
