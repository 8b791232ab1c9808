"""The one interface that carries calls, whatever the mode; the loop knows nothing else of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.conversation.frames import Frame
from bridge.conversation.messages import AssistantMessage, CallResult, Message, ToolCall
from bridge.conversation.stream import Finish, StreamEvent
from device_tools.schema import ToolSpec

NO_TEXT = "(no readable reply)"
"""Stands in the history for a reply of which nothing could be kept: servers refuse empty ones."""


class Reader(Protocol):
    """Reads one response. After ``StopReading`` or ``ContractError`` it emits nothing more."""

    def feed(self, event: StreamEvent) -> list[Frame]:
        """Frames that this event confirmed, in order."""

    def close(self, finish: Finish | None) -> list[Frame]:
        """Frames that the end of the stream confirms; None when it ended without evidence."""

    @property
    def replay_text(self) -> str:
        """The raw reply up to the last confirmed call: what goes into the history."""


class Carrier(Protocol):
    """One mode (``--protocol``): how calls are asked for, read and answered."""

    name: str

    def system_prompt(self, tools: Sequence[ToolSpec]) -> str:
        """The part of the system prompt that teaches the mode and lists the tools."""

    def request_tools(self, tools: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
        """The tools that go into the request itself: all for native modes, else none."""

    def reader(self, tools: Sequence[ToolSpec], output_cap: int | None) -> Reader:
        """A fresh reader for one response. ``output_cap``: output tokens the request allowed."""

    def reply(self, text: str, calls: Sequence[ToolCall]) -> AssistantMessage:
        """The model's reply in the history: its replay text and the calls that got a result."""

    def results(self, results: Sequence[CallResult], note: str = "") -> Message:
        """The one message that answers the calls of a turn; ``note`` is the runtime's own word
        (a contract error to learn from, the notice of the last turn)."""
