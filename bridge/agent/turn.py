"""What one turn gathered so far; plain state, the loop decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bridge.conversation.frames import ContractError
from bridge.conversation.messages import CallResult
from bridge.conversation.stream import Finish, FinishReason, Usage
from device_tools.schema import ToolSpec


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
