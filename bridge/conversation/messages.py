"""What a conversation is made of, independent of any provider's wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from device_tools.result import Image, ToolResult
from device_tools.schema import ToolSpec


@dataclass(frozen=True)
class ToolCall:
    """A call. ``source`` is the exact text that said it (a CTL frame, native arguments).

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
    """Text carriers replay ``text`` up to the last confirmed call and nothing else; native ones
    replay ``calls`` as well, each of which the next message answers.

    ``items``: the provider's own complete output items of this reply; a wire that made them sends
    them instead of text and calls, provided that they name every id of ``calls``. Empty when the
    reply was cut, not read to its end, or broken.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    items: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class ToolAnswer:
    """The answer of one native call, as the model gets it."""

    call_id: str
    text: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True)
class ToolAnswers:
    """Answers all calls of the assistant message right before, in its order; then ``note``, the
    runtime's own word. A wire without pictures in answers sends those behind, as the user's."""

    answers: tuple[ToolAnswer, ...]
    note: str = ""


Message = UserMessage | AssistantMessage | ToolAnswers


@dataclass(frozen=True)
class ModelRequest:
    """One request. ``tools`` is empty for text carriers: they teach in ``system``.

    ``max_output_tokens`` None leaves the choice to the server.
    """

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_output_tokens: int | None = None
