"""A small adb server on a real socket, for what a real one never does on demand.

It answers ``host:`` questions, switches to the only device ``fake-1``, and then serves one
``tcp:9008`` or ``shell,v2`` stream by a function of the test.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from device_tools.adb_server import AdbAddress

Service = Callable[[socket.socket, str], None]


class AdbServerDouble:
    """``requests``: the services opened; ``bodies``: the HTTP bodies that arrived."""

    def __init__(self, service: Service, devices: str) -> None:
        self.requests: list[str] = []
        self.bodies: list[bytes] = []
        self._service = service
        self._devices = devices
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = AdbAddress("127.0.0.1", self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def read_http(self, sock: socket.socket) -> bytes:
        data = b""
        while b"\r\n\r\n" not in data:
            data += sock.recv(65536)
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        while len(body) < length:
            body += sock.recv(65536)
        self.bodies.append(body)
        return body

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        # the client may hang up at any moment, and a script may still be writing then
        with sock, contextlib.suppress(OSError):
            while size := sock.recv(4):
                request = sock.recv(int(size, 16)).decode()
                self.requests.append(request)
                if request == "host:devices-l":
                    listed = self._devices.encode()
                    sock.sendall(b"OKAY%04x" % len(listed) + listed)
                elif request.startswith("host:tport:serial:"):
                    sock.sendall(b"OKAY" + bytes(8))
                else:
                    self._service(sock, request)
                    return


@contextmanager
def adb_server(
    service: Service, devices: str = "fake-1 device model:Fake\n"
) -> Iterator[AdbServerDouble]:
    double = AdbServerDouble(service, devices)
    try:
        yield double
    finally:
        double.close()


def answer(sock: socket.socket, body: bytes, status: str = "200 OK") -> None:
    """One HTTP answer as the UI server writes it."""
    head = f"HTTP/1.1 {status} \r\nContent-Length: {len(body)}\r\n\r\n"
    sock.sendall(head.encode() + body)
