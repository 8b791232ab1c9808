"""Shell v2 and the choice of a device, against a scripted adb server."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path

import pytest

from device_tools.adb import AdbPhone, ShellResult, ensure_server, find_adb, open_device
from device_tools.adb_server import (
    AdbAddress,
    DeviceEntry,
    choose_serial,
    list_devices,
    server_version,
)
from device_tools.cancel import CancelScope
from device_tools.errors import (
    ActionRefused,
    AdbUnavailable,
    DeviceDisconnected,
    DeviceNotFound,
    DeviceNotReady,
    DeviceTimeout,
    Outcome,
)
from device_tools.limits import Limit
from tests.doubles.adb_server import Service, adb_server

SHORT = Limit("a short test", 0.3)


def packet(kind: int, data: bytes) -> bytes:
    return bytes([kind]) + len(data).to_bytes(4, "little") + data


def shell_service(*chunks: bytes, pause: float = 0.0) -> Service:
    def serve(sock: socket.socket, _request: str) -> None:
        sock.sendall(b"OKAY")
        for chunk in chunks:
            sock.sendall(chunk)
            time.sleep(pause)

    return serve


def run(service: Service, *argv: str) -> tuple[ShellResult, list[str]]:
    with adb_server(service) as double:
        phone = AdbPhone("fake-1", double.address, CancelScope())
        return phone.shell(argv, limit=SHORT), double.requests


def test_the_exit_packet_gives_the_code_and_the_streams_stay_apart() -> None:
    """Standard output, standard error and exit code arrive as the phone sent them."""
    data = packet(1, b"out") + packet(2, b"err") + packet(3, b"\x05")
    result, requests = run(shell_service(data[:7], data[7:]), "echo", "a b; reboot")
    assert (result.stdout, result.stderr, result.code) == (b"out", b"err", 5)
    assert requests[-1] == "shell,v2,raw:echo 'a b; reboot'"


def test_a_stream_without_exit_packet_is_an_unknown_outcome() -> None:
    """Half an output is never taken for a success."""
    with pytest.raises(DeviceDisconnected) as caught:
        run(shell_service(packet(1, b"half")), "ls")
    assert caught.value.outcome is Outcome.UNKNOWN


def test_the_limit_counts_over_the_whole_command() -> None:
    """A phone that dribbles output does not stretch the limit."""
    started = time.monotonic()
    with pytest.raises(DeviceTimeout, match="a short test") as caught:
        run(shell_service(*[packet(1, b"x")] * 20, pause=0.1), "yes")
    assert caught.value.outcome is Outcome.UNKNOWN
    assert time.monotonic() - started < 0.6


def test_a_command_that_adb_cannot_carry_is_refused() -> None:
    """Over 65,535 bytes nothing is sent: the length prefix would overflow."""
    with pytest.raises(ActionRefused, match="65535") as caught:
        run(shell_service(), "echo", "x" * 70_000)
    assert caught.value.outcome is Outcome.NOT_SENT


def test_no_server_is_an_error_and_none_is_started() -> None:
    """A closed port gives AdbUnavailable at once."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(AdbUnavailable, match=str(port)):
        list_devices(AdbAddress("127.0.0.1", port), CancelScope())


def test_a_server_is_started_on_request_and_only_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real adb binary comes up on the asked port; the second request finds it running."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ADB_LIBUSB", "0")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = AdbAddress("127.0.0.1", listener.getsockname()[1])
    try:
        assert ensure_server(address, CancelScope()) is True
        assert ensure_server(address, CancelScope()) is False
        assert server_version(address, CancelScope()) >= 41
    finally:
        subprocess.run([find_adb(), "-P", str(address.port), "kill-server"], timeout=10)


@pytest.mark.parametrize(
    ("serial", "devices", "error", "text"),
    [
        (None, "", DeviceNotFound, "no phone is attached"),
        (None, "a device\nb device\n", DeviceNotFound, "a .device., b .device."),
        ("c", "a device\n", DeviceNotFound, "c is not attached; attached: a"),
        ("a", "a offline\n", DeviceNotReady, "a is offline"),
        (None, "a unauthorized\n", DeviceNotReady, "a is unauthorized"),
        (
            "a",
            "a no permissions (user in plugdev group); see [http://x]\n",
            DeviceNotReady,
            "no per",
        ),
    ],
)
def test_an_unusable_choice_says_what_to_do(
    serial: str | None, devices: str, error: type[Exception], text: str
) -> None:
    """None, several, unknown, offline and unauthorized devices are told apart, with advice."""
    with adb_server(shell_service(), devices) as double, pytest.raises(error, match=text) as caught:
        open_device(serial, double.address, CancelScope())
    assert caught.value.advice  # type: ignore[attr-defined]


def test_the_only_usable_device_is_chosen() -> None:
    """Without a serial the one usable phone is taken, and its model is read."""
    listed = "a offline\nfake-1 device product:x model:Fake_1 transport_id:3\n"
    with adb_server(shell_service(), listed) as double:
        devices = list_devices(double.address, CancelScope())
    assert devices[1] == DeviceEntry("fake-1", "device", "Fake_1")
    assert choose_serial(None, devices, double.address) == "fake-1"
