"""Cancellation: one flag, and what to close so that every blocked wait returns at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue

from device_tools.errors import Cancelled, Outcome


class CancelScope:
    """Shared by all that one run waits on. Safe to cancel from a signal handler or a thread."""

    def __init__(self) -> None:
        self._cancelled = False
        self._closers: dict[int, Callable[[], object]] = {}
        self._next = 0
        # re-entrant: a signal handler may cancel while this very thread holds the lock
        self._lock = threading.RLock()

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def cancel(self) -> None:
        """Set the flag and call every registered closer once. Closers must not raise or block."""
        with self._lock:
            self._cancelled = True
            closers = list(self._closers.values())
            self._closers.clear()
        for close in closers:
            close()

    def check(self, outcome: Outcome = Outcome.NOT_SENT) -> None:
        """Raise ``Cancelled`` when the scope was cancelled."""
        if self.cancelled:
            raise Cancelled("cancelled", outcome=outcome)

    def wait(self, seconds: float) -> None:
        """Sleep up to ``seconds``; raise ``Cancelled`` as soon as the scope is cancelled."""
        # not an Event: set() deadlocks in a handler that interrupts wait() at a bad moment, while
        # SimpleQueue.put is re-entrant
        woken: SimpleQueue[None] = SimpleQueue()
        with self.closing(lambda: woken.put(None)), suppress(Empty):
            woken.get(timeout=max(0.0, seconds))
        self.check()

    @contextmanager
    def closing(self, close: Callable[[], object]) -> Iterator[None]:
        """While the body runs, ``cancel()`` calls ``close``. Raises ``Cancelled`` if already so."""
        with self._lock:
            key = self._next
            self._next += 1
            self._closers[key] = close
        try:
            # once registered: a signal handler may cancel between any two lines
            self.check()
            yield
        finally:
            with self._lock:
                self._closers.pop(key, None)
