from __future__ import annotations

import signal
import threading
import time

import pytest

from device_tools.cancel import CancelScope
from device_tools.errors import Cancelled


def test_a_wait_without_cancel_ends_by_itself() -> None:
    """The time given is waited, not less."""
    started = time.monotonic()
    CancelScope().wait(0.05)
    assert time.monotonic() - started >= 0.05


def test_cancel_ends_every_wait_and_closes_what_is_open() -> None:
    """Waits in several threads end at once; closers run once, ended ones not at all."""
    scope, closed, ended = CancelScope(), [], []

    def waiting() -> None:
        with pytest.raises(Cancelled):
            scope.wait(30)
        ended.append(time.monotonic())

    threads = [threading.Thread(target=waiting) for _ in range(3)]
    for thread in threads:
        thread.start()
    with scope.closing(lambda: closed.append("ended")):
        pass
    with scope.closing(lambda: closed.append("open")):
        time.sleep(0.1)
        started = time.monotonic()
        scope.cancel()
        scope.cancel()
    for thread in threads:
        thread.join(5)
    assert closed == ["open"]
    assert len(ended) == 3
    assert max(ended) - started < 0.1


def test_a_cancelled_scope_starts_nothing() -> None:
    """Neither a wait nor a guarded body begins once the scope is cancelled."""
    scope = CancelScope()
    scope.cancel()
    with pytest.raises(Cancelled), scope.closing(lambda: None):
        pytest.fail("the body ran")
    with pytest.raises(Cancelled):
        scope.wait(30)


def test_signals_at_any_moment_do_not_lock_up_the_waiting_thread() -> None:
    """A handler that cancels while the same thread waits always gets through."""
    scope = CancelScope()
    main = threading.main_thread().ident or 0
    previous = signal.signal(signal.SIGUSR2, lambda *_: scope.cancel())
    try:
        for step in range(300):
            scope = CancelScope()
            delay = 1e-5 * (1 + step % 30)
            killer = threading.Timer(delay, signal.pthread_kill, (main, signal.SIGUSR2))
            killer.start()
            with pytest.raises(Cancelled):
                while True:
                    scope.wait(0.0001)
            killer.join()
    finally:
        signal.signal(signal.SIGUSR2, previous)
