"""The shell services over a real shell, driven by the real adb programs."""

from __future__ import annotations

import socket
import subprocess
import time
from typing import Protocol

import adbutils
import pytest


class Attached(Protocol):
    adb: str
    serial: str
    adb_port: int

    def run(self, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]: ...


def test_exit_code_stdout_and_stderr(with_shell: Attached) -> None:
    """A real shell's line keeps its streams apart and its exit code."""
    done = with_shell.run("shell", "echo out | cat; echo err >&2; (exit 9)")
    assert (done.stdout, done.stderr, done.returncode) == (b"out\n", b"err\n", 9)


def test_death_by_signal_is_128_and_the_signal(with_shell: Attached) -> None:
    """A shell that kills itself gives 128 + signal."""
    assert with_shell.run("shell", "kill -9 $$").returncode == 137


def test_stdin_reaches_the_program_and_ends(with_shell: Attached) -> None:
    """A program that reads to the end of its input sees that end."""
    done = with_shell.run("shell", "cat | wc -c", stdin=b"x" * 300_000)
    assert done.stdout.strip() == b"300000"


def test_exec_in_delivers_all_of_its_input(with_shell: Attached) -> None:
    """exec: data sent right before the host closes still arrives."""
    data = bytes(range(256)) * 2000
    with_shell.run("exec-in", "cat > /data/local/tmp/in", stdin=data)
    deadline = time.monotonic() + 5
    got = b""
    while got != data and time.monotonic() < deadline:
        got = with_shell.run("exec-out", "cat /data/local/tmp/in").stdout
    assert got == data


def test_a_terminal_is_a_terminal(with_shell: Attached) -> None:
    """-tt gives a PTY that translates newlines."""
    done = with_shell.run("shell", "-tt", "tty; test -t 0 && echo yes")
    assert done.stdout.startswith(b"/dev/pts/")
    assert done.stdout.endswith(b"\r\nyes\r\n")


def test_a_login_shell_reads_commands(with_shell: Attached) -> None:
    """adb shell without a command runs what it is told and gives the last code."""
    done = with_shell.run("shell", stdin=b"echo hello\nexit 4\n")
    assert b"hello\n" in done.stdout
    assert done.returncode == 4


def test_closing_the_stream_hangs_the_program_up(with_shell: Attached) -> None:
    """When the host goes, a v1 command's process is gone soon after."""
    device = adbutils.AdbClient("127.0.0.1", with_shell.adb_port).device(with_shell.serial)
    stream = device.shell("echo up; sleep 777 | cat", stream=True)
    assert stream.conn.recv(3)
    stream.close()
    deadline = time.monotonic() + 8
    while b"sleep 777" in with_shell.run("shell", "toybox ps -A -o ARGS | cat").stdout:
        assert time.monotonic() < deadline


def test_a_background_process_does_not_hold_the_shell(with_shell: Attached) -> None:
    """A process in the background with its own output does not keep adb shell from ending."""
    began = time.monotonic()
    done = with_shell.run("shell", "sleep 30 >/dev/null 2>&1 & echo $!; (true)")
    assert done.returncode == 0
    assert time.monotonic() - began < 10


def test_many_streams_of_output_are_whole(with_shell: Attached) -> None:
    """Five megabytes from a pipe arrive whole."""
    done = with_shell.run("exec-out", "toybox yes 1234567 | toybox head -c 5000000")
    assert len(done.stdout) == 5_000_000


def test_files_are_the_shells_files(with_shell: Attached) -> None:
    """What a framework command writes, the shell and sync see, and the other way round."""
    assert with_shell.run("shell", "uiautomator dump /sdcard/d.xml").returncode == 0
    assert with_shell.run("shell", "cat /sdcard/d.xml | wc -c").stdout.strip() == b"46"
    with_shell.run("shell", "echo -n abc > /sdcard/e; true")
    done = with_shell.run("shell", "toybox md5sum /sdcard/e")
    assert done.stdout == b"900150983cd24fb0d6963f7d28e17f72  /sdcard/e\n"


def test_push_runs_as_the_shell_user(with_shell: Attached, tmp_path: object) -> None:
    """A push into the system is refused; a pushed file belongs to the shell user."""
    assert with_shell.run("push", __file__, "/system/bin/x").returncode == 1
    assert with_shell.run("push", __file__, "/sdcard/test.py").returncode == 0
    listed = with_shell.run("shell", "ls -l /sdcard/test.py | cat").stdout
    assert listed.startswith(b"-rw-r")


def test_a_forward_reaches_a_server_in_the_phone(with_shell: Attached) -> None:
    """forward tcp: connects to what listens in the phone's own network, not on the host."""
    device = adbutils.AdbClient("127.0.0.1", with_shell.adb_port).device(with_shell.serial)
    stream = device.shell("echo up; echo hello | toybox nc -l -p 7001 | cat", stream=True)
    assert stream.conn.recv(3)
    forward = int(with_shell.run("forward", "tcp:0", "tcp:7001").stdout)
    text = b""
    deadline = time.monotonic() + 8
    while b"hello" not in text and time.monotonic() < deadline:
        with socket.create_connection(("127.0.0.1", forward), 5) as sock:
            text = sock.recv(100)
    stream.close()
    assert text == b"hello\n"


def test_the_hosts_ports_are_not_the_phones(with_shell: Attached) -> None:
    """A server on the host's loopback cannot be reached through the phone."""
    device = adbutils.AdbClient("127.0.0.1", with_shell.adb_port).device(with_shell.serial)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(adbutils.AdbError, match="closed"):
            device.create_connection(adbutils.Network.TCP, port)
