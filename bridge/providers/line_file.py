"""A new file that only its owner may read, written line by line, each at once."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bridge.errors import ConfigurationError, RecordError


class LineFile:
    """``flag`` is the option that named the file, for messages. Any thread may write."""

    def __init__(self, descriptor: int, flag: str) -> None:
        self._descriptor = descriptor
        self._flag = flag
        self._lock = threading.Lock()

    def write(self, line: str) -> None:
        """Raises RecordError: the line cannot be written. Nothing waits in a buffer afterwards."""
        rest = line.encode("utf-8", "replace") + b"\n"
        try:
            with self._lock:
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
        except OSError as error:
            raise RecordError(
                f"the file of {self._flag} cannot be written: {error.strerror}",
                advice=f"free the disk, or leave {self._flag} out",
            ) from error


@contextmanager
def new_line_file(path: Path, flag: str) -> Iterator[LineFile]:
    """Make ``path`` with mode 0600; ConfigurationError when it exists or cannot be made."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be made: {error.strerror}", advice=f"name a new file with {flag}"
        ) from error
    try:
        yield LineFile(descriptor, flag)
    finally:
        os.close(descriptor)
