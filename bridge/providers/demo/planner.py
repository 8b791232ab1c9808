"""The demo's answer to a conversation, written as ``ctl-heredoc`` frames.

A rule-based stand-in for a model: it knows a handful of goals (``goals.KNOWN``), names itself a
demo in every answer, and sees nothing but the messages of the request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bridge.providers.demo.goals import read_goal
from bridge.providers.demo.reading import read_conversation
from bridge.providers.demo.rules import Act, Move, decide


def reply(messages: Sequence[Mapping[str, Any]]) -> str:
    """The text of the next assistant message.

    Raises:
        KeyError, TypeError: not Chat Completions messages.
    """
    conversation = read_conversation(messages)
    turn = sum(message["role"] == "assistant" for message in messages) + 1
    return write(decide(read_goal(conversation.task), conversation), turn)


def write(move: Move, turn: int) -> str:
    """The frames of a move. The first line is the step, which later turns read back."""
    if isinstance(move, Act):
        step = " ".join(move.step.split())
        act = _frame(f"d{turn}.1", move.name, move.arguments) if move.name else ""
        return f"[demo] {step}\n{act}{_frame(f'd{turn}.2', 'observe_screen', {})}"
    arguments = {"success": "true" if move.success else "false", "summary": move.summary}
    if move.output:
        arguments["output"] = move.output
    return f"[demo] finish\n{_frame(f'd{turn}.1', 'finish', arguments)}"


def _frame(call_id: str, name: str, arguments: Mapping[str, str | int]) -> str:
    lines = "".join(_argument(key, str(value)) for key, value in arguments.items())
    return f"call {call_id} {name}\n{lines}end\n"


def _argument(key: str, value: str) -> str:
    if "\n" not in value and "\r" not in value and not value.startswith("<<"):
        return f"arg {key} {value}\n"
    tag = "TEXT"
    while tag in value.split("\n"):
        tag += "_"
    body = value if value.endswith("\n") else value + "\n"
    return f"arg {key} <<{tag}\n{body}{tag}\n"
