"""What one turn gathered so far, and the rules about one turn as plain functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bridge.conversation.frames import CallRefused, ContractError
from bridge.conversation.messages import CallResult, ToolCall
from bridge.conversation.stream import Finish, FinishReason, Usage
from device_tools.errors import Outcome
from device_tools.result import ToolResult
from device_tools.schema import Effect, ToolSpec, ValidCall


@dataclass(frozen=True)
class Answer:
    """How the model ended the run: by ``finish``, or by a plain reply without calls."""

    success: bool
    summary: str
    output: str = ""


@dataclass
class Turn:
    """``ended`` says why the rest of the batch does not run ("" while it does)."""

    number: int
    last: bool
    offered: Sequence[ToolSpec]
    started: float
    results: list[CallResult] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    unrecorded: list[str] = field(default_factory=list)
    refused: list[CallRefused] = field(default_factory=list)
    fault: ContractError | None = None
    finish: Finish | None = None
    usage: Usage = field(default_factory=Usage)
    answer: Answer | None = None
    stopped: bool = False
    ended: str = ""
    over_call_limit: bool = False

    @property
    def text(self) -> str:
        return "".join(self.prose).strip()

    @property
    def reason(self) -> str:
        """The word for the record: why the response ended."""
        if self.stopped:
            return "client_stop"
        return self.finish.reason.value if self.finish else "none"

    @property
    def complete(self) -> bool:
        """Whether the server said that the reply is whole."""
        return self.finish is not None and self.finish.reason is FinishReason.STOP


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
