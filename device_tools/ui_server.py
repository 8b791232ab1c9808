"""The uiautomator2 server on the phone: started by its own client, called by our own requests.

The only importer of uiautomator2. Its client resends a request after some failures, whatever
the request does, and its time-outs reach no socket; so actions travel here: one connection,
one write, one deadline, never sent again.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from device_tools import limits
from device_tools.adb import AdbPhone, client_errors
from device_tools.adb_server import AdbStream, ServiceRefused
from device_tools.errors import (
    ActionRefused,
    DeviceDisconnected,
    DeviceError,
    DeviceTimeout,
    Outcome,
    UiServerError,
)
from device_tools.limits import Deadline, Limit

PORT = 9008
MAX_ANSWER = 64 * 1024 * 1024
_LOOK = "observe the screen to see whether it happened"


class _NotListening(UiServerError):
    """Nothing accepts connections on the port: nothing was sent."""


class _Lost(UiServerError):
    """The request arrived and no usable answer came back; the server needs a restart."""


@dataclass(frozen=True)
class _Reply:
    status: int
    body: bytes


class UiServer:
    """Safe to use from several threads."""

    def __init__(self, phone: AdbPhone, launch_limit: Limit = limits.UI_LAUNCH) -> None:
        self.phone = phone
        self.launch_limit = launch_limit
        self._client: Any = None
        self._restart = threading.Lock()
        self._generation = 0
        self._sick = False

    def start(self) -> None:
        """Make sure the server answers; it is launched through the client when it does not.

        Raises:
            UiServerError: it does not come up, or another automation tool holds its place.
        """
        with self._restart:
            if not self._alive():
                self._launch()

    def read(self, method: str, params: object = None, limit: Limit = limits.UI_READ) -> Any:
        """A call without effect; tried once more behind a restart when the answer was lost."""
        generation = self._generation
        with _public_errors():
            try:
                return self._call(method, params, limit)
            except (_NotListening, _Lost, DeviceDisconnected):
                self._revive(generation)
                return self._call(method, params, limit)

    def device_info(self) -> dict[str, Any]:
        """Size, rotation, package in front, screen on: the server's ``deviceInfo``."""
        facts = self.read("deviceInfo")
        if not isinstance(facts, dict):
            raise UiServerError("the UI server told nothing about the device")
        return facts

    def act(self, method: str, params: object = None, limit: Limit = limits.UI_ACTION) -> Any:
        """A call with an effect: sent at most once.

        Raises:
            ActionRefused: the phone did not do it.
            UiServerError, DeviceDisconnected, DeviceTimeout: with UNKNOWN when it may have
                happened, NOT_SENT when it cannot have.
        """
        if self._sick:
            self._revive(self._generation)
        generation = self._generation
        with _public_errors():
            try:
                result = self._call(method, params, limit)
            except _NotListening:
                # nothing left the host yet, so this is still the first time it is sent
                self._revive(generation)
                result = self._call(method, params, limit)
        if result is False:
            raise ActionRefused(
                f"the phone did not carry out {method}", advice="observe the screen again"
            )
        return result

    def close(self) -> None:
        """Stop the server if this object launched it. Never raises, takes a bounded time."""
        client, self._client = self._client, None
        if client is None:
            return
        atexit.unregister(client.stop_uiautomator)
        stop = threading.Thread(target=_stop_quietly, args=(client,), daemon=True)
        stop.start()
        stop.join(limits.UI_STOP.seconds)

    def _call(self, method: str, params: object, limit: Limit) -> Any:
        request = {"jsonrpc": "2.0", "id": 1, "method": method}
        request["params"] = params if params is not None else {}
        try:
            reply = self._http("POST", "/jsonrpc/0", json.dumps(request).encode(), limit)
            return _result(method, reply)
        except (_Lost, DeviceTimeout, DeviceDisconnected) as error:
            self._sick = self._sick or error.outcome is Outcome.UNKNOWN
            raise

    def _http(self, verb: str, path: str, body: bytes, limit: Limit) -> _Reply:
        head = (
            f"{verb} {path} HTTP/1.1\r\nHost: localhost:{PORT}\r\nAccept-Encoding: \r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            "Connection: close\r\n\r\n"
        )
        with contextlib.ExitStack() as stack:
            try:
                stream = stack.enter_context(self.phone.service(f"tcp:{PORT}", limit))
            except ServiceRefused as refusal:
                raise _NotListening(f"the UI server is not running: {refusal.message}") from refusal
            stream.outcome = Outcome.UNKNOWN
            stream.send(head.encode() + body)
            return _read_reply(stream)

    def _alive(self) -> bool:
        try:
            return self._http("GET", "/ping", b"", limits.UI_PING).body == b"pong"
        except (_NotListening, _Lost, DeviceDisconnected, DeviceTimeout):
            return False

    def _revive(self, generation: int) -> None:
        """Restart the server, once for all threads that found the same one broken."""
        with self._restart:
            if generation != self._generation:
                return
            self._stop_running()
            self._launch()
            self._generation += 1
            self._sick = False

    def _stop_running(self) -> None:
        """End a server that answers but cannot work, and wait until it has."""
        if self._client is not None:
            # also when it is dead already: the stream that launched it is still open here
            _stop_quietly(self._client)
        if not self._alive():
            return
        deadline = Deadline(limits.UI_STOP)
        with contextlib.suppress(DeviceError):
            self._http("GET", "/stop", b"", limits.UI_STOP)
        while self._alive():
            self.phone.cancel.wait(min(0.1, deadline.remaining()))

    def _launch(self) -> None:
        import uiautomator2
        from uiautomator2.exceptions import BaseException as ClientError

        with client_errors(self.phone, self.launch_limit, ClientError, _launch_error):
            if self._client is None:
                self._client = uiautomator2.connect(self.phone.client_device(), port=PORT)
            else:
                self._client.start_uiautomator()


@contextlib.contextmanager
def _public_errors() -> Iterator[None]:
    try:
        yield
    except (_NotListening, _Lost) as error:
        raise UiServerError(error.message, advice=error.advice, outcome=error.outcome) from error


def _stop_quietly(client: Any) -> None:
    with contextlib.suppress(OSError):
        client.stop_uiautomator(wait=False)


def _launch_error(text: str) -> DeviceError:
    if "already registered" in text:
        return UiServerError(
            "another UI automation tool is active on the phone",
            advice="stop it there (Appium, another bridge, an accessibility test), then try again",
        )
    line = " ".join(text.split())[:300]
    return UiServerError(f"the UI server does not start: {line}", advice="run `bridge doctor`")


def _read_reply(stream: AdbStream) -> _Reply:
    """Status and body of one HTTP answer; the body ends at Content-Length."""
    data = bytearray()
    while (end := data.find(b"\r\n\r\n")) < 0:
        piece = stream.read(65536)
        if not piece or len(data) > 65536:
            raise _Lost("the UI server hung up", advice=_LOOK, outcome=Outcome.UNKNOWN)
        data += piece
    lines = data[:end].decode("latin-1").split("\r\n")
    length = _content_length(lines[1:])
    body = data[end + 4 :]
    while len(body) < length:
        piece = stream.read(min(1 << 20, length - len(body)))
        if not piece:
            raise _Lost("the UI server hung up", advice=_LOOK, outcome=Outcome.UNKNOWN)
        body += piece
    status = lines[0].split(" ")
    return _Reply(int(status[1]) if len(status) > 1 and status[1].isdigit() else 0, bytes(body))


def _content_length(headers: list[str]) -> int:
    for header in headers:
        name, _, value = header.partition(":")
        if name.strip().lower() == "content-length" and value.strip().isdigit():
            length = int(value)
            if length <= MAX_ANSWER:
                return length
    raise _Lost("the UI server's answer has no usable length", outcome=Outcome.UNKNOWN)


def _result(method: str, reply: _Reply) -> Any:
    if reply.status != 200:
        raise _Lost(
            f"the UI server answered {method} with HTTP {reply.status}",
            advice=_LOOK,
            outcome=Outcome.UNKNOWN,
        )
    try:
        answer = json.loads(reply.body)
    except ValueError:
        answer = None
    if isinstance(answer, dict) and isinstance(answer.get("error"), dict):
        raise _rpc_error(method, answer["error"])
    if not isinstance(answer, dict) or "result" not in answer:
        raise _Lost(
            f"the UI server's answer to {method} is no result",
            advice=_LOOK,
            outcome=Outcome.UNKNOWN,
        )
    return answer["result"]


def _rpc_error(method: str, error: dict[str, Any]) -> DeviceError:
    text = f"{error.get('message', '')} {error.get('data', '')}"
    line = " ".join(text.split())[:300]
    if "INJECT_EVENTS" in text:
        return ActionRefused(
            "the phone does not let debugging tools touch the screen",
            advice="enable 'USB debugging (Security settings)' in the developer options",
        )
    if "UiObjectNotFoundException" in text:
        return ActionRefused(f"{method}: no such view on the screen now", advice="observe again")
    if error.get("code") in (-32601, -32602):
        return UiServerError(f"the UI server does not know this call: {method}")
    if "UiAutomation not connected" in text or "android.os.Dead" in text:
        return _Lost(
            "the UI server lost its connection to Android", advice=_LOOK, outcome=Outcome.UNKNOWN
        )
    return UiServerError(f"{method} failed: {line}", advice=_LOOK, outcome=Outcome.UNKNOWN)
