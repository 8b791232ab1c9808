"""One run per phone: a file lock per serial under the home folder, held while the process lives.

The kernel drops the lock with its holder, also after kill -9; the name inside is for people, and
for a run that replaces the holder.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from bridge.errors import PhoneInUse, RecordError
from device_tools.cancel import CancelScope

_LOOK_SECONDS = 0.05


@contextmanager
def hold_device(
    home: Path, serial: str, holder: str, *, wait: float = 0.0, cancel: CancelScope | None = None
) -> Iterator[None]:
    """Hold the phone for ``holder`` ("run" and its id) while the body runs; ``wait`` seconds for
    another holder to let it go.

    Raises:
        PhoneInUse: another process holds it; the message names its run.
        Cancelled: while waiting.
        RecordError: the lock file cannot be made.
    """
    path = home / "locks" / f"{quote(serial, safe='')}.lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise RecordError(
            f"the lock {path} cannot be made: {error}", advice="check the home folder (BRIDGE_HOME)"
        ) from error
    try:
        _lock(descriptor, serial, time.monotonic() + wait, cancel or CancelScope())
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, holder.encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, serial: str, end: float, cancel: CancelScope) -> None:
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        if time.monotonic() >= end:
            other = os.pread(descriptor, 200, 0).decode("utf-8", "replace") or "another process"
            raise PhoneInUse(serial, other)
        cancel.wait(_LOOK_SECONDS)
