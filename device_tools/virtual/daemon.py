"""The phone's adb daemon: the listening socket, and everything a connection needs, wired up."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass, field

from device_tools.virtual.files import DirectoryFiles
from device_tools.virtual.network import PhoneNetwork
from device_tools.virtual.ports import Files, Framework, PortHandler, Userland
from device_tools.virtual.runner import NO_SHELL, Runner
from device_tools.virtual.services import Services
from device_tools.virtual.shell_service import ShellService
from device_tools.virtual.socket_files import SocketFiles
from device_tools.virtual.transport import Transport

FEATURES = (
    "shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir,fixed_push_symlink_timestamp,"
    "sendrecv_v2,apex,remount_shell,track_app"
)
BANNER = (
    "device::ro.product.name=vphone;ro.product.model=Virtual_Phone;"
    f"ro.product.device=vphone;features={FEATURES}"
)
EMULATOR_PORTS = range(5554, 5588)
"""The adb server takes whatever listens here for an emulator, so a phone must not."""


@dataclass
class AdbDaemon:
    """Serves the phone over adb on 127.0.0.1; ``files`` is what its commands read and write."""

    port: int
    files: Files
    services: Services
    _server: asyncio.Server | None = None
    _connections: set[asyncio.Task[None]] = field(default_factory=set)

    async def stop(self) -> None:
        """Close the socket and every connection, and wait for their services to end."""
        if self._server is not None:
            self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        if isinstance(self.files, SocketFiles):
            self.files.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sock: socket.socket = writer.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        task = asyncio.ensure_future(Transport(reader, writer, self.services.open, BANNER).run())
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)
        await asyncio.wait({task})


async def start_daemon(
    framework: Framework,
    ui_port_handler: PortHandler,
    directory: DirectoryFiles,
    userland: Userland | None = None,
    *,
    no_shell: str = "",
) -> AdbDaemon:
    """Listen on a free port outside the emulator range. ``directory`` holds the phone's files where
    there is no userland; ``no_shell`` is why there is none, told to whoever asks for a shell."""
    files: Files = SocketFiles(await userland.sync_socket()) if userland else directory
    network = PhoneNetwork(userland)
    said = f"{no_shell}\n".encode() if no_shell else NO_SHELL
    runner = Runner(framework, files, userland is not None, said)
    shell = ShellService(runner, network, ui_port_handler, userland)
    sock = _listen()
    port = int(sock.getsockname()[1])
    daemon = AdbDaemon(port, files, Services(shell, network, directory, userland))
    daemon._server = await asyncio.start_server(daemon._accept, sock=sock)
    return daemon


def _listen() -> socket.socket:
    while True:
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        sock.bind(("127.0.0.1", 0))
        if sock.getsockname()[1] not in EMULATOR_PORTS:
            sock.listen(16)
            sock.setblocking(False)
            return sock
        sock.close()
