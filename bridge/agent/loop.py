"""The agent loop: ask, execute what is confirmed, answer, again.

This module holds the order of a run and of a turn. One response is read in
``bridge.agent.response``, one call answered in ``bridge.agent.calls``, a turn judged in
``bridge.agent.judge``. What the loop needs comes in through the Protocols of
``bridge.agent.ports``.
"""

from __future__ import annotations

from collections.abc import Sequence

from bridge.agent.calls import Calls
from bridge.agent.control import RunControl
from bridge.agent.history import History
from bridge.agent.judge import Judge
from bridge.agent.limits import RunLimits
from bridge.agent.ports import Clock, Journal, Provider, Toolbox
from bridge.agent.prompt import system_prompt
from bridge.agent.response import Responses
from bridge.agent.tokens import of_text
from bridge.agent.totals import Totals
from bridge.agent.turn import Answer, Turn
from bridge.conversation import events
from bridge.conversation.messages import Message, ModelRequest
from bridge.conversation.usage import Prices
from bridge.cst.carrier import Carrier
from bridge.errors import LimitReached
from device_tools.cancel import CancelScope
from device_tools.result import Image
from device_tools.schema import ToolSpec


class AgentLoop:
    """One run. ``run`` returns the model's answer or raises an error of the tree; ``totals`` tell
    at any time what was used so far."""

    def __init__(
        self,
        provider: Provider,
        carrier: Carrier,
        toolbox: Toolbox,
        journal: Journal,
        clock: Clock,
        cancel: CancelScope,
        limits: RunLimits,
        prices: Prices | None = None,
        control: RunControl | None = None,
    ) -> None:
        self._carrier = carrier
        self._toolbox = toolbox
        self._journal = journal
        self._clock = clock
        self._control = control or RunControl(journal, cancel)
        self._limits = limits
        self.totals = Totals(prices)
        calls = Calls(toolbox, journal, clock, self._control, limits, self.totals)
        self._responses = Responses(provider, journal, clock, calls, self.totals)
        self._judge = Judge(journal, limits)
        self._warned = False

    def run(
        self, task: str, images: Sequence[Image] = (), before: Sequence[Message] = ()
    ) -> Answer:
        """Turns until the model answers and no message of the user waits; ``images`` are the
        user's, beside the task; ``before`` is what was said in the session until now.

        Raises:
            LimitReached: turns, calls, tokens or money of the run are used up.
            ContractBroken: too many unreadable replies in a row.
            DeviceDisconnected: the phone stays out of reach.
            ProviderError, Cancelled, RecordError: as they come; calls that ran are recorded.
        """
        history = History(self._carrier, task, images, before)
        while True:
            self._before_request()
            turn = self._take_turn(history)
            if turn.answer is not None and not self._goes_on():
                return turn.answer

    def _before_request(self) -> None:
        """The checkpoint between two turns; the one before each call is in ``Calls``."""
        self._control.checkpoint(self.totals.turns)
        self._totals_allow()

    def _goes_on(self) -> bool:
        """Whether a message waits for which there is another turn."""
        try:
            self.totals.check(self._limits)
        except LimitReached:
            return False
        return self._control.goes_on()

    def _totals_allow(self) -> None:
        unchecked = self.totals.unchecked(self._limits)
        if unchecked and not self._warned:
            self._warned = True
            self._journal.record(events.Notice(self.totals.turns, unchecked))
        self.totals.check(self._limits)

    def _take_turn(self, history: History) -> Turn:
        """One response with its calls, then the reply and its results into the history."""
        turn = self._begin_turn()
        if history.takes_steering and (message := self._control.take(turn.number)):
            history.steer(message.text)
        reader = self._carrier.reader(turn.offered, turn.output_cap)
        self._responses.read(turn, reader, self._request(turn, history))
        note = self._judge.note(turn)
        if turn.paused and not note:
            history.add_pause(reader.replay_text, turn.replayed_items)
        else:
            history.add_turn(reader.replay_text, turn.results, note, turn.replayed_items)
        return turn

    def _begin_turn(self) -> Turn:
        self.totals.turns += 1
        number = self.totals.turns
        last = number == self._limits.turns
        offered = self._toolbox.offered()
        turn = Turn(number, last, offered, self._clock.monotonic(), self._limits.output_tokens)
        self._toolbox.begin_turn()
        self._journal.record(events.ResponseStarted(number))
        return turn

    def _request(self, turn: Turn, history: History) -> ModelRequest:
        system = system_prompt(self._carrier.system_prompt(turn.offered))
        tools = self._carrier.request_tools(turn.offered)
        if self._limits.context_tokens is not None:
            fixed = of_text(system) + sum(map(_size, tools))
            if cut := history.fit(self._limits.context_tokens - fixed):
                text = f"{cut} older results cut: the conversation outgrew the model's context"
                self._journal.record(events.Notice(turn.number, text))
        return ModelRequest(system, history.messages(), tools, turn.output_cap)


def _size(tool: ToolSpec) -> int:
    return of_text(f"{tool.name}{tool.description}{dict(tool.parameters)}")
