"""The messages of a run for its requests.

Only the newest observation keeps its element list and picture: an older one shows a screen that
is gone, and tokens are dear. Whatever is dropped leaves a notice in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bridge.conversation.messages import CallResult, Message, UserMessage
from bridge.cst.carrier import Carrier
from device_tools.catalog import OBSERVE_SCREEN

DROPPED = "[element list and picture dropped: a newer observation follows]"


@dataclass(frozen=True)
class _Answered:
    """A results message that may still have to be reduced."""

    position: int
    results: tuple[CallResult, ...]
    note: str


class History:
    """Append-only but for superseded observations; ``messages`` costs nothing to build."""

    def __init__(self, carrier: Carrier, task: str) -> None:
        self._carrier = carrier
        self._messages: list[Message] = [UserMessage(task)]
        self._newest: _Answered | None = None

    def messages(self) -> tuple[Message, ...]:
        return tuple(self._messages)

    def add_turn(self, text: str, results: Sequence[CallResult], note: str = "") -> None:
        """The assistant's reply, then its results in one message with the runtime's ``note``."""
        calls = [answered.call for answered in results]
        self._messages.append(self._carrier.reply(text, calls))
        shown = _keep_last_observation(results)
        if any(map(_is_observation, shown)):
            self._reduce_newest()
            self._newest = _Answered(len(self._messages), shown, note)
        self._messages.append(self._carrier.results(shown, note))

    def _reduce_newest(self) -> None:
        if self._newest is None:
            return
        reduced = [_drop(result) for result in self._newest.results]
        self._messages[self._newest.position] = self._carrier.results(reduced, self._newest.note)


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
