"""What one turn gathered so far, and the rules about one turn as plain functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bridge.agent.limits import REASONING_CHARS
from bridge.agent.ports import Clock
from bridge.conversation.citations import with_links
from bridge.conversation.frames import CallRefused, ContractError
from bridge.conversation.messages import CallResult, ToolCall
from bridge.conversation.stream import Citation, Finish, ReasoningDelta, Usage
from bridge.cst.gate import Ending, ending
from device_tools.errors import Outcome
from device_tools.result import ToolResult
from device_tools.schema import Effect, ToolSpec, ValidCall

_WHOLE = frozenset({Ending.STOP, Ending.TOOL_CALLS, Ending.PAUSE})
"""Endings that leave a reply uncut."""


@dataclass(frozen=True)
class Answer:
    """How the model ended the run: by ``finish``, or by a plain reply without calls."""

    success: bool
    summary: str
    output: str = ""


@dataclass
class Turn:
    """``ended`` says why the rest of the batch does not run ("" while it does). ``stopped``: the
    response is not read any further."""

    number: int
    last: bool
    offered: Sequence[ToolSpec]
    started: float
    output_cap: int
    results: list[CallResult] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    unrecorded: list[str] = field(default_factory=list)
    characters: int = 0
    refused: list[CallRefused] = field(default_factory=list)
    reasoning: list[ReasoningDelta] = field(default_factory=list)
    items: list[Mapping[str, Any]] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)
    hosted: set[str] = field(default_factory=set)
    fault: ContractError | None = None
    finish: Finish | None = None
    usage: Usage = field(default_factory=Usage)
    most_output: int | None = None
    answer: Answer | None = None
    stopped: bool = False
    ended: str = ""
    over_call_limit: bool = False

    def spec(self, name: str) -> ToolSpec | None:
        """The tool of this name as it was offered."""
        return next((spec for spec in self.offered if spec.name == name), None)

    def milliseconds(self, since: float, clock: Clock) -> float:
        return round((clock.monotonic() - since) * 1000, 1)

    @property
    def text(self) -> str:
        """The text beside the calls, its sources as links."""
        text = "".join(self.prose)
        # where calls are part of the text, the places count other characters
        return with_links(text, self.citations, placed=len(text) == self.characters).strip()

    @property
    def reasoning_text(self) -> str:
        text = "".join(piece.text for piece in self.reasoning).strip()
        left_out = len(text) - REASONING_CHARS
        if left_out <= 0:
            return text
        return f"{text[:REASONING_CHARS]}\n[{left_out} characters of reasoning left out]"

    @property
    def known_usage(self) -> Usage:
        """What the server said; of a reply that was not read to its end the output is unknown."""
        if self.finish is not None:
            return self.usage
        return replace(self.usage, output_tokens=None, reasoning_tokens=None)

    @property
    def ending(self) -> Ending:
        """How the response ended, for all that is not a call."""
        return ending(self.finish, self.most_output, self.output_cap)

    @property
    def reason(self) -> str:
        """The word for the record: why the response ended."""
        if self.stopped and self.finish is None:
            return "client_stop"
        return "none" if self.ending is Ending.MISSING else self.ending.value

    @property
    def complete(self) -> bool:
        """Whether the server said that the reply is whole."""
        return self.ending is Ending.STOP

    @property
    def paused(self) -> bool:
        """Whether the same content has to be sent again for the reply to go on."""
        return self.ending is Ending.PAUSE and bool(self.items) and not self.results

    @property
    def replayed_items(self) -> tuple[Mapping[str, Any], ...]:
        """The provider's own items of a reply that was read whole and could be read."""
        whole = self.ending in _WHOLE and not self.stopped and not self.refused
        return tuple(self.items) if whole else ()


def not_run(error: str, why: str) -> ToolResult:
    """The answer of a call that the loop itself did not let through."""
    return ToolResult(Outcome.NOT_SENT, 2, f"not run: {why}", error=error)


def why_batch_ends(spec: ToolSpec | None, call: ToolCall, result: ToolResult) -> str:
    """A phone action that did not surely happen ends the batch: what follows was planned on it.

    An unknown tool may have been meant as an action. A failed read, or a command that ran and
    answered a non-zero exit code, ends nothing.
    """
    harmless = spec is not None and spec.effect is Effect.NONE
    if harmless or result.outcome is Outcome.DONE:
        return ""
    return f"{call.id} {call.name} before it did not succeed"


def fault_of(turn: Turn) -> tuple[str, str]:
    """Kind and message of what is wrong with the reply; empty when nothing is."""
    if turn.fault is not None:
        return turn.fault.kind.value, turn.fault.message
    if turn.refused and len(turn.refused) == len(turn.results):
        return turn.refused[0].error, "none of your calls was run; send them again, each whole"
    if turn.results or turn.stopped:
        return "", ""
    if not turn.complete:
        return "incomplete_reply", f"your reply did not end normally ({turn.reason}); say it again"
    if not turn.text:
        return "empty_reply", "your reply was empty; call a tool, or finish"
    return "", ""


def answer_of(finish: ValidCall) -> Answer:
    """What the model said with its call of ``finish``."""
    arguments = finish.arguments
    return Answer(
        bool(arguments["success"]), str(arguments["summary"]), str(arguments.get("output", ""))
    )
