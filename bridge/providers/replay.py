"""Play a recording back: a server on this machine that answers as the recorded one did.

The request goes through the same wire over a real socket, so a fault of a server can be looked
into without the server. Requests are answered in order, whatever they ask.
"""

from __future__ import annotations

import base64
import hmac
import json
import secrets
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

from bridge.errors import ConfigurationError
from bridge.providers.recording import VERSION
from bridge.providers.tap import Ending

LONGEST_PAUSE = 2.0
_PASSED_HEADERS = ("content-type", "retry-after")
_LARGEST = 256 * 1024 * 1024


@dataclass
class RecordedAnswer:
    """One exchange. ``status`` 0: there was no response. ``chunks``: seconds since the one before
    and the bytes."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    chunks: list[tuple[float, bytes]] = field(default_factory=list)
    ending: Ending = Ending.LEFT


@dataclass(frozen=True)
class Recorded:
    """A whole recording: ``about`` has ``provider``, ``model``, ``wire`` and ``protocol``."""

    about: Mapping[str, str]
    answers: tuple[RecordedAnswer, ...]


def read_recording(path: Path) -> Recorded:
    """Read and check a recording.

    Raises:
        ConfigurationError: it cannot be read, is none, or is from a newer program.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise _no_recording(path, "it is too large")
        lines = path.read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines[:-1]]
        # a run that was killed leaves half a line at the end
        records += _last(lines)
        head = records[0]
        if head["type"] != "recording":
            raise _no_recording(path, "the first line is none of a recording")
        if head["v"] != VERSION:
            raise _no_recording(path, f"it has version {head['v']}, this program knows {VERSION}")
        about = {key: str(head[key]) for key in ("provider", "model", "wire", "protocol")}
        return Recorded(about, tuple(_answers(records[1:])))
    except OSError as error:
        raise _no_recording(path, error.strerror or "it cannot be read") from error
    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise _no_recording(path, f"{type(error).__name__} while reading it") from error


class ReplayServer:
    """Serves while the context is open. ``key`` is the bearer token it demands."""

    def __init__(self, recorded: Recorded) -> None:
        self.key = secrets.token_urlsafe(24)
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.key = self.key
        self._server.answers = iter(recorded.answers)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="bridge-replay", daemon=True
        )

    @property
    def base_url(self) -> str:
        # without a path, so that a recorded second attempt below /v1 is one here too
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> ReplayServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._server.stopped.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # an answer that the client left must not hold up the end of the run
    block_on_close = False
    key = ""
    answers: Iterator[RecordedAnswer]

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self.stopped = threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        """The client may hang up at any time; a traceback on the terminal helps nobody."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.close_connection = True
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if not self._has_key():
            return self._refuse(401, "the replay serves only the run that started it")
        answer = next(self.server.answers, None)
        if answer is None:
            return self._refuse(410, "the recording has no further answer")
        if answer.status:
            self._play(answer)

    def _has_key(self) -> bool:
        given = self.headers.get("Authorization") or self.headers.get("x-api-key") or ""
        return hmac.compare_digest(given.removeprefix("Bearer ").encode(), self.server.key.encode())

    def _play(self, answer: RecordedAnswer) -> None:
        self.send_response(answer.status)
        for name in _PASSED_HEADERS:
            if name in answer.headers:
                self.send_header(name, answer.headers[name])
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        for pause, data in answer.chunks:
            self.server.stopped.wait(min(pause, LONGEST_PAUSE))
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        if answer.ending is Ending.CLOSED:
            self.wfile.write(b"0\r\n\r\n")
        elif answer.ending is Ending.LEFT:
            # where the client left once, it will leave again
            self.server.stopped.wait(LONGEST_PAUSE)

    def _refuse(self, status: int, message: str) -> None:
        body = json.dumps({"error": {"message": message, "type": "replay"}}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the run has its own record."""


def _last(lines: list[str]) -> list[Any]:
    try:
        return [json.loads(lines[-1])]
    except ValueError:
        return []


def _answers(records: list[dict[str, Any]]) -> list[RecordedAnswer]:
    answers: dict[int, RecordedAnswer] = {}
    heard: dict[int, float] = {}
    for record in records:
        number, milliseconds = record["n"], float(record.get("ms", 0))
        answer = answers.setdefault(number, RecordedAnswer())
        match record["type"]:
            case "response":
                answer.status = int(record["status"])
                answer.headers = {key.lower(): str(v) for key, v in record["headers"].items()}
            case "chunk":
                pause = max(0.0, (milliseconds - heard.get(number, milliseconds)) / 1000)
                answer.chunks.append((pause, _bytes(record)))
            case "end":
                answer.ending = Ending(record["how"])
        heard[number] = milliseconds
    return list(answers.values())


def _bytes(record: Mapping[str, Any]) -> bytes:
    if "text" in record:
        return str(record["text"]).encode("utf-8", "surrogatepass")
    return base64.b64decode(record["base64"])


def _no_recording(path: Path, why: str) -> ConfigurationError:
    return ConfigurationError(
        f"{path} cannot be played back: {why}",
        advice="recordings are made with bridge run --record FILE",
    )
