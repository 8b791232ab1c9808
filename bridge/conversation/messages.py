"""What a conversation is made of, independent of any provider's wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from device_tools.result import Image, ToolResult
from device_tools.schema import ToolSpec


@dataclass(frozen=True)
class ToolCall:
    """A confirmed call. ``source`` is the exact text that confirmed it (a CTL frame).

    ``arguments`` are typed by the schema where that is possible without guessing; a value that
    is not valid for its type stays the string the model wrote, and validation refuses it.
    """

    id: str
    name: str
    arguments: Mapping[str, Any]
    source: str = ""


@dataclass(frozen=True)
class CallResult:
    """A call of the finished turn and its answer, in the model's order."""

    call: ToolCall
    result: ToolResult


@dataclass(frozen=True)
class UserMessage:
    text: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True)
class AssistantMessage:
    """Text carriers replay ``text`` up to the last confirmed call and nothing else."""

    text: str


Message = UserMessage | AssistantMessage


@dataclass(frozen=True)
class ModelRequest:
    """One request. ``tools`` is empty for text carriers: they teach in ``system``.

    ``max_output_tokens`` None leaves the choice to the server.
    """

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_output_tokens: int | None = None
