"""One run while it goes on: the orders it takes from outside, and the race for its end.

RUNNING → COMMITTING → TERMINAL is a compare-and-set in the record (``bridge.store.run_state``).
Cancel, replacement and the time limit claim the end there from their own threads and close what
the run waits on; normal end claims it in the thread of the run. That thread alone writes the one
terminal result, whoever's it is, once everything is closed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from bridge.agent.control import RunControl
from bridge.errors import LimitReached, RecordError
from bridge.store.journal import Recorder
from bridge.store.run_state import Ender
from device_tools.cancel import CancelScope
from device_tools.errors import BridgeError, Cancelled


class RunSession:
    """Safe from any thread but no signal handler; those cancel the scope, ``settle`` does the
    rest. ``control`` takes messages, pause and resume."""

    def __init__(self, run: str, recorder: Recorder, cancel: CancelScope) -> None:
        self.run = run
        self.control = RunControl(recorder, cancel)
        self._recorder = recorder
        self._cancel = cancel
        self._lock = threading.Lock()
        self._why = ""

    def end(self, who: Ender, why: str = "") -> bool:
        """Try to end the run; True for the one who did. Returns at once, the run's thread cleans
        up behind it. ``why``: the run that replaces this one, the minutes it had."""
        with self._lock:
            try:
                won = self._recorder.begin_commit(who)
            except RecordError:
                # the record cannot say who was first; the run's thread meets the same fault
                won = self._recorder.ender is None
            if won:
                self._why = why
        if won:
            self._cancel.cancel()
        return won

    def settle(self) -> Ender:
        """Who ends the run; claims it for the caller, the run's own thread, if nobody has.

        Raises:
            RecordError: the record cannot be written.
        """
        with self._lock:
            if self._recorder.ender is None:
                signalled = self._cancel.cancelled
                self._recorder.begin_commit(Ender.CANCEL if signalled else Ender.END)
            return self._recorder.ender or Ender.END

    def reason(self, ender: Ender) -> BridgeError | None:
        """What ended the run from outside, as an error; None for its own end."""
        match ender:
            case Ender.CANCEL:
                return Cancelled("cancelled")
            case Ender.REPLACED:
                return Cancelled(f"replaced by run {self._why}")
            case Ender.TIME_LIMIT:
                return LimitReached(
                    f"the run used its {self._why} minutes",
                    advice="split the task, or raise --max-minutes",
                )
        return None


@contextmanager
def time_limit(session: RunSession, minutes: float) -> Iterator[None]:
    """End the run when ``minutes`` are over, pauses included."""
    timer = threading.Timer(minutes * 60, session.end, (Ender.TIME_LIMIT, f"{minutes:g}"))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
