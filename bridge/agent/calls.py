"""One call of a turn: refuse or execute it; exactly one result either way.

The intent is on disk before the call runs, its outcome before anything else happens.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from bridge.agent.control import RunControl
from bridge.agent.limits import RunLimits
from bridge.agent.ports import Clock, Journal, Toolbox
from bridge.agent.totals import Totals
from bridge.agent.turn import Turn, answer_of, not_run, why_batch_ends
from bridge.conversation import events
from bridge.conversation.finish import FINISH
from bridge.conversation.frames import CallRefused
from bridge.conversation.messages import CallResult, ToolCall
from bridge.errors import RecordError
from device_tools.errors import Cancelled
from device_tools.result import Image, ToolResult, failed
from device_tools.schema import Effect, RiskGroup, ToolSpec, ValidCall


class Calls:
    """Answers the calls of a run, one after another."""

    def __init__(
        self,
        toolbox: Toolbox,
        journal: Journal,
        clock: Clock,
        control: RunControl,
        limits: RunLimits,
        totals: Totals,
    ) -> None:
        self._toolbox = toolbox
        self._journal = journal
        self._clock = clock
        self._control = control
        self._limits = limits
        self._totals = totals

    def answer(self, turn: Turn, call: ToolCall) -> None:
        """A confirmed call: it runs now, or its refusal is recorded.

        Raises:
            Cancelled: before or during it; its outcome is recorded.
            RecordError: the intent or the outcome cannot be stored.
        """
        self._totals.calls += 1
        started = self._clock.monotonic()
        checked = self._refused_by_loop(turn) or self._check(turn, call, started)
        if isinstance(checked, ValidCall) and turn.last and checked.spec.effect is not Effect.NONE:
            checked = not_run("last_turn", "only tools without effect run in the last turn")
        if isinstance(checked, ValidCall):
            result = self._execute(turn, call, checked, started)
        else:
            result = checked
        spec = turn.spec(call.name)
        self._record(turn, call, spec, result, started)
        turn.ended = turn.ended or why_batch_ends(spec, call, result)
        if isinstance(checked, ValidCall) and checked.spec.name == FINISH.name:
            turn.answer = answer_of(checked)
            turn.ended = "the run is finished"
            turn.stopped = True

    def secrets_in(self, call: ToolCall) -> tuple[str, ...]:
        """Values of a call that the words before it must not tell the record either."""
        return self._toolbox.secrecy(call).secrets

    def refuse(self, turn: Turn, refused: CallRefused) -> None:
        """A call that the carrier did not let through; it ends the batch as a failed one does."""
        self._totals.calls += 1
        turn.refused.append(refused)
        call = refused.call
        spec = turn.spec(call.name)
        result = not_run(refused.error, refused.why)
        self._record(turn, call, spec, result, self._clock.monotonic())
        turn.ended = turn.ended or why_batch_ends(spec, call, result)

    def _refused_by_loop(self, turn: Turn) -> ToolResult | None:
        if turn.ended:
            return not_run("not_run", turn.ended)
        if self._totals.calls > self._limits.calls:
            turn.over_call_limit = True
            return not_run("call_limit", f"the run used its {self._limits.calls} calls")
        return None

    def _check(self, turn: Turn, call: ToolCall, started: float) -> ValidCall | ToolResult:
        """The checkpoint before a call, then the checks: what the user changed in a pause counts.
        A pause that began while the user was asked holds the call once more."""
        try:
            while True:
                self._control.checkpoint(turn.number)
                checked = self._toolbox.check(call, turn.offered)
                if isinstance(checked, ToolResult) or not self._control.paused:
                    return checked
        except Cancelled as cancelled:
            self._record(turn, call, turn.spec(call.name), failed(cancelled), started)
            raise

    def _execute(self, turn: Turn, call: ToolCall, valid: ValidCall, started: float) -> ToolResult:
        intent = events.CallIntended(
            turn.number,
            call.id,
            call.name,
            valid.spec.group,
            call.arguments,
            call.source,
            self._toolbox.secrecy(call).hidden,
        )
        try:
            self._journal.record(intent)
        except RecordError as refused:
            # the run is being ended, then the answer can be stored; or the record is broken
            with suppress(RecordError):
                self._record(turn, call, valid.spec, failed(refused), started)
            raise
        try:
            return self._toolbox.execute(valid)
        except Cancelled as cancelled:
            self._record(turn, call, valid.spec, failed(cancelled), started)
            raise

    def _record(
        self,
        turn: Turn,
        call: ToolCall,
        spec: ToolSpec | None,
        result: ToolResult,
        started: float,
    ) -> None:
        turn.results.append(CallResult(call, result))
        self._journal.record(
            events.CallFinished(
                turn.number,
                call.id,
                call.name,
                spec.group if spec else RiskGroup.DIRECT,
                result.outcome.value,
                result.exit_code,
                result.error,
                result.text,
                turn.milliseconds(started, self._clock),
                tuple(map(_note, result.images)),
                result.secrets,
                result.storable,
                _free_texts(call, spec),
                call.source,
            )
        )


def _free_texts(call: ToolCall, spec: ToolSpec | None) -> dict[str, Any]:
    """The arguments in which the model may say anything: no numbers, no words of a fixed list."""
    schemas = spec.properties if spec else {}
    listed = {name for name, schema in schemas.items() if "enum" in schema}
    return {
        key: value
        for key, value in call.arguments.items()
        if key not in listed and not isinstance(value, int | float)
    }


def _note(image: Image) -> str:
    return f"{image.note}{events.SENSITIVE_PICTURE}" if image.sensitive else image.note
