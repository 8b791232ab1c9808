"""The messages of a run for its requests.

Only the newest observation keeps its element list and picture: an older one shows a screen that
is gone, and tokens are dear. Beyond the model's context older results are cut as well. Whatever is
dropped leaves a notice in its place; the task and the newest observation always stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bridge.agent.prompt import STEERING
from bridge.agent.tokens import estimate
from bridge.conversation.messages import AssistantMessage, CallResult, Message, UserMessage
from bridge.cst.carrier import Carrier
from device_tools.catalog import OBSERVE_SCREEN
from device_tools.result import Image

DROPPED = "[element list and picture dropped: a newer observation follows]"
KEPT_CHARS = 200
"""Of a result that is cut to make room."""
_ROOM_LEFT = 0.75
"""Cutting goes on down to this part of the budget, so that it is rare: every cut changes the
beginning of the request, which servers cache."""


@dataclass
class _Turn:
    """``answer`` None: nothing follows the reply (a pause)."""

    reply: AssistantMessage
    results: tuple[CallResult, ...] = ()
    note: str = ""
    answer: Message | None = None
    tokens: int = 0
    cut: bool = False


class History:
    """Append-only but for what is dropped; ``messages`` costs next to nothing to build."""

    def __init__(
        self,
        carrier: Carrier,
        task: str,
        images: Sequence[Image] = (),
        before: Sequence[Message] = (),
    ) -> None:
        """``before``: what was said in the session until now, user and assistant in turn."""
        self._carrier = carrier
        self._before = list(before)
        if self._before and isinstance(last := self._before[-1], UserMessage):
            # an interrupted run got no reply; two messages of the user in a row suit no server
            self._before.pop()
            task = f"{last.text}\n\n{task}"
        self._task = UserMessage(task, tuple(images))
        self._turns: list[_Turn] = []
        self._newest: _Turn | None = None

    def messages(self) -> tuple[Message, ...]:
        messages: list[Message] = [*self._before, self._task]
        for turn in self._turns:
            messages.append(turn.reply)
            if turn.answer is not None:
                messages.append(turn.answer)
        return tuple(messages)

    def add_turn(
        self,
        text: str,
        results: Sequence[CallResult],
        note: str = "",
        items: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """The assistant's reply, then its results in one message with the runtime's ``note``.

        ``items`` are the provider's own of this reply.
        """
        shown = _keep_last_observation(results)
        turn = _Turn(self._reply(text, results, items), shown, note)
        if any(map(_is_observation, shown)):
            if self._newest is not None:
                self._rebuild(self._newest, [_drop(result) for result in self._newest.results])
            self._newest = turn
        self._rebuild(turn, shown)
        self._turns.append(turn)

    @property
    def takes_steering(self) -> bool:
        """Not behind a paused reply, which goes back as it is."""
        return not self._turns or self._turns[-1].answer is not None

    def steer(self, text: str) -> None:
        """A message of the user's, behind all that was said so far and in the same message."""
        said = f"{STEERING}\n{text}"
        if not self._turns:
            self._task = replace(self._task, text=f"{self._task.text}\n\n{said}")
            return
        turn = self._turns[-1]
        turn.note = f"{turn.note}\n{said}" if turn.note else said
        self._rebuild(turn, turn.results)

    def add_pause(self, text: str, items: Sequence[Mapping[str, Any]]) -> None:
        """A reply that the provider paused: it is sent again as it is, and nothing behind it."""
        reply = self._reply(text, (), items)
        self._turns.append(_Turn(reply, tokens=estimate(reply)))

    def fit(self, budget: int) -> int:
        """Cut the results of older turns, oldest first, when the messages exceed ``budget``
        tokens; the number of results cut. The newest turn and observation are never cut."""
        size = sum(map(estimate, (*self._before, self._task)))
        size += sum(turn.tokens for turn in self._turns)
        if size <= budget:
            return 0
        size, count = self._fit_before(size, budget)
        for turn in self._turns[:-1]:
            if size <= budget * _ROOM_LEFT:
                break
            if turn is self._newest or turn.cut or turn.answer is None:
                continue
            before = turn.tokens
            short = [_cut(result) for result in turn.results]
            count += sum(new is not old for new, old in zip(short, turn.results, strict=True))
            self._rebuild(turn, short)
            turn.cut = True
            size += turn.tokens - before
        return count

    def _fit_before(self, size: int, budget: int) -> tuple[int, int]:
        """Shorten earlier runs' messages first, the oldest first; the size and how many."""
        count = 0
        for place, message in enumerate(self._before):
            if size <= budget * _ROOM_LEFT:
                break
            if isinstance(message, UserMessage | AssistantMessage):
                short = replace(message, text=_short(message.text))
                size += estimate(short) - estimate(message)
                count += short != message
                self._before[place] = short
        return size, count

    def _reply(
        self, text: str, results: Sequence[CallResult], items: Sequence[Mapping[str, Any]]
    ) -> AssistantMessage:
        reply = self._carrier.reply(text, [answered.call for answered in results])
        return replace(reply, items=tuple(items))

    def _rebuild(self, turn: _Turn, results: Sequence[CallResult]) -> None:
        turn.results = tuple(results)
        turn.answer = self._carrier.results(turn.results, turn.note)
        turn.tokens = estimate(turn.reply) + estimate(turn.answer)


def _is_observation(answered: CallResult) -> bool:
    result = answered.result
    return result.ok and (answered.call.name == OBSERVE_SCREEN.name or bool(result.images))


def _keep_last_observation(results: Sequence[CallResult]) -> tuple[CallResult, ...]:
    last = max((n for n, result in enumerate(results) if _is_observation(result)), default=-1)
    return tuple(
        _drop(answered) if number < last else answered for number, answered in enumerate(results)
    )


def _drop(answered: CallResult) -> CallResult:
    if not _is_observation(answered):
        return answered
    title = answered.result.text.split("\n", 1)[0]
    result = replace(answered.result, text=f"{title}\n{DROPPED}", images=())
    return CallResult(answered.call, result)


def _cut(answered: CallResult) -> CallResult:
    text = answered.result.text
    if (short := _short(text)) == text:
        return answered
    return CallResult(answered.call, replace(answered.result, text=short, images=()))


def _short(text: str) -> str:
    left_out = len(text) - KEPT_CHARS
    if left_out <= KEPT_CHARS:  # a notice costs tokens too
        return text
    notice = f"[{left_out} characters dropped: the conversation outgrew the model's context]"
    return f"{text[:KEPT_CHARS]}\n{notice}"
