"""What a user may do to a run between its steps: add a message, pause it, let it go on.

Messages wait in a queue; each turn reads at most one, and no request is broken off for it. The
last check of a run closes the inlet in the same step that finds it empty, so that a message is
either read by a turn, listed as unread in the terminal result, or refused. Pausing holds the run
at its checkpoints and nowhere else; a message does not lift it. Ending a run is not done here.

Any thread may call this, but no signal handler: it takes locks and writes the record.
"""

from __future__ import annotations

import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue

from bridge.agent.ports import Journal
from bridge.conversation.events import Paused, Resumed, SteeringQueued, SteeringRead
from bridge.errors import ControlError
from device_tools.cancel import CancelScope

MAX_WAITING = 32
"""Messages that no turn has read yet."""
MAX_CHARS = 8_000
"""Of one message."""
_LOOK_SECONDS = 60.0
"""A paused run looks after itself this often; resume and cancel wake it at once."""


@dataclass(frozen=True)
class Steering:
    """A message of the user, the ``number``-th of the run."""

    number: int
    text: str


class RunControl:
    """Between one run's loop and those who steer it."""

    def __init__(self, journal: Journal, cancel: CancelScope) -> None:
        self._journal = journal
        self._cancel = cancel
        self._lock = threading.Lock()
        self._waiting: deque[Steering] = deque()
        self._count = 0
        self._closed = False
        self._paused = False
        self._woken: SimpleQueue[None] = SimpleQueue()

    def steer(self, text: str, source: str) -> int:
        """Queue a message; its number. It is on disk when this returns.

        Raises:
            ControlError: empty, too long, too many wait already, or the run takes no more.
            RecordError: it cannot be stored, so it is not queued.
        """
        text = text.strip()
        if not text or len(text) > MAX_CHARS:
            raise ControlError(
                f"a message has 1 to {MAX_CHARS} characters, not {len(text)}",
                advice="say it shorter" if text else "say something",
            )
        with self._lock:
            if self._closed or self._cancel.cancelled:
                raise ControlError(
                    "the run takes no more messages: it is ending",
                    advice="go on from its end with bridge continue",
                )
            if len(self._waiting) >= MAX_WAITING:
                raise ControlError(
                    f"{MAX_WAITING} messages wait already", advice="wait until a turn has ended"
                )
            message = Steering(self._count + 1, text)
            self._journal.record(SteeringQueued(message.number, text, source))
            self._count = message.number
            self._waiting.append(message)
            return message.number

    def take(self, turn: int) -> Steering | None:
        """The oldest waiting message, for the request of ``turn``."""
        with self._lock:
            if not self._waiting:
                return None
            message = self._waiting[0]
            self._journal.record(SteeringRead(turn, message.number, message.text))
            return self._waiting.popleft()

    def goes_on(self) -> bool:
        """The last check of a run that has its answer: whether a message still waits for a turn.
        If not, the inlet is closed with the same look."""
        with self._lock:
            self._closed = not self._waiting
            return not self._closed

    def close(self) -> tuple[str, ...]:
        """Take no more messages; those that no turn has read."""
        with self._lock:
            self._closed = True
            return tuple(message.text for message in self._waiting)

    @property
    def paused(self) -> bool:
        """Whether the run was asked to stand still."""
        return self._paused

    def pause(self) -> bool:
        """Hold the run at its next checkpoint; False when that was asked already."""
        with self._lock:
            changed = not self._paused
            self._paused = True
            return changed

    def resume(self) -> bool:
        """Let the run go on; False when it was not paused."""
        with self._lock:
            changed = self._paused
            self._paused = False
            self._woken.put(None)
            return changed

    def checkpoint(self, turn: int) -> None:
        """Before a request and before a call: returns at once, or when the pause is over.

        Raises:
            Cancelled: the run was cancelled, in a pause too.
            RecordError: the pause cannot be recorded.
        """
        self._cancel.check()
        woken = self._gate()
        if woken is None:
            return
        self._journal.record(Paused(turn))
        while woken is not None:
            with self._cancel.closing(partial(woken.put, None)), suppress(Empty):
                woken.get(timeout=_LOOK_SECONDS)
            self._cancel.check()
            woken = self._gate()
        self._journal.record(Resumed(turn))

    def _gate(self) -> SimpleQueue[None] | None:
        """What the next resume fills, None while the run is not paused."""
        with self._lock:
            if not self._paused:
                return None
            self._woken = SimpleQueue()
            return self._woken
