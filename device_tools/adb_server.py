"""The adb server's own protocol: one connection per request, each under one whole deadline.

A request is four hexadecimal digits of length and the text; the answer is ``OKAY``, or
``FAIL`` with a length-prefixed reason. After ``host:tport:serial:S`` the connection talks to
that device and carries one service.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from device_tools import limits
from device_tools.cancel import CancelScope
from device_tools.errors import (
    AdbUnavailable,
    DeviceDisconnected,
    DeviceError,
    DeviceNotFound,
    DeviceNotReady,
    Outcome,
)
from device_tools.limits import Deadline, Limit

MAX_REQUEST = 65_535


@dataclass(frozen=True)
class AdbAddress:
    """Where an adb server listens."""

    host: str = "127.0.0.1"
    port: int = 5037

    @staticmethod
    def default() -> AdbAddress:
        """What adb's own environment variables say, else 127.0.0.1:5037."""
        port = os.environ.get("ANDROID_ADB_SERVER_PORT", "")
        host = os.environ.get("ANDROID_ADB_SERVER_HOST") or "127.0.0.1"
        return AdbAddress(host, int(port) if port.isdigit() else 5037)

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True)
class DeviceEntry:
    """One line of ``adb devices -l``. ``state`` is "device" when usable."""

    serial: str
    state: str
    model: str


class ServiceRefused(DeviceError):
    """The server or the phone answered FAIL: nothing listens there, or no such service."""


class AdbStream:
    """One connection. ``outcome`` is what an error means for the action under way: the caller
    sets it to UNKNOWN before it sends what may take effect."""

    def __init__(self, sock: socket.socket, deadline: Deadline, cancel: CancelScope) -> None:
        self.sock = sock
        self.outcome = Outcome.NOT_SENT
        self._deadline = deadline
        self._cancel = cancel

    def send(self, data: bytes) -> None:
        with self._typed():
            self.sock.sendall(data)

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes, none at the end of the stream."""
        with self._typed():
            piece = self.sock.recv(size)
        if not piece:
            # our own cancel ends the stream in the same way
            self._cancel.check(self.outcome)
        return piece

    def read_exact(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self.read(size - len(data))
            if not piece:
                raise DeviceDisconnected(
                    "the adb connection closed in the middle of an answer",
                    advice="check the cable and `bridge devices`",
                    outcome=self.outcome,
                )
            data += piece
        return data

    def request(self, command: str) -> None:
        """Send one request and read its OKAY.

        Raises:
            ServiceRefused: the answer was FAIL; the message is its reason.
        """
        data = command.encode()
        if len(data) > MAX_REQUEST:
            raise ServiceRefused(
                f"a command of {len(data)} bytes is over the {MAX_REQUEST} that adb can carry",
                advice="put the data into a file and push it",
            )
        self.send(b"%04x" % len(data) + data)
        status = self.read_exact(4)
        if status != b"OKAY":
            reason = self.read_block() if status == b"FAIL" else f"unexpected answer {status!r}"
            raise ServiceRefused(reason)

    def read_block(self) -> str:
        """A string with its length in front."""
        digits = self.read_exact(4)
        try:
            size = int(digits, 16)
        except ValueError:
            raise AdbUnavailable(
                f"what answers is no adb server: {digits!r}", advice="run `bridge doctor`"
            ) from None
        return self.read_exact(size).decode("utf-8", "replace")

    @contextmanager
    def _typed(self) -> Iterator[None]:
        self.sock.settimeout(self._deadline.remaining(self.outcome))
        try:
            yield
        except TimeoutError:
            self._cancel.check(self.outcome)
            raise self._deadline.expired(self.outcome) from None
        except OSError as error:
            self._cancel.check(self.outcome)
            raise DeviceDisconnected(
                f"the adb connection broke: {error}",
                advice="check the cable and `bridge devices`",
                outcome=self.outcome,
            ) from error


@contextmanager
def open_server(address: AdbAddress, limit: Limit, cancel: CancelScope) -> Iterator[AdbStream]:
    """A connection to the adb server, closed at the end and by ``cancel``.

    Raises:
        AdbUnavailable: no server answers there. None is started.
    """
    deadline = Deadline(limit)
    cancel.check()
    sock = connect_server(address)
    with sock, cancel.closing(lambda: hang_up(sock)):
        yield AdbStream(sock, deadline, cancel)


def connect_server(address: AdbAddress) -> socket.socket:
    """A connected socket without delay; see ``open_server`` for errors."""
    try:
        sock = socket.create_connection((address.host, address.port), limits.ADB_CONNECT.seconds)
    except OSError as error:
        raise AdbUnavailable(
            f"no adb server answers at {address}: {error}",
            advice="run `adb start-server`, or `bridge doctor`",
        ) from error
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def hang_up(sock: socket.socket) -> None:
    """Wake whoever waits on the socket; closing alone would not."""
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


def server_version(address: AdbAddress, cancel: CancelScope) -> int:
    """The protocol number of the running server (41 for adb 1.0.41)."""
    with open_server(address, limits.ADB_REQUEST, cancel) as stream:
        stream.request("host:version")
        return int(stream.read_block(), 16)


def list_devices(address: AdbAddress, cancel: CancelScope) -> tuple[DeviceEntry, ...]:
    """What the server knows, usable or not."""
    with open_server(address, limits.ADB_REQUEST, cancel) as stream:
        stream.request("host:devices-l")
        lines = stream.read_block().splitlines()
    return tuple(_entry(line) for line in lines if line.strip())


def _entry(line: str) -> DeviceEntry:
    # the state may hold spaces ("no permissions (...)"); the facts behind it are key:value
    serial, _, rest = line.strip().partition(" ")
    words = rest.split()
    facts = dict(word.split(":", 1) for word in words if ":" in word and "//" not in word)
    state = words[0] if words else "unknown"
    if state == "no":
        state = "no permissions"
    return DeviceEntry(serial, state, facts.get("model", ""))


def choose_serial(serial: str | None, devices: tuple[DeviceEntry, ...], address: AdbAddress) -> str:
    """The named device if it is usable, else the only one attached.

    Raises:
        DeviceNotFound: not attached, none attached, or several and none named.
        DeviceNotReady: attached but not usable yet; the advice says what to do.
    """
    listed = ", ".join(f"{d.serial} ({d.state})" for d in devices) or "none"
    if serial is None:
        return _only(devices, listed, address)
    entry = next((device for device in devices if device.serial == serial), None)
    if entry is None:
        raise DeviceNotFound(
            f"device {serial} is not attached; attached: {listed}",
            advice="check the cable, or use `--device virtual`",
        )
    return _ready(entry)


def _only(devices: tuple[DeviceEntry, ...], listed: str, address: AdbAddress) -> str:
    if not devices:
        raise DeviceNotFound(
            f"no phone is attached to the adb server at {address}",
            advice="attach one with USB debugging on, or use `--device virtual`",
        )
    usable = [device for device in devices if device.state == "device"]
    if len(usable) == 1 or len(devices) == 1:
        return _ready(usable[0] if usable else devices[0])
    raise DeviceNotFound(
        f"several phones are attached: {listed}", advice="name one with `--device SERIAL`"
    )


_REMEDIES = {
    "offline": "reconnect the cable or run `adb reconnect`",
    "unauthorized": "unlock the phone and accept the debugging question on its screen",
    "authorizing": "unlock the phone and accept the debugging question on its screen",
    "connecting": "wait a few seconds and try again",
    "no permissions": "let your user open the USB device (udev rules), then reconnect",
}


def _ready(entry: DeviceEntry) -> str:
    if entry.state != "device":
        raise not_ready(entry.serial, entry.state)
    return entry.serial


def not_ready(serial: str, state: str) -> DeviceNotReady:
    """The error for a device that is listed in another state than "device"."""
    remedy = next((text for word, text in _REMEDIES.items() if word in state), "")
    return DeviceNotReady(
        f"device {serial} is {state}",
        advice=remedy or "boot the phone into Android and enable USB debugging",
    )
