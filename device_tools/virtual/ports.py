"""What the parts of the virtual phone promise each other; plain types, nothing is done here.

The adb daemon knows the phone's model only as a ``Framework`` and a ``PortHandler``, its files as
``Files``, and its processes as a ``Userland`` (None where the host has no namespaces).
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the phone's first process imports this module, and asyncio is most of its size
    import asyncio

PortHandler = Callable[["asyncio.StreamReader", "asyncio.StreamWriter"], Awaitable[None]]
"""Serves one connection to a TCP port of the phone; returns when it is done with it."""


@dataclass(frozen=True)
class CommandResult:
    """What one command of the phone answered; ``code`` is 0..255."""

    stdout: bytes = b""
    stderr: bytes = b""
    code: int = 0


@dataclass(frozen=True)
class FileStat:
    """``mode`` with its type bits, ``size`` in bytes, ``mtime`` in whole seconds."""

    mode: int
    size: int
    mtime: int


class Files(Protocol):
    """The phone's file tree as the shell user sees it. Paths are absolute, ``b"/sdcard/a.txt"``.

    Every method blocks briefly and raises ``OSError`` as the system call would.
    """

    def read(self, path: bytes) -> bytes: ...

    def write(self, path: bytes, data: bytes, mode: int = 0o644) -> None:
        """Create or replace the file; missing parents are made."""

    def remove(self, path: bytes) -> None:
        """Remove a file, a symbolic link or an empty folder."""

    def stat(self, path: bytes) -> FileStat:
        """Of the target when the path is a symbolic link."""

    def list(self, path: bytes) -> Sequence[bytes]:
        """Sorted names without ``.`` and ``..``."""

    def mkdir(self, path: bytes) -> None:
        """Make one folder; its parent must exist."""


class Framework(Protocol):
    """The commands of the phone's system server: getprop, wm, dumpsys, pm, am, input, ..."""

    def knows(self, argv: Sequence[str]) -> bool:
        """Whether ``run`` answers this command; argv[0] is the command's base name."""

    async def run(self, argv: Sequence[str], stdin: bytes, files: Files) -> CommandResult: ...


@dataclass(frozen=True)
class WindowSize:
    rows: int
    cols: int
    xpixel: int = 0
    ypixel: int = 0


class Child(Protocol):
    """A process in the phone. All descriptors are non-blocking and belong to the child object.

    With a PTY, ``stdin_fd`` and ``stdout_fd`` are both its master. Without one they are an end of a
    socket pair, so that stdin can be shut down alone. ``stderr_fd`` is None when it is merged.
    """

    @property
    def stdin_fd(self) -> int: ...

    @property
    def stdout_fd(self) -> int: ...

    @property
    def stderr_fd(self) -> int | None: ...

    async def wait(self) -> int:
        """The exit code & 255, or 128 + signal."""

    def hangup(self) -> None:
        """SIGHUP to the process group; no error when it is gone."""

    def kill(self) -> None:
        """SIGKILL to the process group; no error when it is gone."""

    def resize(self, size: WindowSize) -> None:
        """Set the PTY's window size; nothing without a PTY."""

    def close(self) -> None:
        """Close the descriptors (a closed PTY master hangs its session up). May be called twice."""


class Userland(Protocol):
    """Processes, files and sockets of the phone in namespaces of its own. ``may_be_root``: this
    phone lets adb be root."""

    may_be_root: bool

    async def spawn(
        self,
        command: str | None,
        *,
        pty: bool,
        raw_pty: bool,
        merge_stderr: bool,
        env: Mapping[str, str],
        winsize: WindowSize | None = None,
    ) -> Child:
        """Run ``/system/bin/sh -c command`` (None: a login shell) as the shell user.

        ``raw_pty`` is a PTY without line editing and without newline translation. Raises OSError.
        """

    async def sync_socket(self) -> socket.socket:
        """One end of a socket pair; the other is served by ``sync_service.serve_sync`` as the
        shell user inside the phone's root. Closing it ends that process."""

    async def connect(self, spec: str) -> socket.socket | None:
        """A socket connected inside the phone's network to ``tcp:PORT``, ``localabstract:NAME`` or
        ``localfilesystem:PATH``; None when nothing listens there."""

    async def listen(self, spec: str) -> socket.socket:
        """A listening socket inside the phone's network: ``tcp:PORT`` on its 127.0.0.1 (0 = any
        free port) or ``localabstract:NAME``. Raises OSError."""

    async def set_root(self, root: bool) -> None:
        """From now on adb's shell and file service are root, or the shell user; only where
        ``may_be_root``. Raises OSError."""

    async def close(self) -> None:
        """End every process of the phone."""
