"""The carriers of native tool calls: ``native-eos`` waits for the end of the stream,
``native-inc`` confirms a call once the wire has closed it or the next one has begun.

A call is never repaired, and only an explicit tool reason lets waiting calls run (the table of
``bridge.cst.gate``). The order of the calls is kept: in ``native-inc`` a call that is not exactly
one JSON object when it is closed or the next begins makes everything from it on wait for the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from bridge.conversation.frames import (
    ArgumentConfirmed,
    CallOpened,
    CallReady,
    CallRefused,
    ContractError,
    Frame,
    TextConfirmed,
)
from bridge.conversation.frames import ContractErrorKind as Kind
from bridge.conversation.messages import (
    AssistantMessage,
    CallResult,
    Message,
    ToolAnswer,
    ToolAnswers,
    ToolCall,
)
from bridge.conversation.stream import (
    CallClosed,
    CallDelta,
    Finish,
    StreamEvent,
    TextDelta,
    Usage,
)
from bridge.cst.carrier import NO_TEXT
from bridge.cst.ctl_events import Limits
from bridge.cst.gate import ERRORS, TABLE, CallState, Ending, ending, most
from bridge.cst.native_calls import Judgement, NativeCalls, Slot, Unattributable, judge
from bridge.cst.results import cut, replaced_note
from device_tools.schema import ToolSpec

_PROMPT = """\
# Calling tools
Call tools through the function calls of this interface. They run in the order you give them, and \
each result begins with exit=CODE; exit=0 is success. A call you write as text does not run."""


class NativeEosCarrier:
    """Confirms nothing before the end of the stream."""

    name = "native-eos"
    incremental = False

    def system_prompt(self, tools: Sequence[ToolSpec]) -> str:
        """A few rules; the tools themselves are in the request."""
        return _PROMPT

    def request_tools(self, tools: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
        """All of them."""
        return tuple(tools)

    def reader(self, tools: Sequence[ToolSpec], output_cap: int | None) -> NativeReader:
        """A fresh reader for one response; ``output_cap`` in tokens."""
        return NativeReader(self.name, self.incremental, output_cap)

    def reply(self, text: str, calls: Sequence[ToolCall]) -> AssistantMessage:
        """Text and calls; a reply without either still has to say something."""
        return AssistantMessage(text or ("" if calls else NO_TEXT), tuple(calls))

    def results(self, results: Sequence[CallResult], note: str = "") -> Message:
        """One answer per call in the model's order, cut like a result frame, then the flag of lost
        characters and the note."""
        answers = tuple(
            ToolAnswer(
                each.call.id,
                f"exit={each.result.exit_code}\n{cut(each.result.text).decode()}",
                each.result.images,
            )
            for each in results
        )
        notes = (replaced_note(results), note)
        return ToolAnswers(answers, "\n".join(each for each in notes if each))


class NativeIncCarrier(NativeEosCarrier):
    """Confirms a call when it is closed or the next one begins."""

    name = "native-inc"
    incremental = True


class NativeReader:
    """Reads one response; ``feed`` per event, ``close`` once."""

    def __init__(
        self, mode: str, incremental: bool, output_cap: int | None, limits: Limits | None = None
    ) -> None:
        self._mode = mode
        self._incremental = incremental
        self._output_cap = output_cap
        self._limits = limits or Limits()
        self._output_tokens: int | None = None
        self._calls = NativeCalls()
        self._confirmed = 0  # slots before this number are confirmed
        self._shown: set[int] = set()
        self._texts: list[str] = []
        self._position = 0
        self._over = False

    @property
    def replay_text(self) -> str:
        """The text beside the calls."""
        return "".join(self._texts)

    def feed(self, event: StreamEvent) -> list[Frame]:
        """Frames that this event confirmed; only text, calls and their closes confirm anything."""
        if self._over:
            return []
        match event:
            case Usage():
                self._output_tokens = most(self._output_tokens, event.output_tokens)
            case TextDelta(text) if text:
                self._texts.append(text)
                self._position += len(text.encode("utf-8", "replace"))
                return [TextConfirmed(text)]
            case CallDelta():
                return self._take(event)
            case CallClosed():
                return self._take_close(event)
        return []

    def close(self, finish: Finish | None) -> list[Frame]:
        """Confirms or refuses every call that waited for the end."""
        if self._over:
            return []
        self._over = True
        end = ending(finish, self._output_tokens, self._output_cap)
        waiting = [(slot, judge(slot)) for slot in self._calls.slots[self._confirmed :]]
        broken = any(judged.state is CallState.BROKEN for _, judged in waiting)
        frames: list[Frame] = []
        for slot, judged in waiting:
            # the whole batch stands or falls in native-eos: one broken call breaks the evidence
            state = CallState.BROKEN if broken and not self._incremental else judged.state
            frames += self._settle(slot, judged, state, end)
        return frames

    def _settle(self, slot: Slot, judged: Judgement, state: CallState, end: Ending) -> list[Frame]:
        verdict = TABLE[self._mode][state][end]
        if verdict.runs:
            return self._ready(slot, judged)
        why = ERRORS[verdict.error]
        if verdict.error == "malformed_call":
            why = judged.why or "another call of the same reply is malformed"
        return [_refused(slot, judged, verdict.error, why)]

    # --- inside the stream ------------------------------------------------------------------

    def _take(self, delta: CallDelta) -> list[Frame]:
        frames: list[Frame] = []
        try:
            slot = self._calls.find(delta)
        except Unattributable as error:
            return self._break(Kind.BAD_CALL, str(error))
        if slot is None:
            most = self._limits.calls_per_message
            if len(self._calls.slots) >= most:
                return self._break(Kind.LIMIT, f"one reply holds at most {most} calls")
            frames = self._confirm_last()
            slot = self._calls.open(delta)
        elif slot.closed or slot.number < self._confirmed:
            return self._late(slot, delta)
        return frames + self._add(slot, slot.take(delta))

    def _take_close(self, event: CallClosed) -> list[Frame]:
        try:
            slot = self._calls.closing(event)
        except Unattributable as error:
            return self._break(Kind.BAD_CALL, str(error))
        if slot.number < self._confirmed:
            # the next call's beginning has confirmed it; a close that adds nothing agrees
            slot.close(event.arguments)
            what = f"call {slot.id} ran, and {slot.fault}"
            return self._break(Kind.BAD_ARG, what, slot.id) if slot.fault else []
        frames = self._add(slot, slot.close(event.arguments))
        if self._over or slot is not self._calls.slots[-1]:
            return frames
        return frames + self._confirm_last()

    def _confirm_last(self) -> list[Frame]:
        """The last call, when it is the only one that waits, for nothing more comes for it."""
        slots = self._calls.slots
        if not self._incremental or self._confirmed != len(slots) - 1:
            return []
        judged = judge(slots[-1])
        # no argument bytes at all: only the end of the stream can say that this was meant
        if judged.state is not CallState.WHOLE:
            return []
        self._confirmed += 1
        return self._ready(slots[-1], judged)

    def _late(self, slot: Slot, delta: CallDelta) -> list[Frame]:
        # an id it does not have is another call's, begun where this one was
        known = delta.name in ("", slot.name) and delta.id in ("", slot.given_id)
        if known and not delta.arguments:
            return []
        ended = "it was closed" if slot.closed else "the next call had begun"
        ran = "; it ran as it was" if slot.number < self._confirmed else ""
        what = f"more came for call {slot.id} after {ended}{ran}"
        return self._break(Kind.BAD_ARG, what, slot.id)

    def _add(self, slot: Slot, piece: str) -> list[Frame]:
        """``piece``: what the slot just took of the arguments; "" shows nothing."""
        self._position += len(piece.encode("utf-8", "replace"))
        if slot.size > self._limits.argument:
            most = self._limits.argument
            return self._break(Kind.LIMIT, f"the arguments exceed {most} bytes", slot.id)
        if not piece:
            return []
        return [*self._opening(slot), ArgumentConfirmed(slot.id, "", piece)]

    def _opening(self, slot: Slot) -> list[Frame]:
        if slot.number in self._shown:
            return []
        self._shown.add(slot.number)
        return [CallOpened(slot.id, slot.shown_name)]

    def _ready(self, slot: Slot, judged: Judgement) -> list[Frame]:
        call = ToolCall(slot.id, slot.name, judged.arguments, slot.arguments)
        return [*self._opening(slot), CallReady(call)]

    def _break(self, kind: Kind, what: str, call_id: str = "") -> list[Frame]:
        """Nothing behind this point can be trusted: what waits is refused, what ran stands."""
        self._over = True
        error, why = "malformed_call", f"the reply's calls cannot be told apart: {what}"
        if kind is Kind.LIMIT:
            error, why = "over_limit", f"nothing that waited for the end of the reply ran: {what}"
        frames: list[Frame] = [
            _refused(slot, judge(slot), error, why) for slot in self._calls.slots[self._confirmed :]
        ]
        message = f"{what}; calls with exit=0 ran, send the others again"
        arrived = sum(slot.size for slot in self._calls.slots)
        return [*frames, ContractError(kind, message, self._position, None, arrived, call_id)]


def _refused(slot: Slot, judged: Judgement, error: str, why: str) -> CallRefused:
    call = ToolCall(slot.id, slot.shown_name, judged.arguments, slot.arguments)
    why = f"{why} ({slot.size} bytes of arguments arrived)"
    return CallRefused(call, error, why)
