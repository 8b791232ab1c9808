"""A proxy that works, for tests of the way to a server: CONNECT, then bytes both ways.

    with Tunnel(server.port) as proxy:
        ... HTTPS_PROXY=proxy.url ...
    proxy.asked == ["api.example.com:443"]

Whatever name is asked for, the other end is the given port of this machine: the one thing that
stands in for name lookup.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType


@dataclass
class Tunnel:
    """``asked`` are the ``host:port`` of the CONNECTs; ``seen`` all that clients sent."""

    port: int
    asked: list[str] = field(default_factory=list)
    seen: bytearray = field(default_factory=bytearray)

    def __enter__(self) -> Tunnel:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        # close alone does not wake a blocked accept
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(timeout=5)
        self._listener.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                if not (more := client.recv(4096)):
                    return
                head += more
            self.seen += head
            self.asked.append(head.split()[1].decode())
            with socket.create_connection(("127.0.0.1", self.port)) as server:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                back = threading.Thread(target=_relay, args=(server, client), daemon=True)
                back.start()
                while data := client.recv(65536):
                    self.seen += data
                    server.sendall(data)
                with suppress(OSError):
                    server.shutdown(socket.SHUT_WR)
                back.join(timeout=5)


def _relay(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
