"""The phone's own sockets: what ``tcp:9008`` and its like mean inside the phone.

Two kinds of listeners live here without any socket of the host: handlers of this process (the
uiautomator2 server, reverse forwards) in a table, and, with a userland, real sockets inside the
phone's network namespace.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Callable
from contextlib import suppress

from device_tools.virtual.ports import PortHandler, Userland
from device_tools.virtual.transport import Stream, StreamClosed

READ_BYTES = 256 * 1024
_FIRST_FREE_PORT = 40_000

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Close = Callable[[], None]


class PhoneNetwork:
    """Connects to, and listens on, addresses inside the phone."""

    def __init__(self, userland: Userland | None) -> None:
        self._userland = userland
        self._handlers: dict[str, PortHandler] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._next_port = _FIRST_FREE_PORT

    def listen_here(self, spec: str, handler: PortHandler) -> Close:
        """Serve ``spec`` by a handler of this process until the returned function is called.
        Raises OSError(EADDRINUSE)."""
        if spec in self._handlers:
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
        self._handlers[spec] = handler
        return lambda: _forget(self._handlers, spec, handler)

    async def listen(self, spec: str, handler: PortHandler) -> tuple[str, Close]:
        """Like ``listen_here``, but reachable for the phone's processes too where there are any.
        ``tcp:0`` picks a port; the first result is the real spec. Raises OSError."""
        if self._userland is None:
            spec = self._free_port() if spec == "tcp:0" else spec
            return spec, self.listen_here(spec, handler)
        if spec in self._handlers:
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
        sock = await self._userland.listen(spec)
        if spec == "tcp:0":
            spec = f"tcp:{sock.getsockname()[1]}"
        sock.setblocking(False)
        server = await asyncio.start_server(self._guarded(handler), sock=sock)
        return spec, server.close

    async def connect(self, spec: str) -> Connection | None:
        """A connection to ``spec``, None when nothing listens there."""
        handler = self._handlers.get(spec)
        if handler is not None:
            return await self._connect_here(handler)
        if self._userland is None:
            return None
        sock = await self._userland.connect(spec)
        if sock is None:
            return None
        sock.setblocking(False)
        return await _streams(sock)

    async def _connect_here(self, handler: PortHandler) -> Connection:
        ours, theirs = socket.socketpair()
        reader, writer = await _streams(theirs)
        task = asyncio.ensure_future(_serve(handler, reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await _streams(ours)

    def _guarded(self, handler: PortHandler) -> PortHandler:
        async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await _serve(handler, reader, writer)

        return run

    def _free_port(self) -> str:
        self._next_port += 1
        return f"tcp:{self._next_port}"


async def pump(stream: Stream, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy both ways until either side ends: adb knows no half-closed streams."""
    tasks = [
        asyncio.ensure_future(_to_host(stream, reader)),
        asyncio.ensure_future(_from_host(stream, writer)),
    ]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await close_writer(writer)


async def close_writer(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


async def _to_host(stream: Stream, reader: asyncio.StreamReader) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(READ_BYTES):
            await stream.send(data)


async def _from_host(stream: Stream, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await stream.recv():
            writer.write(data)
            await writer.drain()


async def _serve(
    handler: PortHandler, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    try:
        await handler(reader, writer)
    except (ConnectionError, StreamClosed, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def _streams(sock: socket.socket) -> Connection:
    if sock.family == socket.AF_INET:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return await asyncio.open_connection(sock=sock, limit=READ_BYTES)
    return await asyncio.open_unix_connection(sock=sock, limit=READ_BYTES)


def _forget(handlers: dict[str, PortHandler], spec: str, handler: PortHandler) -> None:
    if handlers.get(spec) is handler:
        del handlers[spec]
