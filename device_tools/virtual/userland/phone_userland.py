"""``Userland`` over namespaces: the daemon's side of the phone's first process."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence

from device_tools.errors import VirtualPhoneError
from device_tools.virtual.ports import Files, Framework, WindowSize
from device_tools.virtual.userland import control, namespaces, sources
from device_tools.virtual.userland.command_server import CommandServer
from device_tools.virtual.userland.roots import NONE, PROFILES

REQUEST_LIMIT = 10.0
"""Seconds the phone's first process may take to answer; milliseconds are usual."""
END_LIMIT = 5.0
"""Seconds for the first process to end once the daemon let go of it."""
MAX_COMMAND = 131_071
"""Bytes of a shell command: what Linux takes as one argument."""


def available() -> str:
    """Empty, or why no userland can start here, with the remedy. Tries it: about 0.2 s."""
    if reason := _missing():
        return reason
    try:
        started = namespaces.launch()
    except VirtualPhoneError as error:
        return f"{error.message} ({error.advice})"
    started.control.close()
    started.commands.close()
    started.process.kill()
    started.process.wait(END_LIMIT)
    return ""


def _missing() -> str:
    if sys.platform != "linux":
        return "virtual phone: its shell needs Linux; the GUI works without"
    from device_tools.virtual.userland import syscalls

    if not syscalls.machine_supported():
        return "virtual phone: its shell is not supported on this processor"
    return sources.missing()


async def start(root: str = NONE) -> PhoneUserland:
    """Start one; blocks the loop for about 0.1 s, as the phone must die with this very thread.

    ``root`` is a name of ``roots.PROFILES``: how the phone is rooted.

    Raises VirtualPhoneError with the reason and the remedy.
    """
    if reason := _missing():
        raise VirtualPhoneError(reason)
    profile = PROFILES[root]
    may_be_root = profile is not None and profile.adb_root
    return PhoneUserland(namespaces.launch(root), may_be_root=may_be_root)


class PhoneUserland:
    """See ``ports.Userland``. One per phone; ``close`` or the daemon's death ends all of it."""

    def __init__(self, started: namespaces.Started, *, may_be_root: bool = False) -> None:
        self.may_be_root = may_be_root
        self.separate_ids = started.ids.separate_ids
        """False: one user id for everything, so the shell runs as a powerless uid 0."""
        self.first_pid = started.process.pid
        """Host pid of the process whose end ends the phone."""
        self._started = started
        self._control = started.control
        self._commands: CommandServer | None = None
        self._last_id = 0
        self._answers: dict[int, asyncio.Future[tuple[control.Message, list[int]]]] = {}
        self._exits: dict[int, asyncio.Future[int]] = {}
        self._closed = False
        asyncio.get_running_loop().add_reader(self._control, self._receive)

    async def serve_commands(self, framework: Framework, files: Files) -> None:
        """From now on ``getprop`` and its like inside the phone reach the framework."""
        self._commands = CommandServer(framework, files)
        await self._commands.start(self._started.commands)

    async def spawn(
        self,
        command: str | None,
        *,
        pty: bool,
        raw_pty: bool,
        merge_stderr: bool,
        env: Mapping[str, str],
        winsize: WindowSize | None = None,
    ) -> NamespaceChild:
        if command is not None and len(os.fsencode(command)) > MAX_COMMAND:
            raise OSError(errno.E2BIG, os.strerror(errno.E2BIG))
        pairs = [] if pty else [socket.socketpair() for _ in range(1 if merge_stderr else 2)]
        ours = [pair[0].detach() for pair in pairs]
        theirs = [pair[1] for pair in pairs]
        request = {"op": "spawn", "command": command, "env": dict(env), "pty": pty, "raw": raw_pty}
        try:
            answer, descriptors = await self._ask(request, [end.fileno() for end in theirs])
        except OSError:
            _close(ours)
            raise
        finally:
            for end in theirs:
                end.close()
        child = NamespaceChild(self, answer, [*descriptors, *ours], pty=pty)
        if winsize:
            child.resize(winsize)
        return child

    async def sync_socket(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                await self._ask({"op": "sync"}, [theirs.fileno()])
            except OSError:
                ours.close()
                raise
        return ours

    async def connect(self, spec: str) -> socket.socket | None:
        try:
            _, descriptors = await self._ask({"op": "connect", "spec": spec})
        except OSError:
            return None
        return socket.socket(fileno=descriptors[0])

    async def listen(self, spec: str) -> socket.socket:
        _, descriptors = await self._ask({"op": "listen", "spec": spec})
        return socket.socket(fileno=descriptors[0])

    async def set_root(self, root: bool) -> None:
        await self._ask({"op": "identity", "root": root})

    async def close(self) -> None:
        """End every process of the phone. May be called twice."""
        if self._commands:
            await self._commands.close()
        self._gone()
        self._started.commands.close()
        process = self._started.process
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_LIMIT)

    def signal(self, pid: int, number: int) -> None:
        """To the process group of a spawned child; nothing when it or the phone is gone."""
        with contextlib.suppress(OSError):
            self._send({"op": "signal", "pid": pid, "signal": number})

    async def _ask(
        self, request: control.Message, descriptors: Sequence[int] = ()
    ) -> tuple[control.Message, list[int]]:
        number = self._send(request, descriptors)
        future = asyncio.get_running_loop().create_future()
        self._answers[number] = future
        try:
            async with asyncio.timeout(REQUEST_LIMIT):
                answer, received = await future
        finally:
            self._answers.pop(number, None)
        if code := answer.get("errno"):
            raise OSError(code, answer["error"])
        return answer, received

    def _send(self, request: control.Message, descriptors: Sequence[int] = ()) -> int:
        if self._closed:
            raise OSError(errno.EPIPE, "the phone's userland has ended")
        self._last_id += 1
        control.send(self._control, {**request, "id": self._last_id}, descriptors)
        return self._last_id

    def _receive(self) -> None:
        try:
            message, descriptors = control.receive(self._control)
        except BlockingIOError:
            return
        except OSError:
            message, descriptors = None, []
        if message is None:
            self._gone()
        elif "exited" in message:
            self._exits.pop(message["exited"]).set_result(message["code"])
        else:
            self._deliver(message, descriptors)

    def _deliver(self, message: control.Message, descriptors: list[int]) -> None:
        if "pid" in message:
            # made here, not by the waiting coroutine: the exit notice may be the next packet
            message["exit"] = asyncio.get_running_loop().create_future()
            self._exits[message["pid"]] = message["exit"]
        future = self._answers.get(message["answer"])
        if future and not future.done():
            future.set_result((message, descriptors))
        else:
            _close(descriptors)

    def _gone(self) -> None:
        if self._closed:
            return
        self._closed = True
        asyncio.get_running_loop().remove_reader(self._control)
        self._control.close()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_result(({"errno": errno.EPIPE, "error": "the phone ended"}, []))
        for code in self._exits.values():
            if not code.done():
                code.set_result(128 + signal.SIGKILL)


class NamespaceChild:
    """See ``ports.Child``."""

    def __init__(
        self,
        userland: PhoneUserland,
        answer: control.Message,
        descriptors: Sequence[int],
        *,
        pty: bool,
    ) -> None:
        self.pid: int = answer["pid"]
        """Inside the phone."""
        self._userland = userland
        self._descriptors = list(descriptors)
        self._pty = pty
        self.stdin_fd = self.stdout_fd = descriptors[0]
        self.stderr_fd = descriptors[1] if len(descriptors) > 1 else None
        self._exit: asyncio.Future[int] = answer["exit"]
        for fd in descriptors:
            os.set_blocking(fd, False)

    async def wait(self) -> int:
        return await asyncio.shield(self._exit)

    def hangup(self) -> None:
        self._userland.signal(self.pid, signal.SIGHUP)

    def kill(self) -> None:
        self._userland.signal(self.pid, signal.SIGKILL)

    def resize(self, size: WindowSize) -> None:
        if self._pty and self._descriptors:
            packed = struct.pack("HHHH", size.rows, size.cols, size.xpixel, size.ypixel)
            fcntl.ioctl(self.stdin_fd, termios.TIOCSWINSZ, packed)

    def close(self) -> None:
        _close(self._descriptors)
        self._descriptors = []


def _close(descriptors: Sequence[int]) -> None:
    for fd in descriptors:
        os.close(fd)
