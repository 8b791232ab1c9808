"""The supervisor on the virtual phone: real processes, watched from the host."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from alpine.errors import AdmissionClosed, SupervisionFailed
from alpine.identity import USER, ShellForm
from alpine.supervisor import Command, ShellProcessSupervisor
from device_tools.adb import AdbPhone
from device_tools.errors import DeviceDisconnected, DeviceTimeout
from device_tools.limits import Limit
from device_tools.virtual.launcher import VirtualPhone
from tests.alpine.host_view import carrying, wait_until_gone, wait_until_started
from tests.alpine.reuse import innocents_left

LIMIT = Limit("a test command", 30.0)

TREE = """\
sleep {word} &
(setsid sleep {word} &)
setsid sh -c 'setsid sleep {word} & sleep {word}' &
env -i setsid sleep {word} &
"""
"""A child, a daemon, a double fork, and a daemon with an empty environment: five sleeps."""


def finish(
    supervisor: ShellProcessSupervisor, text: str, form: ShellForm = USER
) -> tuple[int, bytes, bytes]:
    out = {1: b"", 2: b""}

    def keep(kind: int, data: bytes) -> None:
        out[kind] += data

    with supervisor.start(Command(text), form) as running:
        code = running.drain(keep, time.monotonic() + LIMIT.seconds, LIMIT)
    return code, out[1], out[2]


def test_output_and_exit_code_arrive_apart(supervisor: ShellProcessSupervisor) -> None:
    """Standard output, standard error and the code of the command, any byte in them."""
    code, out, err = finish(supervisor, "printf 'a\\000\\377\\n'; echo e >&2; exit 7")
    assert (code, out, err) == (7, b"a\0\xff\n", b"e\n")


def test_a_command_is_one_argument(supervisor: ShellProcessSupervisor) -> None:
    """Quotes, newlines and dollar signs arrive as they were written."""
    text = "printf '%s|' \"it's\" 'a\"b' '$HOME' '`id`'\nprintf '%s' \"two\nlines\""
    assert finish(supervisor, text)[1] == b"it's|a\"b|$HOME|`id`|two\nlines"


def test_a_command_too_long_for_adb_goes_through_a_file(
    supervisor: ShellProcessSupervisor,
) -> None:
    """It runs all the same, and the file is gone afterwards."""
    text = f"x={'y' * 300_000}; echo ${{#x}}; ls -a /data/local/tmp | grep -c bridge"
    assert finish(supervisor, text)[1] == b"300000\n1\n"
    assert finish(supervisor, "ls -a /data/local/tmp")[1].count(b"bridge") == 0


def test_the_process_leads_its_own_session(supervisor: ShellProcessSupervisor) -> None:
    """PID, group and session are reported before the command starts, and are true."""
    with supervisor.start(Command("exec cat /proc/$PPID/stat /proc/self/environ"), USER) as running:
        out: list[bytes] = []
        running.drain(lambda _k, data: out.append(data), time.monotonic() + 20, LIMIT)
        process = running.process
    assert process.pid == process.pgid == process.session
    assert f"BRIDGE_TOKEN={process.token}".encode() in b"".join(out)


def test_nothing_is_left_after_a_normal_end(supervisor: ShellProcessSupervisor) -> None:
    """Children, daemons, double forks and those with an empty environment end with the command."""
    word = "70001.25"
    code, _, _ = finish(supervisor, TREE.format(word=word) + "sleep 0.3; exit 4")
    assert code == 4
    assert carrying(word) == []


def test_nothing_is_left_after_a_time_out(supervisor: ShellProcessSupervisor) -> None:
    """The caller stops what takes too long; who ignores TERM is killed."""
    word = "70002.25"
    text = "trap '' TERM HUP\n" + TREE.format(word=word) + "while :; do sleep 1; done"
    with supervisor.start(Command(text), USER) as running:
        wait_until_started(word, 5)
        with pytest.raises(DeviceTimeout):
            running.read(time.monotonic() + 0.01, LIMIT)
        running.stop()
        running.drain(lambda _kind, _data: None, time.monotonic() + 10, LIMIT)
        assert running.clean
    assert carrying(word) == []


def test_nothing_is_left_when_the_terminal_is_closed(supervisor: ShellProcessSupervisor) -> None:
    """Closing returns at once, ends what runs and admits nothing any more."""
    word = "70003.25"
    failed: list[BaseException] = []

    def work() -> None:
        try:
            finish(supervisor, TREE.format(word=word) + "wait; sleep 100")
        except DeviceDisconnected as error:
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    wait_until_started(word, 5)
    supervisor.close()
    thread.join(5)
    assert failed
    wait_until_gone(word)
    with pytest.raises(AdmissionClosed):
        finish(supervisor, "echo never")


def test_a_killed_guard_is_swept_up_after(supervisor: ShellProcessSupervisor) -> None:
    """A command that kills its own supervisor on the phone leaves no daemon all the same."""
    word = "70004.25"
    text = f"setsid sleep {word} & sleep 0.3; kill -9 -$(cut -d' ' -f6 /proc/self/stat)"
    with supervisor.start(Command(text), USER) as running:
        running.drain(lambda _kind, _data: None, time.monotonic() + 20, LIMIT)
        assert not running.clean
    assert carrying(word) == []


def test_without_setsid_nothing_starts(supervisor: ShellProcessSupervisor) -> None:
    """Fail closed: a phone whose shell finds no setsid runs no command."""
    form = ShellForm(words=("/system/bin/sh",), environment=("PATH=/nowhere",))
    with pytest.raises(SupervisionFailed, match="setsid"):
        finish(supervisor, "echo ran >/data/local/tmp/ran", form)
    assert b"ran" not in finish(supervisor, "ls /data/local/tmp")[1]


@pytest.mark.parametrize("words", [("echo",), ("sh", "-c", "echo bridge-ready 1 1 1")])
def test_without_the_handshake_nothing_starts(
    supervisor: ShellProcessSupervisor, words: tuple[str, ...]
) -> None:
    """Whoever answers without the token is not the guard, and the command is never sent."""
    with pytest.raises(SupervisionFailed):
        finish(supervisor, "echo ran >/data/local/tmp/ran", ShellForm(words=words))
    assert b"ran" not in finish(supervisor, "ls /data/local/tmp")[1]


HOST = """\
import sys, time
from alpine.identity import USER
from alpine.supervisor import Command, ShellProcessSupervisor
from device_tools.adb import AdbPhone
from device_tools.adb_server import AdbAddress
from device_tools.cancel import CancelScope
from device_tools.limits import Limit

phone = AdbPhone(sys.argv[1], AdbAddress("127.0.0.1", int(sys.argv[2])), CancelScope())
with ShellProcessSupervisor(phone).start(Command(sys.argv[3]), USER) as running:
    running.drain(lambda kind, data: None, time.monotonic() + 60, Limit("a test", 60.0))
"""


def test_nothing_is_left_after_the_host_is_killed(phone: AdbPhone, tmp_path: Path) -> None:
    """kill -9 of the computer's side: the phone ends everything by itself within 5 s."""
    word = "70005.25"
    program = tmp_path / "host.py"
    program.write_text(textwrap.dedent(HOST))
    text = TREE.format(word=word) + "sleep 100"
    host = subprocess.Popen(
        [sys.executable, program, phone.serial, str(phone.address.port), text],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    wait_until_started(word, 5)
    host.kill()
    host.wait(10)
    wait_until_gone(word)


def test_nothing_is_left_after_the_adb_server_dies(virtual_phone: VirtualPhone) -> None:
    """The phone ends the command, and the caller hears of it as an error."""
    from device_tools.adb_server import AdbAddress
    from device_tools.cancel import CancelScope

    word, handle = "70006.25", virtual_phone.handle
    phone = AdbPhone(handle.serial, AdbAddress("127.0.0.1", handle.adb_port), CancelScope())
    supervisor = ShellProcessSupervisor(phone)
    with (
        pytest.raises(DeviceDisconnected),
        supervisor.start(Command(TREE.format(word=word) + "sleep 100"), USER) as running,
    ):
        wait_until_started(word, 5)
        servers = carrying(str(handle.adb_port))
        assert servers
        for pid in servers:
            os.kill(pid, signal.SIGKILL)
        running.drain(lambda _kind, _data: None, time.monotonic() + 20, LIMIT)
    wait_until_gone(word)


def test_a_reused_process_number_is_never_hit(phone: AdbPhone) -> None:
    """Whatever numbers a scan has noted, at the kill only the token decides."""
    assert innocents_left(phone, rounds=20) == 5
