"""The agent loop: ask, execute what is confirmed, answer, again.

A call runs the moment its frame is confirmed, inside the stream, serially; the intent is on disk
before it runs. Every call gets exactly one result. What the loop needs comes in through the
Protocols of ``bridge.agent.ports``.
"""

from __future__ import annotations

from collections.abc import Sequence

from bridge.agent.history import History
from bridge.agent.limits import DEVICE_LOST, MAX_LOST_TURNS, RunLimits
from bridge.agent.ports import Clock, Journal, Provider, Toolbox
from bridge.agent.prompt import LAST_TURN, system_prompt
from bridge.agent.turn import Answer, Turn, answer_of, fault_of, not_run, why_batch_ends
from bridge.conversation import events
from bridge.conversation.finish import FINISH
from bridge.conversation.frames import (
    CallReady,
    CallRefused,
    ContractError,
    Frame,
    StopReading,
    TextConfirmed,
)
from bridge.conversation.messages import CallResult, ModelRequest, ToolCall
from bridge.conversation.stream import Finish, StreamEvent, Usage
from bridge.cst.carrier import Carrier, Reader
from bridge.errors import LimitReached, ModelFailed, ProviderError
from device_tools.cancel import CancelScope
from device_tools.errors import Cancelled, DeviceDisconnected
from device_tools.result import ToolResult, failed
from device_tools.schema import Effect, RiskGroup, ToolSpec, ValidCall


class AgentLoop:
    """One run. ``run`` returns the model's answer or raises an error of the tree."""

    def __init__(
        self,
        provider: Provider,
        carrier: Carrier,
        toolbox: Toolbox,
        journal: Journal,
        clock: Clock,
        cancel: CancelScope,
        limits: RunLimits,
    ) -> None:
        self._provider = provider
        self._carrier = carrier
        self._toolbox = toolbox
        self._journal = journal
        self._clock = clock
        self._cancel = cancel
        self._limits = limits
        self._faults = 0
        self._lost = 0
        self._lost_text = ""
        self.turns = 0
        self.calls = 0
        self.input_tokens = 0
        self.output_tokens = 0

    def run(self, task: str) -> Answer:
        """Turns until the model answers.

        Raises:
            LimitReached: turns, calls or tokens of the run are used up.
            ModelFailed: too many unreadable replies in a row.
            DeviceDisconnected: the phone stays out of reach.
            ProviderError, Cancelled, RecordError: as they come; calls that ran are recorded.
        """
        history = History(self._carrier, task)
        while True:
            self._check_limits()
            turn = self._take_turn(history)
            if turn.answer is not None:
                return turn.answer

    def _check_limits(self) -> None:
        self._cancel.check()
        if self.turns >= self._limits.turns:
            raise LimitReached(
                f"the run used its {self._limits.turns} turns",
                advice="split the task, or raise --max-turns (64 at most)",
            )
        tokens = self._limits.tokens
        if tokens is not None and self.input_tokens + self.output_tokens >= tokens:
            raise LimitReached(
                f"the run used its {tokens} tokens", advice="raise --max-tokens or split the task"
            )

    # one turn: response with its calls, then the reply and its results into the history

    def _take_turn(self, history: History) -> Turn:
        self.turns += 1
        offered = self._toolbox.offered()
        last = self.turns == self._limits.turns
        turn = Turn(self.turns, last, offered, self._clock.monotonic())
        self._toolbox.begin_turn()
        self._journal.record(events.ResponseStarted(turn.number))
        reader = self._carrier.reader(offered, None)
        request = ModelRequest(
            system_prompt(self._carrier.system_prompt(offered)),
            history.messages(),
            self._carrier.request_tools(offered),
        )
        self._respond(turn, reader, request)
        note = self._judge(turn)
        history.add_turn(reader.replay_text, turn.results, note)
        return turn

    def _respond(self, turn: Turn, reader: Reader, request: ModelRequest) -> None:
        reason = ""
        try:
            self._read(turn, reader, request)
        except ProviderError:
            reason = "broken"
            # calls that waited for the end of the reply are answered, though the run is over
            self._handle(turn, reader.close(None))
            raise
        except Cancelled:
            reason = "cancelled"
            raise
        finally:
            self._flush_prose(turn)
            self._finish_response(turn, reason or turn.reason)

    def _read(self, turn: Turn, reader: Reader, request: ModelRequest) -> None:
        with self._provider.stream(request) as stream:
            for event in stream:
                self._note_evidence(turn, event)
                self._handle(turn, reader.feed(event))
                if turn.stopped:
                    return
        self._handle(turn, reader.close(turn.finish))

    def _note_evidence(self, turn: Turn, event: StreamEvent) -> None:
        if isinstance(event, Usage):
            turn.usage = event
        elif isinstance(event, Finish):
            turn.finish = event

    def _handle(self, turn: Turn, frames: Sequence[Frame]) -> None:
        for frame in frames:
            match frame:
                case TextConfirmed(text):
                    turn.prose.append(text)
                    turn.unrecorded.append(text)
                case CallReady(call):
                    self._flush_prose(turn)
                    self._answer_call(turn, call)
                case CallRefused():
                    self._flush_prose(turn)
                    self._answer_refused(turn, frame)
                case ContractError():
                    turn.fault = frame
                    turn.stopped = True
                case StopReading():
                    turn.stopped = True
                case _:
                    pass  # openings and argument pieces are for displays

    def _flush_prose(self, turn: Turn) -> None:
        text = "".join(turn.unrecorded).strip()
        turn.unrecorded.clear()
        if text:
            self._journal.record(events.AssistantText(turn.number, text))

    def _finish_response(self, turn: Turn, reason: str) -> None:
        self.input_tokens += turn.usage.input_tokens or 0
        self.output_tokens += turn.usage.output_tokens or 0
        self._journal.record(
            events.ResponseFinished(
                turn.number,
                reason,
                turn.text,
                turn.usage.input_tokens,
                turn.usage.output_tokens,
                self._milliseconds(turn.started),
            )
        )

    # one call: refuse or execute, exactly one result either way

    def _answer_call(self, turn: Turn, call: ToolCall) -> None:
        self.calls += 1
        started = self._clock.monotonic()
        checked = self._refused_by_loop(turn) or self._toolbox.check(call, turn.offered)
        if isinstance(checked, ValidCall) and turn.last and checked.spec.effect is not Effect.NONE:
            checked = not_run("last_turn", "only tools without effect run in the last turn")
        if isinstance(checked, ValidCall):
            result = self._execute(turn, call, checked, started)
        else:
            result = checked
        spec = next((spec for spec in turn.offered if spec.name == call.name), None)
        self._record_result(turn, call, spec, result, started)
        if not turn.ended:
            turn.ended = why_batch_ends(spec, call, result)
        if isinstance(checked, ValidCall) and checked.spec.name == FINISH.name:
            turn.answer = answer_of(checked)
            turn.ended = "the run is finished"
            turn.stopped = True

    def _answer_refused(self, turn: Turn, refused: CallRefused) -> None:
        """A call that the carrier did not let through; it ends the batch as a failed one does."""
        self.calls += 1
        turn.refused.append(refused)
        call = refused.call
        spec = next((spec for spec in turn.offered if spec.name == call.name), None)
        result = not_run(refused.error, refused.why)
        self._record_result(turn, call, spec, result, self._clock.monotonic())
        turn.ended = turn.ended or why_batch_ends(spec, call, result)

    def _refused_by_loop(self, turn: Turn) -> ToolResult | None:
        if turn.ended:
            return not_run("not_run", turn.ended)
        if self.calls > self._limits.calls:
            turn.over_call_limit = True
            return not_run("call_limit", f"the run used its {self._limits.calls} calls")
        return None

    def _execute(self, turn: Turn, call: ToolCall, valid: ValidCall, started: float) -> ToolResult:
        intent = events.CallIntended(
            turn.number, call.id, call.name, valid.spec.group, call.arguments, call.source
        )
        try:
            self._cancel.check()
            self._journal.record(intent)
            return self._toolbox.execute(valid)
        except Cancelled as cancelled:
            self._record_result(turn, call, valid.spec, failed(cancelled), started)
            raise

    def _record_result(
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
                self._milliseconds(started),
                tuple(image.note for image in result.images),
            )
        )

    # after the response: is the run over, and what does the model have to be told?

    def _judge(self, turn: Turn) -> str:
        """Sets the answer of a plain reply; returns the note for the next message."""
        if turn.over_call_limit and turn.answer is None:
            raise LimitReached(
                f"the run used its {self._limits.calls} calls", advice="split the task"
            )
        self._check_phone(turn)
        kind, message = fault_of(turn)
        if kind and turn.answer is None:
            self._count_fault(turn, kind, message)
        else:
            self._faults = 0
        if not kind and not turn.results and turn.answer is None:
            turn.answer = Answer(True, turn.text)
        notes = [f"tool_parse_error {kind}: {message}"] if kind else []
        if turn.number + 1 == self._limits.turns:
            notes.append(LAST_TURN)
        return "\n".join(notes)

    def _check_phone(self, turn: Turn) -> None:
        lost = [each.result for each in turn.results if each.result.error in DEVICE_LOST]
        if lost:
            self._lost, self._lost_text = self._lost + 1, lost[-1].text
        elif turn.answer is None:
            self._lost = 0
        gave_up = turn.answer is not None and not turn.answer.success
        if (gave_up and self._lost) or (turn.answer is None and self._lost >= MAX_LOST_TURNS):
            raise DeviceDisconnected(
                f"the phone is out of reach: {self._lost_text}", advice="run `bridge doctor`"
            )

    def _count_fault(self, turn: Turn, kind: str, message: str) -> None:
        self._faults += 1
        self._journal.record(events.ContractFault(turn.number, kind, message))
        if self._faults > self._limits.faults:
            raise ModelFailed(
                f"{self._faults} unreadable replies in a row; the last: {kind}: {message}",
                advice="try a stronger model, or a simpler task",
            )

    def _milliseconds(self, started: float) -> float:
        return round((self._clock.monotonic() - started) * 1000, 1)
