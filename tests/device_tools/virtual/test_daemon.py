"""The adb daemon against the real adb programs and adbutils."""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import socketserver
import struct
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

import adbutils
import pytest

PICTURE = b"\x89PNG\r\n" + bytes(range(256)) * 8000


class Attached(Protocol):
    serial: str
    adb_port: int
    phone_port: int

    def run(self, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]: ...


@pytest.fixture
def device(attached: Attached) -> adbutils.AdbDevice:
    return adbutils.AdbClient("127.0.0.1", attached.adb_port).device(attached.serial)


@pytest.fixture
def big(tmp_path: Path) -> Path:
    path = tmp_path / "big.bin"
    path.write_bytes(os.urandom(20_000_000))
    return path


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_shell_v2_keeps_the_exit_code_and_stderr_apart(attached: Attached) -> None:
    """adb shell gives stdout, stderr and the exit code of a command each on its own."""
    done = attached.run("shell", "cmd anything")
    assert (done.stdout, done.stderr, done.returncode) == (b"0 bytes\n", b"a warning\n", 3)


def test_shell_v1_merges_stderr_and_answers_the_marker(device: adbutils.AdbDevice) -> None:
    """The stock clients' marker gives the exit code over shell v1."""
    done = device.shell2("cmd anything")
    assert done.returncode == 3
    assert "0 bytes\na warning" in done.output


def test_exec_out_is_binary_safe(attached: Attached) -> None:
    """Two megabytes with every byte value arrive unchanged through exec:."""
    assert attached.run("exec-out", "screencap -p").stdout == PICTURE


def test_declared_stdin_reaches_the_command(attached: Attached) -> None:
    """A command that declares its input's size gets exactly that much."""
    data = bytes(range(256)) * 1000
    done = attached.run("exec-in", f"cmd package install -S {len(data)}", stdin=data)
    assert done.returncode == 0
    shell = attached.run("shell", f"cmd package install -S {len(data)}", stdin=data)
    assert shell.stdout == b"256000 bytes\n"


def test_a_line_for_a_shell_is_refused_clearly(attached: Attached) -> None:
    """Without a userland a pipe is refused with code 127 and what to install."""
    done = attached.run("shell", "wm size | cat")
    assert done.returncode == 127
    assert b"apt install mksh toybox uidmap" in done.stderr


def test_push_and_pull_of_20_mb_keep_their_hash(
    attached: Attached, tmp_path: Path, big: Path
) -> None:
    """The adb program pushes and pulls 20 MB unchanged."""
    assert attached.run("push", str(big), "/sdcard/big").returncode == 0
    assert attached.run("pull", "/sdcard/big", str(tmp_path / "back")).returncode == 0
    assert _hash(tmp_path / "back") == _hash(big)


def test_adbutils_push_and_pull_keep_their_hash(
    device: adbutils.AdbDevice, tmp_path: Path, big: Path
) -> None:
    """adbutils, which speaks sync v1, pushes and pulls 20 MB unchanged."""
    device.sync.push(str(big), "/data/local/tmp/big1")
    device.sync.pull("/data/local/tmp/big1", tmp_path / "back")
    assert _hash(tmp_path / "back") == _hash(big)


def test_folders_and_links_are_pushed_and_listed(attached: Attached, tmp_path: Path) -> None:
    """A pushed folder is listed with its files by v2 and v1 list, and its mode bits are copied."""
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_bytes(b"a")
    (folder / "sub" / "b.txt").write_bytes(b"b" * 70_000)
    assert attached.run("push", str(folder), "/sdcard/folder").returncode == 0
    assert attached.run("ls", "/sdcard/folder/sub").stdout.endswith(b" b.txt\n")
    client = adbutils.AdbClient("127.0.0.1", attached.adb_port).device(attached.serial)
    names = {entry.path: entry for entry in client.sync.list("/sdcard/folder")}
    assert set(names) == {".", "..", "a.txt", "sub"}
    assert names["a.txt"].mode & 0o777 == 0o666


def test_stat_of_a_missing_path_is_all_zero(device: adbutils.AdbDevice) -> None:
    """sync v1 stat of what is not there is mode 0."""
    assert device.sync.stat("/sdcard/missing").mode == 0


def test_only_the_shell_users_places_are_writable(attached: Attached, big: Path) -> None:
    """A push to /system is refused with the phone's words."""
    done = attached.run("push", str(big), "/system/bin/x")
    assert done.returncode == 1
    assert b"couldn't create file: Permission denied" in done.stderr + done.stdout


def test_a_link_out_of_the_root_leads_back_into_it(
    attached: Attached, device: adbutils.AdbDevice, tmp_path: Path
) -> None:
    """A pushed link to a file of the host gives nothing of the host."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    link = 0o120777
    with device.sync._prepare_sync(f"/sdcard/leak,{link}", "SEND") as conn:
        target = str(secret).encode()
        conn.send(b"DATA" + struct.pack("<I", len(target)) + target)
        conn.send(b"DONE" + struct.pack("<I", 0))
        assert conn.read(4) == b"OKAY"
    done = attached.run("pull", "/sdcard/leak", str(tmp_path / "leak"))
    assert done.returncode == 1
    assert not (tmp_path / "leak").exists()


def test_a_port_without_listener_is_refused(device: adbutils.AdbDevice) -> None:
    """tcp: to a port nobody listens on is closed at once."""
    with pytest.raises(adbutils.AdbError, match="closed"):
        device.create_connection(adbutils.Network.TCP, 9999)


def test_the_ui_server_lives_as_long_as_its_stream(device: adbutils.AdbDevice) -> None:
    """app_process opens port 9008; closing its stream closes the port."""
    command = "CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main -p 9008"
    launch = device.shell(command, stream=True)
    heard = b""
    while b"listening on *:9008\n" not in heard:
        heard += launch.conn.recv(200)
    with device.create_connection(adbutils.Network.TCP, 9008) as sock:
        sock.sendall(b"GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert sock.makefile("rb").read().endswith(b"pong")
    launch.close()
    for _ in range(100):
        try:
            device.create_connection(adbutils.Network.TCP, 9008).close()
        except adbutils.AdbError:
            return
    pytest.fail("port 9008 stayed open")


class _Shout(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        self.wfile.write(self.rfile.readline().upper())


@contextlib.contextmanager
def _host_server() -> Iterator[int]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Shout) as server:
        threading.Thread(target=server.serve_forever).start()
        yield server.server_address[1]
        server.shutdown()


def test_reverse_then_forward_goes_round_the_phone(attached: Attached) -> None:
    """A forward to a reverse forward's port reaches the host's server while it lasts."""
    with _host_server() as port:
        assert attached.run("reverse", "tcp:8123", f"tcp:{port}").returncode == 0
        listed = attached.run("reverse", "--list").stdout
        assert f"tcp:8123 tcp:{port}".encode() in listed
        assert attached.run("reverse", "--no-rebind", "tcp:8123", "tcp:1").returncode == 1
        forward = int(attached.run("forward", "tcp:0", "tcp:8123").stdout)
        with socket.create_connection(("127.0.0.1", forward), 5) as sock:
            sock.sendall(b"hello phone\n")
            assert sock.makefile("rb").readline() == b"HELLO PHONE\n"
        assert attached.run("reverse", "--remove", "tcp:8123").returncode == 0
        with socket.create_connection(("127.0.0.1", forward), 5) as sock:
            assert sock.recv(10) == b""
        attached.run("forward", "--remove", f"tcp:{forward}")
    assert attached.run("get-state").stdout == b"device\n"


def test_many_clients_at_once(attached: Attached, device: adbutils.AdbDevice, big: Path) -> None:
    """Shells, pictures and transfers at the same time all get their own answers."""

    def work(number: int) -> bool:
        if number % 3 == 0:
            return attached.run("exec-out", "screencap -p").stdout == PICTURE
        if number % 3 == 1:
            return attached.run("push", str(big), f"/sdcard/many{number}").returncode == 0
        return bool(device.shell("wm size") == "Physical size: 1080x2400")

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(18)))


def test_bad_magic_drops_the_connection_only(attached: Attached) -> None:
    """A peer that does not speak adb is hung up on; others are not disturbed."""
    with socket.create_connection(("127.0.0.1", attached.phone_port), 5) as sock:
        sock.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        assert sock.recv(10) == b""
    assert attached.run("shell", "wm size").returncode == 0


def test_root_is_refused_like_a_production_build(attached: Attached) -> None:
    """adb root says what a phone that is not rooted says."""
    assert b"cannot run as root in production builds" in attached.run("root").stdout
