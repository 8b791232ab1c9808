"""The phone process's control port: state, picture and stop, for the user who owns the phone.

On 127.0.0.1, guarded by a token that stands only in ``phone.json`` (mode 0600). A request is one
JSON line ``{"token", "ask": "state" | "screenshot" | "stop"}``; the answer is one byte, ``+`` or
``-``, then everything until the end of the connection.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress

from device_tools.errors import VirtualPhoneError

ANSWER_SECONDS = 10.0
REQUEST_SECONDS = 5.0
_MAX_REQUEST = 4096

Answer = Callable[[], bytes]


async def serve_control(answers: Mapping[str, Answer], token: str) -> asyncio.Server:
    """Listen on a free port of 127.0.0.1."""

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError, ValueError, RecursionError):
            async with asyncio.timeout(REQUEST_SECONDS):
                answer = _allowed(answers, token, await reader.readline())
            writer.write(b"+" + answer() if answer else b"-")
            await writer.drain()
        writer.close()

    return await asyncio.start_server(accept, "127.0.0.1", 0, limit=_MAX_REQUEST)


def ask(port: int, token: str, what: str) -> bytes:
    """One question to a running phone. Raises VirtualPhoneError when it does not answer."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=ANSWER_SECONDS) as sock:
            sock.sendall(json.dumps({"token": token, "ask": what}).encode() + b"\n")
            with sock.makefile("rb") as file:
                data: bytes = file.read()
    except OSError as error:
        raise VirtualPhoneError(f"the virtual phone does not answer: {error}") from error
    if data[:1] != b"+":
        raise VirtualPhoneError("the virtual phone refused the request")
    return data[1:]


def _allowed(answers: Mapping[str, Answer], token: str, line: bytes) -> Answer | None:
    request = json.loads(line)
    if not isinstance(request, dict):
        return None
    if not hmac.compare_digest(str(request.get("token")).encode(), token.encode()):
        return None
    return answers.get(str(request.get("ask")))
