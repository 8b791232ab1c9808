"""Shell v2 as a channel that is read and written at once: packets in, packets out.

A packet is one byte id, a little-endian u32 length, the data (AOSP adb, shell_protocol.h): 0 stdin,
1 stdout, 2 stderr, 3 exit code, 4 end of stdin, 5 window size ``ROWSxCOLS,XxY`` as text.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import Lock

from device_tools import limits
from device_tools.adb import AdbPhone
from device_tools.adb_server import AdbStream, ServiceRefused, hang_up
from device_tools.errors import (
    ActionRefused,
    DeviceDisconnected,
    DeviceTimeout,
    Outcome,
)
from device_tools.limits import Limit

STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN, WINDOW = range(6)
SEND = Limit("sending input to a shell", 20.0)
PIECE = 32 * 1024
"""Bytes of standard input in one packet; adb's own client sends no larger ones."""
MAX_PACKET = 16 * 1024 * 1024

_HEAD = struct.Struct("<BI")


@dataclass(frozen=True)
class Packet:
    """``kind`` is STDOUT, STDERR or EXIT; the data of EXIT is one byte."""

    kind: int
    data: bytes


class ShellChannel:
    """One shell service. One thread reads; ``send`` and ``hang_up`` may come from others."""

    def __init__(self, stream: AdbStream, phone: AdbPhone) -> None:
        self._stream = stream
        self._phone = phone
        self._buffer = bytearray()
        self._sending = Lock()

    def send(self, data: bytes, kind: int = STDIN) -> None:
        """Standard input in packets that every daemon takes; raises DeviceDisconnected."""
        for start in range(0, max(1, len(data)), PIECE):
            piece = data[start : start + PIECE]
            self._write(_HEAD.pack(kind, len(piece)) + piece)

    def close_stdin(self) -> None:
        self._write(_HEAD.pack(CLOSE_STDIN, 0))

    def resize(self, rows: int, columns: int) -> None:
        self.send(f"{rows}x{columns},0x0".encode(), WINDOW)

    def hang_up(self) -> None:
        """Wake whoever reads; the phone sees the end of its input."""
        hang_up(self._stream.sock)

    def read(self, end: float, limit: Limit) -> Packet:
        """The next packet, by ``end`` on the monotonic clock.

        Raises:
            DeviceTimeout: naming ``limit``; the channel can be read on afterwards.
            DeviceDisconnected: the stream ended without an exit packet, or is not shell v2.
            Cancelled
        """
        while (packet := self._whole()) is None:
            self._buffer += self._piece(end, limit)
        return packet

    def _write(self, packet: bytes) -> None:
        sock, cancel = self._stream.sock, self._phone.cancel
        with self._sending:
            try:
                sock.settimeout(SEND.seconds)
                sock.sendall(packet)
            except TimeoutError:
                raise _late(SEND) from None
            except OSError as error:
                cancel.check(Outcome.UNKNOWN)
                raise _cut(f": {error}") from error

    def _whole(self) -> Packet | None:
        if len(self._buffer) < _HEAD.size:
            return None
        kind, size = _HEAD.unpack_from(self._buffer)
        if kind not in (STDOUT, STDERR, EXIT) or size > MAX_PACKET or (kind == EXIT and size != 1):
            raise DeviceDisconnected(
                f"the phone sent no shell v2 packet (id {kind}, {size} bytes)",
                advice="update adb on both sides",
                outcome=Outcome.UNKNOWN,
            )
        if len(self._buffer) < _HEAD.size + size:
            return None
        data = bytes(self._buffer[_HEAD.size : _HEAD.size + size])
        del self._buffer[: _HEAD.size + size]
        return Packet(kind, data)

    def _piece(self, end: float, limit: Limit) -> bytes:
        cancel = self._phone.cancel
        left = end - time.monotonic()
        if left <= 0:
            raise _late(limit)
        sock = self._stream.sock
        try:
            sock.settimeout(left)
            _acknowledge_at_once(sock)
            piece = sock.recv(256 * 1024)
        except TimeoutError:
            cancel.check(Outcome.UNKNOWN)
            raise _late(limit) from None
        except OSError as error:
            cancel.check(Outcome.UNKNOWN)
            raise _cut(f": {error}") from error
        if not piece:
            cancel.check(Outcome.UNKNOWN)
            raise _cut("")
        return piece


@contextmanager
def open_channel(phone: AdbPhone, command: str, *, options: str = "raw") -> Iterator[ShellChannel]:
    """Start ``command`` (already quoted) on the phone; it is hung up at the end.

    Raises:
        ActionRefused: the phone opens no shell.
        DeviceError, Cancelled
    """
    with ExitStack() as stack:
        try:
            service = f"shell,v2,{options}:{command}"
            stream = stack.enter_context(phone.service(service, limits.SHELL_READ))
        except ServiceRefused as refusal:
            raise ActionRefused(
                f"the phone refused the shell: {refusal.message}",
                advice=refusal.advice or "check `adb shell` by hand",
            ) from refusal
        stream.outcome = Outcome.UNKNOWN
        yield ShellChannel(stream, phone)


def _acknowledge_at_once(sock: socket.socket) -> None:
    """The adb server's small packets wait for each other's acknowledgement (Nagle), which Linux
    holds back for 40 ms; the option lasts for one exchange only."""
    if hasattr(socket, "TCP_QUICKACK"):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)


def _late(limit: Limit) -> DeviceTimeout:
    return DeviceTimeout(
        f"{limit.name} took longer than {limit.seconds:g} s",
        advice="give it more time, or run it as a job",
        outcome=Outcome.UNKNOWN,
    )


def _cut(why: str) -> DeviceDisconnected:
    return DeviceDisconnected(
        f"the shell's stream ended without an exit code{why}",
        advice="whether the command ran is unknown; check before you repeat it",
        outcome=Outcome.UNKNOWN,
    )
