"""Requests to the UI server: at most once, one deadline, and what each failure means."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from device_tools.adb import AdbPhone
from device_tools.cancel import CancelScope
from device_tools.errors import (
    ActionRefused,
    BridgeError,
    Cancelled,
    DeviceDisconnected,
    DeviceTimeout,
    Outcome,
    UiServerError,
)
from device_tools.limits import Limit
from device_tools.ui_server import UiServer
from tests.doubles.adb_server import AdbServerDouble, adb_server, answer

SHORT = Limit("a short test", 0.4)
Reply = Callable[[socket.socket], None]


@contextmanager
def ui_server(
    reply: Reply, cancel: CancelScope | None = None
) -> Iterator[tuple[UiServer, AdbServerDouble]]:
    def serve(sock: socket.socket, request: str) -> None:
        assert request == "tcp:9008"
        sock.sendall(b"OKAY")
        double.read_http(sock)
        reply(sock)

    with adb_server(serve) as double:
        yield UiServer(AdbPhone("fake-1", double.address, cancel or CancelScope())), double


def saying(body: bytes, status: str = "200 OK") -> Reply:
    return lambda sock: answer(sock, body, status)


def rpc_error(message: str, data: str = "", code: int = -32001) -> Reply:
    error = {"code": code, "message": message, "data": data}
    return saying(json.dumps({"jsonrpc": "2.0", "id": 1, "error": error}).encode())


def trickle(sock: socket.socket) -> None:
    for byte in b"HTTP/1.1 200 OK":
        sock.sendall(bytes([byte]))
        time.sleep(0.1)


def silence(_sock: socket.socket) -> None:
    time.sleep(1.5)


def hang_up(_sock: socket.socket) -> None:
    return


def reset(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


DEAD = "android.os.DeadObjectException"
DENIED = "Injecting to another application requires INJECT_EVENTS permission"


@pytest.mark.parametrize(
    ("reply", "error", "outcome"),
    [
        (
            saying(b"Internal Server Error!!!", "500 Internal Server Error"),
            UiServerError,
            "UNKNOWN",
        ),
        (saying(b"not json"), UiServerError, "UNKNOWN"),
        (saying(b'{"jsonrpc":"2.0","id":1}'), UiServerError, "UNKNOWN"),
        (rpc_error(DEAD), UiServerError, "UNKNOWN"),
        (rpc_error("java.lang.RuntimeException", "boom"), UiServerError, "UNKNOWN"),
        (hang_up, UiServerError, "UNKNOWN"),
        (reset, DeviceDisconnected, "UNKNOWN"),
        (silence, DeviceTimeout, "UNKNOWN"),
        (trickle, DeviceTimeout, "UNKNOWN"),
        (saying(b'{"jsonrpc":"2.0","id":1,"result":false}'), ActionRefused, "NOT_SENT"),
        (rpc_error("java.lang.SecurityException", DENIED), ActionRefused, "NOT_SENT"),
        (
            rpc_error("androidx.test.uiautomator.UiObjectNotFoundException"),
            ActionRefused,
            "NOT_SENT",
        ),
        (rpc_error("method not found", code=-32601), UiServerError, "NOT_SENT"),
    ],
)
def test_an_action_is_sent_once_whatever_happens(
    reply: Reply, error: type[BridgeError], outcome: str
) -> None:
    """Every failure behind the request ends in one request, the right error and outcome."""
    started = time.monotonic()
    with ui_server(reply) as (ui, double), pytest.raises(error) as caught:
        ui.act("click", [1, 2], SHORT)
    assert type(caught.value) is error
    assert caught.value.outcome is Outcome(outcome)
    assert len(double.bodies) == 1
    assert time.monotonic() - started < 1.0


def test_a_refused_injection_names_the_setting() -> None:
    """The vendor's permission text is answered with where to allow it."""
    refusal = rpc_error("java.lang.SecurityException", DENIED)
    with ui_server(refusal) as (ui, _), pytest.raises(ActionRefused) as caught:
        ui.act("click", [1, 2])
    assert "Security settings" in caught.value.advice


def test_the_result_is_returned() -> None:
    """The value of ``result`` comes back, and the request is one whole JSON-RPC object."""
    with ui_server(saying(b'{"jsonrpc":"2.0","id":1,"result":true}')) as (ui, double):
        assert ui.act("click", [1, 2]) is True
    assert double.bodies == [b'{"jsonrpc": "2.0", "id": 1, "method": "click", "params": [1, 2]}']


def test_a_launch_that_hangs_ends_in_time() -> None:
    """The client library waits without limit; its sockets are hung up when ours is over."""
    ended = threading.Event()

    def serve(sock: socket.socket, request: str) -> None:
        if request == "tcp:9008":
            sock.sendall(b"FAIL0006closed")
        else:
            ended.wait(20)

    with adb_server(serve) as double:
        ui = UiServer(AdbPhone("fake-1", double.address, CancelScope()), SHORT)
        started = time.monotonic()
        with pytest.raises(DeviceTimeout, match="a short test took longer"):
            ui.start()
        assert time.monotonic() - started < 10
        ended.set()


def test_cancel_ends_a_waiting_action_as_unknown() -> None:
    """Cancelling closes the socket: the wait ends at once and the outcome is not known."""
    scope = CancelScope()
    with ui_server(silence, scope) as (ui, _):
        timer = threading.Timer(0.1, scope.cancel)
        timer.start()
        started = time.monotonic()
        with pytest.raises(Cancelled) as caught:
            ui.act("click", [1, 2])
        timer.join()
    assert caught.value.outcome is Outcome.UNKNOWN
    assert time.monotonic() - started < 0.5
