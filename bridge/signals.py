"""What SIGINT and SIGTERM do while a command runs."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from device_tools.cancel import CancelScope


@contextmanager
def cancel_on_signals(cancel: CancelScope) -> Iterator[None]:
    """SIGINT and SIGTERM cancel; a second one leaves at once with 130 (the record stays whole,
    an owned virtual phone ends with its owner)."""
    heard = False

    def on_signal(_number: int, _frame: object) -> None:
        nonlocal heard
        if heard:
            os._exit(130)
        heard = True
        cancel.cancel()

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, on_signal) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
