"""``bridge terminal`` as a person uses it: in a real terminal, and in a pipe."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from device_tools.virtual import launcher
from device_tools.virtual.launcher import VirtualPhone
from device_tools.virtual.userland import phone_userland
from tests.alpine.host_view import wait_until_gone, wait_until_started

_REASON = phone_userland.available()
pytestmark = pytest.mark.skipif(bool(_REASON), reason=_REASON or "")


@pytest.fixture(scope="module")
def rooted_phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VirtualPhone]:
    folder = tmp_path_factory.mktemp("phone") / "p"
    with launcher.start(folder, name="shell", root="magisk") as phone:
        yield phone


def command(phone: VirtualPhone, home: Path, *options: str) -> dict[str, object]:
    serial, port = phone.handle.serial, str(phone.handle.adb_port)
    return {
        "args": [sys.executable, "-m", "bridge", "terminal", "--device", serial, *options],
        "env": {
            **os.environ, "BRIDGE_HOME": str(home), "ANDROID_ADB_SERVER_PORT": port,
            "TERM": "xterm",
        },
    }  # fmt: skip


class Typist:
    """A person at a terminal of 30 by 100."""

    def __init__(self, phone: VirtualPhone, home: Path, *options: str) -> None:
        self.master, slave = pty.openpty()
        self.resize(30, 100)
        self.child = subprocess.Popen(
            **command(phone, home, *options),  # type: ignore[call-overload]
            stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        os.close(slave)
        self.seen = b""

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def until(self, text: str, seconds: float = 15.0) -> None:
        end = time.monotonic() + seconds
        while text.encode() not in self.seen:
            left = end - time.monotonic()
            assert left > 0, (text, self.seen)
            if select.select([self.master], [], [], left)[0]:
                self.seen += os.read(self.master, 65536)
        self.seen = self.seen.partition(text.encode())[2]

    def leave(self) -> int:
        code = self.child.wait(30)
        os.close(self.master)
        return code


def test_keys_size_and_exit_code_pass_through(rooted_phone: VirtualPhone, tmp_path: Path) -> None:
    """The PTY has the window's size, follows it, takes Ctrl-C, and the exit code comes back."""
    person = Typist(rooted_phone, tmp_path)
    person.type("echo begin$((1+1)); stty size\n")
    person.until("begin2\r\n30 100")
    person.resize(41, 120)
    end = time.monotonic() + 20
    while True:
        person.type("echo size $(stty size) end\n")
        person.until("size ")
        person.until("size ")
        shown = person.seen
        person.until("end")
        if b"41 120" in shown or time.monotonic() > end:
            break
        time.sleep(0.1)
    person.type("id -u; sleep 60; echo never\n")
    person.until("2000")
    time.sleep(0.3)
    person.type("\x03")
    person.type("echo after$((2+2)); exit 7\n")
    person.until("after4")
    assert person.leave() == 7


def test_a_root_shell_is_interactive_too(rooted_phone: VirtualPhone, tmp_path: Path) -> None:
    """Through su, and what it started ends with it."""
    word = "74001.25"
    person = Typist(rooted_phone, tmp_path, "--identity", "root", "--cwd", "/data/adb")
    person.type(f"echo uid$(id -u) in $(pwd); setsid sleep {word} &\n")
    person.until("uid0 in /data/adb")
    wait_until_started(word, 1)
    person.type("exit 3\n")
    assert person.leave() == 3
    wait_until_gone(word)


def test_a_lost_terminal_leaves_nothing(rooted_phone: VirtualPhone, tmp_path: Path) -> None:
    """The window is closed: the program ends, and the phone hangs up the shell."""
    word = "74002.25"
    person = Typist(rooted_phone, tmp_path)
    person.type(f"sleep {word}\n")
    wait_until_started(word, 1)
    os.kill(person.child.pid, signal.SIGKILL)
    person.leave()
    wait_until_gone(word)


@pytest.mark.parametrize("identity", ["user", "root"])
def test_commands_come_from_a_pipe(
    rooted_phone: VirtualPhone, tmp_path: Path, identity: str
) -> None:
    """Without a terminal streams stay apart, bytes stay bytes, and the code is passed on."""
    ran = subprocess.run(
        **command(rooted_phone, tmp_path, "--identity", identity),  # type: ignore[call-overload]
        input=b"printf 'a\\000b\\n'; echo e >&2; id -u\nexit 5\n",
        capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    uid = b"2000" if identity == "user" else b"0"
    assert (ran.returncode, ran.stdout) == (5, b"a\0b\n" + uid + b"\n")
    assert ran.stderr == b"e\n"


def test_what_cannot_be_is_said_before_a_phone_is_asked(
    rooted_phone: VirtualPhone, tmp_path: Path
) -> None:
    """Unknown words are usage errors, Alpine that is not there a device error."""
    for options, code, word in (
        (("--identity", "admin"), 2, b"user, root"),
        (("--environment", "linux", "--identity", "user"), 2, b"root only"),
        (("--environment", "linux"), 3, b"bridge alpine install"),
    ):
        ran = subprocess.run(
            **command(rooted_phone, tmp_path, *options),  # type: ignore[call-overload]
            capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        assert ran.returncode == code, ran.stderr
        assert word in ran.stderr
