"""A Chat Completions server on 127.0.0.1 with the demo's rules behind it.

It is a real HTTP peer with a bearer token, so that a run with the demo uses the very path that a
run with a model uses.
"""

from __future__ import annotations

import hmac
import json
import secrets
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from bridge.providers.demo.planner import reply

MODEL = "demo-rules"
_PIECE = 12
_MAX_REQUEST = 64 * 1024 * 1024


class DemoServer:
    """Serves while the context is open. ``key`` is the bearer token it demands."""

    model = MODEL

    def __init__(self) -> None:
        self.key = secrets.token_urlsafe(24)
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.key = self.key
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="bridge-demo", daemon=True
        )

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> DemoServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # a request that the client left must not hold up the end of the run
    block_on_close = False
    key = ""

    def handle_error(self, request: object, client_address: object) -> None:
        """The client may hang up at any time; a traceback on the terminal helps nobody."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        if self.path != "/v1/chat/completions" or not 0 < length <= _MAX_REQUEST:
            return self._refuse(404, "the demo serves POST /v1/chat/completions")
        body = self.rfile.read(length)
        given = self.headers.get("Authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {self.server.key}".encode()):
            return self._refuse(401, "the demo server serves only the run that started it")
        try:
            messages = json.loads(body)["messages"]
            text = reply(messages)
        except (ValueError, KeyError, TypeError):
            return self._refuse(400, "not a Chat Completions request")
        self._stream(chunks(text, prompt_size=_text_size(messages)))

    def _stream(self, events: Iterator[dict[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events:
            self._write(b"data: " + json.dumps(event).encode() + b"\n\n")
        self._write(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _write(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def _refuse(self, status: int, message: str) -> None:
        body = json.dumps({"error": {"message": message, "type": "demo"}}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the run has its own record."""


def _text_size(messages: list[dict[str, Any]]) -> int:
    """Characters of all text; a picture is no text, however long its encoding is."""
    contents = [message.get("content") or "" for message in messages]
    texts = [content for content in contents if isinstance(content, str)]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    return sum(map(len, texts)) + sum(len(part.get("text", "")) for part in parts)


def chunks(text: str, prompt_size: int) -> Iterator[dict[str, Any]]:
    """The chunk objects of one answer. Tokens are estimated as four characters each."""
    yield _chunk({"role": "assistant", "content": ""})
    for start in range(0, len(text), _PIECE):
        yield _chunk({"content": text[start : start + _PIECE]})
    yield _chunk({}, "stop")
    prompt, completion = prompt_size // 4, max(1, len(text) // 4)
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
    yield {**_chunk({}), "choices": [], "usage": usage}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {
        "id": "chatcmpl-demo",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": MODEL,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
