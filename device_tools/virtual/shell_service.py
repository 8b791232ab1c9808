"""The ``shell:`` and ``exec:`` services: in the daemon where that will do, else in a child."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from device_tools.virtual.command_line import SimpleCommand
from device_tools.virtual.fd_io import read_fd, shutdown_write, write_fd
from device_tools.virtual.network import PhoneNetwork
from device_tools.virtual.ports import Child, PortHandler, Userland
from device_tools.virtual.runner import Runner, ui_server_port
from device_tools.virtual.shell_protocol import (
    CLOSE_STDIN,
    STDERR,
    STDIN,
    STDOUT,
    WINSIZE,
    ShellRequest,
    host_input,
    parse_window_size,
    send_exit,
    send_output,
)
from device_tools.virtual.transport import Service, Stream, StreamClosed

GRACE_SECONDS = 2.0
"""For each step of ending a child whose host went away: deliver, finish by itself, hang up."""


@dataclass(frozen=True)
class ShellService:
    runner: Runner
    network: PhoneNetwork
    ui_port_handler: PortHandler
    userland: Userland | None

    def open(self, request: ShellRequest) -> Service:
        async def serve(stream: Stream) -> None:
            await self._serve(stream, request)

        return serve

    async def _serve(self, stream: Stream, request: ShellRequest) -> None:
        line = request.command or ""
        port = ui_server_port(line)
        if port is not None:
            await self._ui_server(stream, request, port)
            return
        plan = self.runner.plan(line) if line else None
        cooked = request.pty and not request.raw_pty
        if plan is not None and not (cooked and self.userland):
            await self._run_here(stream, request, plan)
        elif self.userland is None:
            await _send_result(stream, request, b"", self.runner.no_shell, 127)
        else:
            await self._spawn(stream, request, self.userland)

    async def _run_here(
        self, stream: Stream, request: ShellRequest, plan: Sequence[SimpleCommand]
    ) -> None:
        async def stdin(size: int) -> bytes:
            return await _collect(stream, request, size)

        code = 0
        async for result in self.runner.run(plan, stdin):
            await _send_texts(stream, request, result.stdout, result.stderr)
            code = result.code
        await send_exit(stream, request, code)

    async def _ui_server(self, stream: Stream, request: ShellRequest, port: int) -> None:
        """The uiautomator2 server: its port is open for as long as this stream lives."""
        starting = b"[server] INFO: [UiAutomator2Server] Starting Server\n"
        await send_output(stream, request, STDOUT, starting)
        try:
            close = self.network.listen_here(f"tcp:{port}", self.ui_port_handler)
        except OSError:
            text = b"java.net.BindException: bind failed: EADDRINUSE (Address already in use)\n"
            await _send_result(stream, request, b"", text, 1)
            return
        try:
            listening = f"[server] INFO: http server listening on *:{port}\n".encode()
            await send_output(stream, request, STDOUT, listening)
            async for _ in host_input(stream, request):
                pass
        finally:
            close()

    async def _spawn(self, stream: Stream, request: ShellRequest, userland: Userland) -> None:
        try:
            child = await userland.spawn(
                request.command,
                pty=request.pty,
                raw_pty=request.raw_pty,
                merge_stderr=request.merge_stderr,
                env={"TERM": request.term},
            )
        except OSError as error:
            text = f"virtual phone: cannot start a shell: {error}\n".encode()
            await _send_result(stream, request, b"", text, 127)
            return
        await _ChildSession(stream, request, child).run()


class _ChildSession:
    """Moves bytes between the stream and one child until either ends, then ends the other."""

    def __init__(self, stream: Stream, request: ShellRequest, child: Child) -> None:
        self._stream = stream
        self._request = request
        self._child = child

    async def run(self) -> None:
        inbound = asyncio.ensure_future(self._from_host())
        outbound = asyncio.ensure_future(self._to_host())
        gone = asyncio.ensure_future(self._stream.closed.wait())
        try:
            await asyncio.wait({outbound, gone}, return_when=asyncio.FIRST_COMPLETED)
            if outbound.done() and not gone.done():
                outbound.result()
                code = await self._child.wait()
                await send_exit(self._stream, self._request, code)
            else:
                await self._host_left(inbound)
        finally:
            for task in (inbound, outbound, gone):
                task.cancel()
            await asyncio.gather(inbound, outbound, gone, return_exceptions=True)
            await self._end()

    async def _from_host(self) -> None:
        child = self._child
        with suppress(ConnectionError):
            async for ident, data in host_input(self._stream, self._request):
                if ident == STDIN:
                    await write_fd(child.stdin_fd, data)
                elif ident == CLOSE_STDIN and not self._request.pty:
                    shutdown_write(child.stdin_fd)
                elif ident == WINSIZE and (size := parse_window_size(data)):
                    child.resize(size)

    async def _to_host(self) -> None:
        pumps = [self._copy(self._child.stdout_fd, STDOUT)]
        if self._child.stderr_fd is not None:
            pumps.append(self._copy(self._child.stderr_fd, STDERR))
        await asyncio.gather(*pumps)

    async def _copy(self, fd: int, ident: int) -> None:
        with suppress(StreamClosed):
            while data := await read_fd(fd):
                await send_output(self._stream, self._request, ident, data)

    async def _host_left(self, inbound: asyncio.Future[None]) -> None:
        """Deliver what was received; a program fed by exec: may then finish by itself."""
        await asyncio.wait({inbound}, timeout=GRACE_SECONDS)
        if self._request.exec:
            shutdown_write(self._child.stdin_fd)
            await self._wait_briefly()

    async def _end(self) -> None:
        if not self._request.pty:
            self._child.hangup()
        self._child.close()
        if not await self._wait_briefly():
            self._child.kill()

    async def _wait_briefly(self) -> bool:
        try:
            await asyncio.wait_for(asyncio.shield(self._child.wait()), GRACE_SECONDS)
        except TimeoutError:
            return False
        return True


async def _send_result(
    stream: Stream, request: ShellRequest, stdout: bytes, stderr: bytes, code: int
) -> None:
    await _send_texts(stream, request, stdout, stderr)
    await send_exit(stream, request, code)


async def _send_texts(stream: Stream, request: ShellRequest, stdout: bytes, stderr: bytes) -> None:
    if request.pty and not request.raw_pty:
        stdout, stderr = (text.replace(b"\n", b"\r\n") for text in (stdout, stderr))
    if stdout:
        await send_output(stream, request, STDOUT, stdout)
    if stderr:
        ident = STDOUT if request.merge_stderr else STDERR
        await send_output(stream, request, ident, stderr)


async def _collect(stream: Stream, request: ShellRequest, size: int) -> bytes:
    data = bytearray()
    if size:
        async for ident, piece in host_input(stream, request):
            data += piece if ident == STDIN else b""
            if len(data) >= size or ident == CLOSE_STDIN:
                break
    return bytes(data[:size])
