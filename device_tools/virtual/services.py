"""The table from an adb service name to what serves it; what is absent is refused with CLSE."""

from __future__ import annotations

import asyncio
import socket
import threading
from dataclasses import dataclass, field

from device_tools.virtual.files import DirectoryFiles
from device_tools.virtual.network import PhoneNetwork, pump
from device_tools.virtual.ports import Userland
from device_tools.virtual.reverse import ReverseForwards
from device_tools.virtual.shell_protocol import parse_request
from device_tools.virtual.shell_service import ShellService
from device_tools.virtual.sync_service import serve_sync
from device_tools.virtual.transport import Service, Stream, Transport

_REFUSED = {
    "root": b"adbd cannot run as root in production builds\n",
    "unroot": b"adbd not running as root\n",
}
_RESTARTING = {
    "root": b"restarting adbd as root\n",
    "unroot": b"restarting adbd as non root\n",
}
RESTART_SECONDS = 0.1
"""Between the answer and the end of the connection."""


@dataclass(frozen=True)
class Services:
    """``directory`` serves the files where there is no ``userland``."""

    shell: ShellService
    network: PhoneNetwork
    directory: DirectoryFiles
    userland: Userland | None
    _reverse: dict[Transport, ReverseForwards] = field(default_factory=dict)

    async def open(self, transport: Transport, name: str) -> Service | None:
        """What serves ``name`` on this connection; connects before it answers."""
        request = parse_request(name)
        if request is not None:
            return self.shell.open(request)
        kind, _, rest = name.partition(":")
        if kind == "sync":
            return await self._sync()
        if kind == "reverse":
            return self._reverse_of(transport).service(rest)
        if kind in ("tcp", "localabstract", "localfilesystem"):
            return await self._connect(name)
        return self._identity(kind) if kind in _REFUSED else None

    async def sync_socket(self) -> socket.socket:
        """A socket whose other end is served by ``serve_sync`` on the phone's tree."""
        if self.userland is not None:
            return await self.userland.sync_socket()
        ours, theirs = socket.socketpair()
        # a thread of its own: a host that stops reading must not hold a place in a shared pool
        args = (theirs, self.directory.tree)
        threading.Thread(target=serve_sync, args=args, name="sync", daemon=True).start()
        return ours

    async def _sync(self) -> Service:
        sock = await self.sync_socket()
        sock.setblocking(False)
        reader, writer = await asyncio.open_unix_connection(sock=sock)

        async def serve(stream: Stream) -> None:
            await pump(stream, reader, writer)

        return serve

    def _identity(self, kind: str) -> Service:
        """``adb root`` and ``adb unroot``: adbd starts anew as another user."""
        userland = self.userland
        if userland is None or not userland.may_be_root:
            return _say(_REFUSED[kind])

        async def serve(stream: Stream) -> None:
            await stream.send(_RESTARTING[kind])
            await asyncio.sleep(RESTART_SECONDS)
            await userland.set_root(kind == "root")
            stream.transport.drop()

        return serve

    async def _connect(self, name: str) -> Service | None:
        connection = await self.network.connect(name)
        if connection is None:
            return None

        async def serve(stream: Stream) -> None:
            await pump(stream, *connection)

        return serve

    def _reverse_of(self, transport: Transport) -> ReverseForwards:
        found = self._reverse.get(transport)
        if found is None:
            found = self._reverse[transport] = ReverseForwards(transport, self.network)
            transport.on_close.append(lambda: self._forget(transport))
        return found

    def _forget(self, transport: Transport) -> None:
        self._reverse.pop(transport, None)


def _say(text: bytes) -> Service:
    async def serve(stream: Stream) -> None:
        await stream.send(text)

    return serve
