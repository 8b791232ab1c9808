"""Virtual phones as processes: start, find, stop, and what is left after a kill."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import adbutils
import pytest

from device_tools.cancel import CancelScope
from device_tools.errors import Cancelled, VirtualPhoneError
from device_tools.virtual import launcher
from device_tools.virtual.launcher import VirtualPhone
from tests.device_tools.virtual.userland.phone import needs_userland

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

_ROOT = Path(__file__).resolve().parents[3]
_OWNER = """
import sys, time
from pathlib import Path
from device_tools.virtual import launcher
phone = launcher.start(Path(sys.argv[1]), name="owned")
print(phone.handle.pid, flush=True)
time.sleep(600)
"""


def _family(pid: int) -> set[int]:
    """The process and all its descendants."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                text = (entry / "stat").read_text()
            except OSError:
                continue
            parents[int(entry.name)] = int(text.rpartition(")")[2].split()[1])
    family = {pid}
    while grown := {p for p, parent in parents.items() if parent in family} - family:
        family |= grown
    return family


def _running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def _soon(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def _shell(phone: VirtualPhone, command: str) -> str:
    client = adbutils.AdbClient("127.0.0.1", phone.handle.adb_port)
    return str(client.device(phone.handle.serial).shell(command))


def test_a_phone_starts_answers_and_leaves_its_final_state(tmp_path: Path) -> None:
    """start gives an attached phone; stop leaves state.json and screen.png and no process."""
    with launcher.start(tmp_path / "phone", name="one") as phone:
        family = _family(phone.handle.pid)
        assert _shell(phone, "wm size").startswith("Physical size: ")
        assert phone.screenshot().startswith(b"\x89PNG")
        secret = tmp_path / "phone" / "phone.json"
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600
        expected = phone.state()
    assert _soon(lambda: not any(_running(pid) for pid in family))
    assert set(expected) == set(json.loads((tmp_path / "phone" / "state.json").read_text()))
    names = {path.name for path in (tmp_path / "phone").iterdir()}
    assert names == {"state.json", "screen.png", "phone.log"}


def test_two_phones_do_not_share_anything(tmp_path: Path) -> None:
    """Each phone has its own adb server, which sees that phone only."""
    with (
        launcher.start(tmp_path / "a", name="a") as first,
        launcher.start(tmp_path / "b", name="b") as second,
    ):
        for phone in (first, second):
            client = adbutils.AdbClient("127.0.0.1", phone.handle.adb_port)
            assert [d.serial for d in client.device_list()] == [phone.handle.serial]
        (tmp_path / "file").write_bytes(b"first")
        client = adbutils.AdbClient("127.0.0.1", first.handle.adb_port)
        client.device(first.handle.serial).sync.push(str(tmp_path / "file"), "/sdcard/file")
        other = adbutils.AdbClient("127.0.0.1", second.handle.adb_port)
        assert other.device(second.handle.serial).sync.stat("/sdcard/file").mode == 0


def test_killing_the_owner_ends_the_phone_orderly(tmp_path: Path) -> None:
    """After kill -9 of its owner the phone writes its state and leaves no process."""
    owner = subprocess.Popen(
        [sys.executable, "-c", _OWNER, str(tmp_path / "phone")],
        stdout=subprocess.PIPE,
        cwd=_ROOT,
    )
    assert owner.stdout
    with owner.stdout:
        pid = int(owner.stdout.readline())
    family = _family(pid)
    assert len(family) > 1
    owner.kill()
    owner.wait()
    assert _soon(lambda: not any(_running(pid) for pid in family))
    assert (tmp_path / "phone" / "state.json").exists()


def test_killing_the_phone_leaves_no_process(virtual_phone: VirtualPhone) -> None:
    """After kill -9 of the phone its adb server and its namespaces' processes are gone."""
    family = _family(virtual_phone.handle.pid)
    assert len(family) > 1
    os.kill(virtual_phone.handle.pid, signal.SIGKILL)
    assert _soon(lambda: not any(_running(pid) for pid in family - {virtual_phone.handle.pid}))


def test_a_killed_adb_server_comes_back(virtual_phone: VirtualPhone) -> None:
    """After kill -9 of its adb server the phone is attached again on the same port."""
    for pid in _family(virtual_phone.handle.pid):
        if "nodaemon" in Path(f"/proc/{pid}/cmdline").read_text():
            os.kill(pid, signal.SIGKILL)

    def attached() -> bool:
        # asked by hand: adb and adbutils would start a server of their own
        try:
            with socket.create_connection(("127.0.0.1", virtual_phone.handle.adb_port), 5) as sock:
                sock.sendall(b"000chost:devices")
                return b"\tdevice\n" in sock.makefile("rb").read()
        except ConnectionError:
            return False

    assert _soon(lambda: not attached(), 2)
    assert _soon(attached)
    assert _shell(virtual_phone, "wm size").startswith("Physical size: ")


def test_a_detached_phone_is_found_and_stopped_by_name(tmp_path: Path) -> None:
    """A phone that is not owned outlives its starter's handle and is stopped by its name."""
    phone = launcher.start(tmp_path / "virtual" / "kept", name="kept", owned=False)
    assert launcher.list_running(tmp_path) == [phone.handle]
    with pytest.raises(VirtualPhoneError, match="runs already"):
        launcher.start(tmp_path / "virtual" / "kept", name="kept")
    launcher.stop(tmp_path, "kept")
    assert launcher.list_running(tmp_path) == []
    with pytest.raises(VirtualPhoneError, match="no virtual phone 'kept'"):
        launcher.find(tmp_path, "kept")
    phone.stop()


def test_a_name_cannot_leave_the_folder(tmp_path: Path) -> None:
    """Names with path separators are refused."""
    with pytest.raises(VirtualPhoneError):
        launcher.find(tmp_path, "../x")


def test_a_wrong_token_is_refused(virtual_phone: VirtualPhone) -> None:
    """The control port answers only whoever can read phone.json."""
    from device_tools.virtual.control import ask

    facts = json.loads((virtual_phone.handle.folder / "phone.json").read_text())
    with pytest.raises(VirtualPhoneError, match="refused"):
        ask(facts["control_port"], "0" * 32, "state")


def test_without_namespaces_the_gui_works_and_the_shell_says_why(tmp_path: Path) -> None:
    """Where no user namespace can be made the phone starts, and a shell line tells the reason."""
    code = """
import subprocess, sys
from pathlib import Path
from device_tools.virtual import launcher
from device_tools.virtual.adb_server import find_adb
with launcher.start(Path(sys.argv[1]), name="bare") as phone:
    adb = [find_adb(), "-P", str(phone.handle.adb_port), "-s", phone.handle.serial, "shell"]
    print(subprocess.run([*adb, "wm size"], capture_output=True).stdout)
    print(subprocess.run([*adb, "echo a | cat"], capture_output=True).stderr)
"""
    limit = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    python = [sys.executable, "-c", code, str(tmp_path / "phone")]
    done = subprocess.run(
        ["unshare", "-Ur", "sh", "-c", limit, "sh", *python],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    if "unshare failed" in done.stderr or "unshare: " in done.stderr:
        pytest.skip("no namespaces at all here")
    assert "Physical size: " in done.stdout
    assert "virtual phone: " in done.stdout


def test_a_start_can_be_cancelled(tmp_path: Path) -> None:
    """Cancel during the start ends it at once and leaves no process and no work folder."""
    cancel = CancelScope()
    folder = tmp_path / "phone"
    before = _family(os.getpid())
    threading.Timer(0.2, cancel.cancel).start()
    started = time.monotonic()
    with pytest.raises(Cancelled):
        launcher.start(folder, name="phone", cancel=cancel)
    assert time.monotonic() - started < 3
    assert [path.name for path in folder.iterdir()] == ["phone.log"]
    assert _soon(lambda: _family(os.getpid()) <= before)


@needs_userland
def test_files_are_refused_once_the_userland_is_gone(tmp_path: Path) -> None:
    """After kill -9 of the phone's first process the sync service refuses at once."""
    with launcher.start(tmp_path / "phone", name="phone") as phone:
        device = adbutils.AdbClient("127.0.0.1", phone.handle.adb_port).device(phone.handle.serial)
        init = min(
            pid
            for pid in _family(phone.handle.pid)
            if Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0") == b"/init"
        )
        os.kill(init, signal.SIGKILL)
        assert _soon(lambda: not _running(init))
        started = time.monotonic()
        with pytest.raises(adbutils.AdbError):
            device.sync.stat("/sdcard")
        assert time.monotonic() - started < 5


@needs_userland
def test_a_phones_shell_reaches_no_host_file_and_no_helper(tmp_path: Path) -> None:
    """The file service gives nothing of its own process away and outlives ``kill -9 -1``."""
    with launcher.start(tmp_path / "phone", name="phone") as phone:
        device = adbutils.AdbClient("127.0.0.1", phone.handle.adb_port).device(phone.handle.serial)
        for path in ("/proc/self/exe", "/proc/thread-self/exe", "/proc/self/maps"):
            with pytest.raises(adbutils.AdbError):
                device.sync.read_bytes(path)
        assert b"localhost" in device.sync.read_bytes("/etc/hosts")
        assert device.sync.read_bytes("/proc/meminfo")
        if device.shell("id -u").strip() == "2000":  # with one id for all, nothing could hold
            device.shell("kill -9 -1")
            assert device.shell2("screencap -p /sdcard/x.png").returncode == 0
