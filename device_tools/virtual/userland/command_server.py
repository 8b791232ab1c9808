"""The daemon's end of the in-phone commands: runs them in the framework and answers the script."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Sequence

from device_tools.virtual.ports import CommandResult, Files, Framework
from device_tools.virtual.userland.command_client import NO_ANSWER, answer_head

REQUEST_LIMIT = 60.0
"""Seconds a client may take to send its whole request, stdin included."""
MAX_ARGUMENTS = 4096
MAX_REQUEST = 512 * 1024 * 1024
"""Bytes of arguments and stdin (an app package) of one command."""

_FIRST_FILE_WORD = {"screencap": 1, "uiautomator": 2}
_PIECE = 256 * 1024


class CommandServer:
    """Serves a listening unix socket until closed."""

    def __init__(self, framework: Framework, files: Files) -> None:
        self._framework = framework
        self._files = files
        self._server: asyncio.AbstractServer | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, listener: socket.socket) -> None:
        """Takes the socket over."""
        self._server = await asyncio.start_unix_server(self._accepted, sock=listener)

    async def close(self) -> None:
        if self._server:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        # a caller that was killed is no error of ours
        with contextlib.suppress(OSError, TimeoutError, asyncio.CancelledError):
            await self._serve(reader, writer)
        writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(REQUEST_LIMIT):
            request = await _everything(reader)
        argv, stdin = parse_request(request)
        result = await self._run(argv, stdin)
        writer.write(answer_head(result.code, result.stderr) + result.stdout)
        await writer.drain()

    async def _run(self, argv: Sequence[str], stdin: bytes) -> CommandResult:
        if not argv:
            return CommandResult(stderr=b"cmd: malformed request\n", code=NO_ANSWER)
        if not self._framework.knows(argv):
            service = argv[1] if argv[0] == "cmd" and len(argv) > 1 else argv[0]
            text = f"cmd: Can't find service: {service}\n"
            return CommandResult(stderr=text.encode("utf-8", "surrogateescape"), code=NO_ANSWER)
        return await self._framework.run(argv, stdin, self._files)


def parse_request(request: bytes) -> tuple[list[str], bytes]:
    """(argv, stdin) of what the client script sent; no argv when it is malformed.

    The framework knows no current folder, so the file it is to write becomes absolute here.
    """
    count, _, rest = request.partition(b"\0")
    if not count.isdigit() or not 0 < int(count) <= MAX_ARGUMENTS:
        return [], b""
    folder, *words, stdin = rest.split(b"\0", int(count) + 1)
    if len(words) != int(count):
        return [], b""
    argv = [os.fsdecode(word) for word in words]
    return _absolute(argv, os.fsdecode(folder)), stdin


def _absolute(argv: list[str], folder: str) -> list[str]:
    first = _FIRST_FILE_WORD.get(argv[0], len(argv))
    return argv[:first] + [
        word if word.startswith("-") or before == "-d" else os.path.join(folder, word)
        for before, word in zip(argv[first - 1 :], argv[first:], strict=False)
    ]


async def _everything(reader: asyncio.StreamReader) -> bytes:
    data = bytearray()
    while piece := await reader.read(_PIECE):
        data += piece
        if len(data) > MAX_REQUEST:
            return b""
    return bytes(data)
