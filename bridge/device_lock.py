"""One run per phone: a file lock per serial under the home folder, held while the process lives.

The kernel drops the lock with its holder, also after kill -9; the name inside is for people.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from bridge.errors import RecordError
from device_tools.errors import DeviceNotReady


@contextmanager
def hold_device(home: Path, serial: str, holder: str) -> Iterator[None]:
    """Hold the phone for ``holder`` (a run id) while the body runs.

    Raises:
        DeviceNotReady: another process holds it; the message names its run.
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
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            other = os.read(descriptor, 200).decode("utf-8", "replace") or "another process"
            raise DeviceNotReady(
                f"{serial} is in use by {other}", advice="wait until it ends, or stop it"
            ) from None
        os.ftruncate(descriptor, 0)
        os.write(descriptor, holder.encode())
        yield
    finally:
        os.close(descriptor)
