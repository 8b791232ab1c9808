"""Shell v2 as a channel, against a scripted adb server."""

from __future__ import annotations

import socket
import time

import pytest

from alpine.channel import EXIT, open_channel
from device_tools.adb import AdbPhone
from device_tools.cancel import CancelScope
from device_tools.errors import DeviceDisconnected, DeviceTimeout, Outcome
from device_tools.limits import Limit
from tests.doubles.adb_server import adb_server

SHORT = Limit("a short test", 0.3)
STREAM = b"\x01\x03\0\0\0out" + b"\x02\x03\0\0\0err" + b"\x03\x01\0\0\0\x00"


def read_all(stream: bytes) -> tuple[list[tuple[int, bytes]], int | None]:
    """Packets and exit code of a service that sends ``stream`` and hangs up."""

    def serve(sock: socket.socket, _request: str) -> None:
        sock.sendall(b"OKAY" + stream)

    packets: list[tuple[int, bytes]] = []
    with adb_server(serve) as double:
        phone = AdbPhone("fake-1", double.address, CancelScope())
        with open_channel(phone, "true") as channel:
            while True:
                packet = channel.read(time.monotonic() + 2, SHORT)
                if packet.kind == EXIT:
                    return packets, packet.data[0]
                packets.append((packet.kind, packet.data))


def test_a_stream_cut_at_any_byte_has_no_exit_code() -> None:
    """Only the whole exit packet ends a command; every shorter stream is an UNKNOWN outcome."""
    for cut in range(len(STREAM)):
        with pytest.raises(DeviceDisconnected, match="without an exit code") as caught:
            read_all(STREAM[:cut])
        assert caught.value.outcome is Outcome.UNKNOWN
    assert read_all(STREAM) == ([(1, b"out"), (2, b"err")], 0)


@pytest.mark.parametrize("head", [b"\x09\x01\0\0\0x", b"\x01\xff\xff\xff\xff", b"\x03\0\0\0\0"])
def test_bytes_that_are_no_shell_v2_are_refused(head: bytes) -> None:
    """An unknown id, an absurd length or an empty exit packet is never waited for."""
    with pytest.raises(DeviceDisconnected, match="no shell v2 packet"):
        read_all(head)


def test_a_silent_command_meets_its_limit() -> None:
    """The error names the limit, and the outcome is UNKNOWN."""

    def serve(sock: socket.socket, _request: str) -> None:
        sock.sendall(b"OKAY")
        time.sleep(1)

    with adb_server(serve) as double:
        phone = AdbPhone("fake-1", double.address, CancelScope())
        with (
            open_channel(phone, "sleep 9") as channel,
            pytest.raises(DeviceTimeout, match="a short test") as caught,
        ):
            channel.read(time.monotonic() + 0.1, SHORT)
    assert caught.value.outcome is Outcome.UNKNOWN
