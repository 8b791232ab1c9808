"""Every way in which a command can end, and what must not be left on the phone 5 s later."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from alpine.identity import USER, ShellForm
from alpine.root import find_root
from alpine.running import Output, run_command
from alpine.supervisor import Command, ShellProcessSupervisor
from device_tools.adb import AdbPhone, find_adb
from device_tools.adb_server import AdbAddress, list_devices
from device_tools.cancel import CancelScope
from device_tools.errors import BridgeError
from device_tools.virtual.launcher import VirtualPhone
from tests.alpine.host_view import carrying, wait_until_gone, wait_until_started

KINDS = {
    "plain": "sleep {word} &",
    "daemon": "(setsid sleep {word} >/dev/null 2>&1 &)",
    "double fork": "setsid sh -c 'setsid sleep {word} &' &",
    "cleared environment": "env -i setsid sleep {word} &",
}
"""Each leaves one sleep behind."""

HOST = """\
import sys
from alpine.running import Output, run_command
from alpine.supervisor import Command, ShellProcessSupervisor
from alpine.identity import USER
from alpine.root import find_root
from device_tools.adb import AdbPhone
from device_tools.adb_server import AdbAddress
from device_tools.cancel import CancelScope

serial, port, identity, text = sys.argv[1:]
phone = AdbPhone(serial, AdbAddress("127.0.0.1", int(port)), CancelScope())
form = find_root(phone).form if identity == "root" else USER
run_command(ShellProcessSupervisor(phone), Command(text), form, 60, Output())
"""


def connect(virtual: VirtualPhone) -> AdbPhone:
    handle = virtual.handle
    return AdbPhone(handle.serial, AdbAddress("127.0.0.1", handle.adb_port), CancelScope())


def form_of(phone: AdbPhone, identity: str) -> ShellForm:
    return find_root(phone).form if identity == "root" else USER


def normal_end(virtual: VirtualPhone, identity: str, text: str, word: str) -> None:
    phone, output = connect(virtual), Output()
    supervisor = ShellProcessSupervisor(phone)
    text += "\nsleep 0.4; exit 3"
    run_command(supervisor, Command(text), form_of(phone, identity), 30, output)
    assert output.code == 3
    assert carrying(word) == []


def time_out(virtual: VirtualPhone, identity: str, text: str, word: str) -> None:
    phone, output = connect(virtual), Output()
    supervisor = ShellProcessSupervisor(phone)
    run_command(supervisor, Command(f"{text}\nsleep 60"), form_of(phone, identity), 1.0, output)
    assert output.end == "timed out"
    assert carrying(word) == []


def _interrupted(
    virtual: VirtualPhone, identity: str, text: str, word: str, end: Callable[[AdbPhone], None]
) -> None:
    phone = connect(virtual)
    form, supervisor = form_of(phone, identity), ShellProcessSupervisor(phone)
    failed: list[BridgeError] = []

    def work() -> None:
        try:
            run_command(supervisor, Command(f"{text}\nsleep 60"), form, 50, Output())
        except BridgeError as error:
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    wait_until_started(word, 1)
    end(phone)
    thread.join(15)
    assert failed, "the caller was not told"


def cancel(virtual: VirtualPhone, identity: str, text: str, word: str) -> None:
    _interrupted(virtual, identity, text, word, lambda phone: phone.cancel.cancel())


def host_kill(virtual: VirtualPhone, identity: str, text: str, word: str) -> None:
    handle = virtual.handle
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, handle.serial, str(handle.adb_port), identity,
         f"{text}\nsleep 60"],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    wait_until_started(word, 1)
    host.kill()
    host.wait(10)


def server_death(virtual: VirtualPhone, identity: str, text: str, word: str) -> None:
    """The last one for its phone."""

    def end(_phone: AdbPhone) -> None:
        for pid in carrying(str(virtual.handle.adb_port)):
            os.kill(pid, signal.SIGKILL)

    _interrupted(virtual, identity, text, word, end)


def reconnect(virtual: VirtualPhone, identity: str, text: str, word: str) -> None:
    handle = virtual.handle
    adb = [find_adb(), "-P", str(handle.adb_port)]

    def end(phone: AdbPhone) -> None:
        for order in ("disconnect", "connect"):
            subprocess.run([*adb, order, handle.serial], check=True, capture_output=True)
        until = time.monotonic() + 10
        while time.monotonic() < until:
            with suppress(BridgeError):
                if any(
                    each.state == "device" for each in list_devices(phone.address, CancelScope())
                ):
                    return
            time.sleep(0.05)
        raise AssertionError("the phone did not come back")

    _interrupted(virtual, identity, text, word, end)


ENDS: dict[str, Callable[[VirtualPhone, str, str, str], None]] = {
    "normal end": normal_end,
    "time-out": time_out,
    "cancel": cancel,
    "host killed": host_kill,
    "reconnect": reconnect,
    "adb server killed": server_death,
}


def leaves_nothing(virtual: VirtualPhone, end: str, kind: str, identity: str, word: str) -> None:
    """Run one command that leaves a process of ``kind``, end it, and look 5 s later at the most.

    Raises:
        AssertionError: something is left, or the caller was told wrong.
    """
    ENDS[end](virtual, identity, KINDS[kind].format(word=word), word)
    wait_until_gone(word)
