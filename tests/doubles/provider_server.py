"""A model server for tests: answers scripted bytes, delays and hang-ups over a real socket.

    with ScriptedServer([chat_answer("hello"), Answer([HangUp()])]) as server:
        ... use server.base_url as the base URL of a provider ...
    server.requests[0].json["messages"]

Each POST takes the next answer; when none is left the server says 500. Bytes are sent exactly as
written, one HTTP chunk per step, flushed at once.
"""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True)
class Delay:
    """Nothing is sent for ``seconds``, or until the client is gone or the server stops."""

    seconds: float


@dataclass(frozen=True)
class HangUp:
    """The connection ends in the middle of the body; with ``reset`` by RST."""

    reset: bool = False


@dataclass(frozen=True)
class Do:
    """Call something in the server's thread, for tests that need to know how far it is."""

    what: Callable[[], object]


Step = bytes | Delay | HangUp | Do


@dataclass(frozen=True)
class Answer:
    """``head`` None sends the status line and headers given; bytes replace them (b"" sends none,
    so that a first ``HangUp`` ends the connection before any response)."""

    steps: Sequence[Step]
    status: int = 200
    content_type: str = "text/event-stream"
    headers: tuple[tuple[str, str], ...] = ()
    head: bytes | None = None


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def event(data: object) -> bytes:
    """One server-sent event with ``data`` as JSON."""
    return b"data: " + json.dumps(data, ensure_ascii=False).encode() + b"\n\n"


def chat_chunk(
    delta: dict[str, Any] | None = None,
    finish: str | None = None,
    usage: tuple[int, int] | None = None,
) -> bytes:
    """One chat.completion.chunk event; usage is (prompt, completion) tokens with no choices."""
    chunk: dict[str, Any] = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m"}
    chunk["choices"] = (
        [] if usage else [{"index": 0, "delta": delta or {}, "finish_reason": finish}]
    )
    if usage:
        chunk["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    return event(chunk)


def chat_answer(
    text: str, finish: str | None = "stop", usage: tuple[int, int] | None = (10, 5), size: int = 7
) -> Answer:
    """A whole streamed answer in deltas of ``size`` characters, ended by ``[DONE]``."""
    steps: list[Step] = [
        chat_chunk({"content": text[start : start + size]}) for start in range(0, len(text), size)
    ]
    if finish is not None:
        steps.append(chat_chunk(finish=finish))
    if usage is not None:
        steps.append(chat_chunk(usage=usage))
    return Answer([*steps, DONE])


def cut(stream: bytes, size: int) -> list[Step]:
    """The same bytes in steps of ``size``."""
    return [stream[start : start + size] for start in range(0, len(stream), size)]


@dataclass
class ScriptedServer:
    """``tls`` makes it an https server."""

    answers: Iterable[Answer]
    requests: list[Request] = field(default_factory=list)
    tls: ssl.SSLContext | None = None

    def __enter__(self) -> ScriptedServer:
        self._answers = iter(self.answers)
        self._stopped = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._stopped.set()
        # close alone does not wake a blocked accept
        self._listener.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(timeout=5)
        self._listener.close()

    @property
    def port(self) -> int:
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def base_url(self) -> str:
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}/v1"

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, raw: socket.socket) -> None:
        with raw, suppress(OSError):
            self._serve_on(raw if self.tls is None else self.tls.wrap_socket(raw, server_side=True))

    def _serve_on(self, connection: socket.socket) -> None:
        with connection:
            try:
                request = _read_request(connection)
                if request is None:
                    return
                self.requests.append(request)
                answer = next(self._answers, Answer([b"no answer is left"], 500, "text/plain"))
                self._send(connection, answer)
            except OSError:
                return  # the client left, which is its right

    def _send(self, connection: socket.socket, answer: Answer) -> None:
        connection.sendall(_head(answer) if answer.head is None else answer.head)
        for step in answer.steps:
            if isinstance(step, HangUp):
                if step.reset:
                    linger = struct.pack("ii", 1, 0)
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                return
            if isinstance(step, Delay):
                self._pause(connection, step.seconds)
            elif isinstance(step, Do):
                step.what()
            elif step:
                connection.sendall(b"%x\r\n%b\r\n" % (len(step), step))
        connection.sendall(b"0\r\n\r\n")

    def _pause(self, connection: socket.socket, seconds: float) -> None:
        connection.settimeout(0.01)
        for _ in range(max(1, int(seconds / 0.01))):
            if self._stopped.is_set():
                break
            try:
                if connection.recv(1) == b"":
                    raise ConnectionAbortedError("the client left")
            except TimeoutError:
                continue
        connection.settimeout(None)


def _head(answer: Answer) -> bytes:
    lines = [
        f"HTTP/1.1 {answer.status} Scripted",
        f"Content-Type: {answer.content_type}",
        "Transfer-Encoding: chunked",
        "Connection: close",
        *(f"{name}: {value}" for name, value in answer.headers),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _read_request(connection: socket.socket) -> Request | None:
    with connection.makefile("rb") as stream:
        line = stream.readline()
        if not line:
            return None
        headers: dict[str, str] = {}
        for raw in iter(stream.readline, b"\r\n"):
            name, _, value = raw.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        body = stream.read(int(headers.get("content-length", "0")))
        return Request(line.split()[1].decode(), headers, body)
