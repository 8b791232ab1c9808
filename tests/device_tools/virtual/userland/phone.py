"""A userland without the rest of the phone, for the tests of this folder."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from typing import TypeVar

import pytest

from device_tools.virtual.ports import CommandResult, Files
from device_tools.virtual.socket_files import SocketFiles
from device_tools.virtual.userland import phone_userland
from device_tools.virtual.userland.phone_userland import NamespaceChild, PhoneUserland

LIMIT = 30.0
EVERY_BYTE = bytes(range(256)) * 4096

T = TypeVar("T")

_MISSING = phone_userland.available()
needs_userland = pytest.mark.skipif(_MISSING != "", reason=_MISSING or "-")


class EchoFramework:
    """Shows what reached it: argv as lines on stdout, stdin after them; or bytes of every value."""

    def knows(self, argv: Sequence[str]) -> bool:
        return argv[0] != "svc"

    async def run(self, argv: Sequence[str], stdin: bytes, files: Files) -> CommandResult:
        if argv[0] == "screencap":
            return CommandResult(EVERY_BYTE, bytes(range(256)), 7)
        if argv[0] == "uiautomator":
            files.write(os.fsencode(argv[2]), b"<hierarchy/>")
            return CommandResult(b"dumped\n")
        shown = "\n".join(ascii(word) for word in argv)
        return CommandResult(shown.encode() + b"\n" + stdin)


def in_phone(scenario: Callable[[PhoneUserland], Awaitable[T]], root: str = "none") -> T:
    """Run ``scenario`` on a phone of its own, with an ``EchoFramework``."""

    async def main() -> T:
        userland = await phone_userland.start(root)
        try:
            with closing(SocketFiles(await userland.sync_socket())) as files:
                await userland.serve_commands(EchoFramework(), files)
                async with asyncio.timeout(LIMIT):
                    return await scenario(userland)
        finally:
            await userland.close()

    return asyncio.run(main())


async def read_all(fd: int) -> bytes:
    """Until end of file; the descriptor must be a socket's."""
    loop = asyncio.get_running_loop()
    data = bytearray()
    with socket.socket(fileno=os.dup(fd)) as sock:
        sock.setblocking(False)
        while piece := await loop.sock_recv(sock, 65536):
            data += piece
    return bytes(data)


async def spawn(userland: PhoneUserland, command: str) -> NamespaceChild:
    return await userland.spawn(command, pty=False, raw_pty=False, merge_stderr=False, env={})


async def shell(userland: PhoneUserland, command: str) -> tuple[int, bytes, bytes]:
    """(exit code, stdout, stderr) of a command whose stdin is empty."""
    child = await spawn(userland, command)
    with socket.socket(fileno=os.dup(child.stdin_fd)) as stdin:
        stdin.shutdown(socket.SHUT_WR)
    assert child.stderr_fd is not None
    stdout, stderr = await asyncio.gather(read_all(child.stdout_fd), read_all(child.stderr_fd))
    code = await child.wait()
    child.close()
    return code, stdout, stderr
