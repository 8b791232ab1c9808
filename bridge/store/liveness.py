"""Whether the process of a run still lives: it holds a file lock that dies with it.

A process id says less: ids are used again, and a container sees only its own.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from bridge.errors import RecordError

FOLDER = "live"


class Held:
    """The lock of a living run; ``release`` ends it and forgets its file."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor: int | None = descriptor

    def release(self, *, forget: bool) -> None:
        """``forget`` when the run is over; else its file stays, for recovery to find."""
        if self._descriptor is None:
            return
        if forget:
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = None


def hold(home: Path, run: str) -> Held:
    """Show that ``run`` lives, until release or the death of this process.

    Raises:
        RecordError: the file cannot be made, or the run lives already.
    """
    path = home / FOLDER / run
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise RecordError(
            f"{path} cannot be made: {error.strerror}",
            advice="check free space and permissions of the home folder (BRIDGE_HOME)",
        ) from error
    if not _locked(descriptor):
        os.close(descriptor)
        raise RecordError(f"run {run} is going on already")
    return Held(path, descriptor)


def lives(home: Path, run: str) -> bool:
    """Whether the process that holds the lock of ``run`` is there."""
    try:
        descriptor = os.open(home / FOLDER / run, os.O_RDWR)
    except FileNotFoundError:
        return False
    except OSError:
        return True  # it cannot be told; a living run must not be ended
    try:
        return not _locked(descriptor)
    finally:
        os.close(descriptor)


def process_lives(pid: int) -> bool:
    """For runs of an older program, which held no lock."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def forget(home: Path, run: str) -> None:
    """Remove the lock file of a run that is over."""
    (home / FOLDER / run).unlink(missing_ok=True)


def _locked(descriptor: int) -> bool:
    """Try to take the lock; True when it is ours now."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
