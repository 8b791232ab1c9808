"""The HTTP side of the uiautomator2 server: /ping, /jsonrpc/0, /screenshot/0 (NanoHTTPD 2.3.1).

``handle`` serves one connection of a listening socket; the adb daemon decides when it listens.
"""

from __future__ import annotations

import asyncio
import json
from email.utils import formatdate

from device_tools.virtual.ui.rpc import RpcServer
from device_tools.virtual.ui.screen import TouchScreen, png
from device_tools.virtual.ui.service_times import BusyTime

_MAX_HEAD = 16 * 1024
_MAX_BODY = 16 * 1024 * 1024
_IDLE_LIMIT = 60.0


class HttpServer:
    """Keep-alive; one request after the other on a connection."""

    def __init__(self, rpc: RpcServer, screen: TouchScreen, busy: BusyTime) -> None:
        self._busy = busy
        self._rpc = rpc
        self._screen = screen

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve until the peer closes, sends what is no HTTP, or is silent for a minute."""
        try:
            while await self._serve_one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, TimeoutError):
            pass
        finally:
            writer.close()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _IDLE_LIMIT)
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, *_ = [*first.split(" "), "", ""]
        headers = {
            key.strip().lower(): value.strip()
            for key, _, value in (line.partition(":") for line in lines if line)
        }
        length = headers.get("content-length", "0")
        if len(head) > _MAX_HEAD or not length.isdigit() or int(length) > _MAX_BODY:
            return False
        body = await asyncio.wait_for(reader.readexactly(int(length)), _IDLE_LIMIT)
        with self._busy.serving():
            answer = await self._respond(method, path.partition("?")[0], body)
        writer.write(answer)
        await writer.drain()
        return headers.get("connection", "").lower() != "close"

    async def _respond(self, method: str, path: str, body: bytes) -> bytes:
        if path == "/ping":
            return _response("200 OK", "text/plain", b"pong")
        if path == "/jsonrpc/0" and method == "POST":
            return await self._call(body)
        if path == "/screenshot/0":
            return _response(
                "200 OK", "image/png", await asyncio.to_thread(png, self._screen.picture_job())
            )
        return _response("404 Not Found", "text/plain", b"Not Found!!!")

    async def _call(self, body: bytes) -> bytes:
        try:
            request = json.loads(body)
        except ValueError:
            return _response("500 Internal Server Error", "text/plain", b"Internal Server Error!!!")
        answer = await self._rpc.answer(request)
        return _response("200 OK", "application/json", json.dumps(answer).encode())


def _response(status: str, kind: str, body: bytes) -> bytes:
    head = (
        f"HTTP/1.1 {status} \r\nContent-Type: {kind}\r\nDate: {formatdate(usegmt=True)}\r\n"
        f"Connection: keep-alive\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode("latin-1") + body
