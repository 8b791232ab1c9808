"""After a response: is the run over, and what does the model have to be told?

Holds what counts over turns in a row: unreadable replies, pauses, turns without the phone.
"""

from __future__ import annotations

from bridge.agent.limits import DEVICE_LOST, MAX_LOST_TURNS, MAX_PAUSES_IN_A_ROW, RunLimits
from bridge.agent.ports import Journal
from bridge.agent.prompt import LAST_TURN
from bridge.agent.turn import Answer, Turn, fault_of
from bridge.conversation import events
from bridge.conversation.finish import FINISH
from bridge.errors import ContractBroken, LimitReached
from device_tools.errors import DeviceDisconnected
from device_tools.schema import RiskGroup, ToolSpec

_ELSEWHERE = frozenset({RiskGroup.MEMORY, RiskGroup.SKILL, RiskGroup.MANAGER})
"""Groups whose success says nothing about the phone."""


class Judge:
    """Judges the turns of a run in order."""

    def __init__(self, journal: Journal, limits: RunLimits) -> None:
        self._journal = journal
        self._limits = limits
        self._faults = 0
        self._pauses = 0
        self._lost_turns = 0
        self._lost = ""  # what the last loss said, as long as no call has reached the phone since

    def note(self, turn: Turn) -> str:
        """Sets the answer of a plain reply; returns the runtime's word for the next message.

        Raises:
            LimitReached: the calls of the run are used up.
            ContractBroken: too many unreadable replies in a row.
            DeviceDisconnected: the phone stays out of reach, or was when the model gave up.
        """
        if turn.over_call_limit and turn.answer is None:
            raise LimitReached(
                f"the run used its {self._limits.calls} calls", advice="split the task"
            )
        kind, message = self._fault(turn)
        plain = not kind and not turn.results and turn.answer is None and not turn.paused
        if plain:
            turn.answer = Answer(True, turn.text)
        self._check_phone(turn, plain)
        if kind and turn.answer is None:
            self._count_fault(turn, kind, message)
        else:
            self._faults = 0
        notes = [_named(kind, message)] if kind else []
        if turn.number + 1 == self._limits.turns and not turn.paused:
            notes.append(LAST_TURN)
        return "\n".join(notes)

    def _fault(self, turn: Turn) -> tuple[str, str]:
        self._pauses = self._pauses + 1 if turn.paused else 0
        if turn.paused and self._pauses <= MAX_PAUSES_IN_A_ROW:
            return "", ""
        return fault_of(turn)

    def _check_phone(self, turn: Turn, plain: bool) -> None:
        lost = False
        for each in turn.results:
            if each.result.error in DEVICE_LOST:
                lost, self._lost = True, each.result.text
            elif each.result.ok and _is_on_phone(turn.spec(each.call.name)):
                lost, self._lost = False, ""
        if lost:
            self._lost_turns += 1
        elif turn.answer is None:
            self._lost_turns = 0
        # a plain reply claims nothing about the task: over a lost phone it is no success
        gave_up = turn.answer is not None and (plain or not turn.answer.success)
        given_up = turn.answer is None and self._lost_turns >= MAX_LOST_TURNS
        if (gave_up and self._lost) or given_up:
            raise DeviceDisconnected(
                f"the phone is out of reach: {self._lost}", advice="run `bridge doctor`"
            )

    def _count_fault(self, turn: Turn, kind: str, message: str) -> None:
        self._faults += 1
        self._journal.record(events.ContractFault(turn.number, kind, message))
        if self._faults >= self._limits.faults:
            raise ContractBroken(
                f"{self._faults} unreadable replies in a row; the last: {_named(kind, message)}",
                advice="try a stronger model, or a simpler task",
            )


def _named(kind: str, message: str) -> str:
    """A carrier's own message says itself what it is."""
    said = message.startswith("tool_parse_error ")
    return message if said else f"tool_parse_error {kind}: {message}"


def _is_on_phone(spec: ToolSpec | None) -> bool:
    return spec is not None and spec.name != FINISH.name and spec.group not in _ELSEWHERE
