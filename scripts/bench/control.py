"""How long a cancel from another process takes, in whole runs on a virtual phone.

From the moment the order is sent over the control socket to: the model's socket is closed (in the
stream), the call under way is recorded (in a tool), and the process has ended, its cleanup on the
phone included.

    PYTHONPATH=. python scripts/bench/control.py [runs]
"""

from __future__ import annotations

import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from measure import figures, table

from bridge.control.client import send
from device_tools.virtual import launcher
from tests.bridge.control.going import PHONE, WAIT, Home
from tests.doubles.provider_server import ScriptedServer, chat_answer, chat_chunk

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


class SilentServer:
    """Begins one answer, says no more, and notes when its client has closed the connection."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        self.begun, self.closed = threading.Event(), threading.Event()
        self.closed_at = 0.0
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        connection, _ = self._listener.accept()
        with connection, self._listener:
            while not connection.recv(65536).endswith(b"}"):
                pass
            connection.sendall(HEAD + chat_chunk({"content": "I look.\n"}))
            self.begun.set()
            while True:
                try:
                    if not connection.recv(65536):
                        break
                except ConnectionResetError:
                    break
            self.closed_at = time.perf_counter()
            self.closed.set()


@contextmanager
def a_home() -> Iterator[Home]:
    with tempfile.TemporaryDirectory(prefix="bridge-bench-") as name:
        folder = Path(name)
        with launcher.start(folder / "virtual" / PHONE, name=PHONE):
            yield Home(folder)


def cancel(home: Home, run: str) -> float:
    """When the order was sent."""
    sent = time.perf_counter()
    send(home.folder, run, {"command": "cancel"})
    return sent


def in_the_stream(home: Home) -> dict[str, float]:
    server = SilentServer()
    model = ("--provider", "openai", "--base-url", server.base_url, "--model", "m")
    argv = [sys.executable, "-m", "bridge", "run", *model, "--device", PHONE, "the task"]
    with home.going(argv) as run:
        name = run.await_event("run_started")["run"]
        server.begun.wait()
        time.sleep(0.2)
        sent = cancel(home, name)
        replied = time.perf_counter()
        server.closed.wait()
        assert run.end() == 130
        return {
            "order and its reply": replied - sent,
            "in the stream: the model's socket is closed": server.closed_at - sent,
            "in the stream: the process has ended": time.perf_counter() - sent,
        }


def in_a_tool(home: Home) -> dict[str, float]:
    with (
        ScriptedServer([chat_answer(WAIT)]) as server,
        home.going(home.argv(server, "the task")) as run,
    ):
        name = run.await_event("run_started")["run"]
        run.await_event("call_intended")
        time.sleep(0.2)
        sent = cancel(home, name)
        assert run.await_event("call_finished")["exit_code"] == 130
        recorded = time.perf_counter()
        assert run.end() == 130
        return {
            "in a call: its end is recorded with exit 130": recorded - sent,
            "in a call: the process has ended": time.perf_counter() - sent,
        }


def main(runs: int) -> None:
    taken: dict[str, list[float]] = {}
    measures: tuple[Callable[[Home], dict[str, float]], ...] = (in_the_stream, in_a_tool)
    with a_home() as home:
        for _ in range(runs):
            for measure in measures:
                for name, seconds in measure(home).items():
                    taken.setdefault(name, []).append(seconds)
    rows = [[name, figures(seconds)] for name, seconds in taken.items()]
    print(table(["from the order to", "ms: median (lowest to highest)"], rows))
    print("\ntarget: the socket is closed within 100 ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
