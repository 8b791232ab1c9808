"""Root is what has power, on phones rooted in every form."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from alpine.errors import RootUnavailable
from alpine.identity import Elevation
from alpine.root import PROBE, Refusal, Root, find_root
from alpine.running import Output
from alpine.sessions import Session
from alpine.supervisor import ShellProcessSupervisor
from device_tools.adb import AdbPhone
from device_tools.adb_server import AdbAddress
from device_tools.cancel import CancelScope
from device_tools.virtual import launcher
from device_tools.virtual.userland import phone_userland
from tests.alpine.host_view import carrying, wait_until_gone
from tests.alpine.test_supervisor import TREE, finish

_REASON = phone_userland.available()
pytestmark = pytest.mark.skipif(bool(_REASON), reason=_REASON or "")


@contextmanager
def rooted(folder: Path, profile: str) -> Iterator[AdbPhone]:
    with launcher.start(folder / "phone", name=profile, root=profile) as phone:
        handle = phone.handle
        yield AdbPhone(handle.serial, AdbAddress("127.0.0.1", handle.adb_port), CancelScope())


@pytest.mark.parametrize(
    ("profile", "elevation", "busybox", "context"),
    [
        ("magisk", Elevation.COMMAND, "/data/adb/magisk/busybox", "u:r:magisk:s0"),
        ("kernelsu", Elevation.COMMAND, "/data/adb/ksu/bin/busybox", "u:r:su:s0"),
        ("apatch", Elevation.COMMAND, "/data/adb/ap/bin/busybox", "u:r:magisk:s0"),
        ("aosp", Elevation.WHO, "/system/xbin/busybox", "u:r:su:s0"),
    ],
)
def test_every_su_form_is_found_and_supervised(
    tmp_path: Path, profile: str, elevation: Elevation, busybox: str, context: str
) -> None:
    """The form, its BusyBox and its context are found; commands run as root and leave nothing."""
    with rooted(tmp_path, profile) as phone:
        root = find_root(phone)
        assert isinstance(root, Root)
        assert (root.form.elevation, root.busybox, root.context) == (elevation, busybox, context)
        supervisor = ShellProcessSupervisor(phone)
        word = f"7100{len(profile)}.25"
        text = f"{TREE.format(word=word)}id -u; echo \"it's\" '$x'; echo e >&2; sleep 0.3; exit 9"
        code, out, err = finish(supervisor, text, root.form)
        assert (code, out, err) == (9, b"0\nit's $x\n", b"e\n")
        assert carrying(word) == []


@pytest.mark.parametrize(
    ("profile", "reason"),
    [
        ("none", Refusal.NONE),
        ("denied", Refusal.DENIED),
        ("slow", Refusal.SLOW),
        ("powerless", Refusal.POWERLESS),
    ],
)
def test_every_refusal_has_its_name(tmp_path: Path, profile: str, reason: Refusal) -> None:
    """No su, a no, a su that blocks for a minute, and uid 0 without power are told apart."""
    with rooted(tmp_path, profile) as phone:
        begun = time.monotonic()
        with pytest.raises(RootUnavailable) as caught:
            find_root(phone)
        assert caught.value.reason == reason
        assert time.monotonic() - begun < PROBE.seconds + 5


def test_adb_root_is_used_on_an_emulator_only_when_allowed(tmp_path: Path) -> None:
    """adbd is restarted, the connection comes back, and no su is needed; else su is."""
    with rooted(tmp_path, "aosp") as phone:
        assert find_root(phone).form.elevation is Elevation.WHO
        assert phone.shell(["sh", "-c", "id -u"]).text == "2000\n"
        root = find_root(phone, allow_adb_root=True)
        assert root.form.elevation is Elevation.NONE
        assert phone.shell(["sh", "-c", "id -u"]).text == "0\n"
        supervisor = ShellProcessSupervisor(phone)
        assert finish(supervisor, "id -u; exit 2", root.form)[:2] == (2, b"0\n")
        assert find_root(phone, allow_adb_root=True).form.elevation is Elevation.NONE


def test_a_phone_that_is_no_emulator_is_never_restarted(tmp_path: Path) -> None:
    """With adb_root allowed a rooted phone still goes through su."""
    with rooted(tmp_path, "magisk") as phone:
        assert find_root(phone, allow_adb_root=True).form.elevation is Elevation.COMMAND
        assert phone.shell(["sh", "-c", "id -u"]).text == "2000\n"


def test_an_inner_shell_runs_in_its_own_namespace(tmp_path: Path) -> None:
    """What an environment enters by: short and long commands and sessions run inside, directories
    are its own business, and nothing of it is left."""
    with rooted(tmp_path, "magisk") as phone:
        root = find_root(phone)
        box = root.busybox
        enter = (box, "unshare", "-m", "--propagation", "private", box, "chroot", "/")
        form = replace(root.form, inner=(*enter, "/system/bin/sh"))
        supervisor = ShellProcessSupervisor(phone)
        outside = finish(supervisor, "readlink /proc/self/ns/mnt", root.form)[1]
        word = "78001.25"
        text = f"{TREE.format(word=word)}readlink /proc/self/ns/mnt; sleep 0.3; exit 4"
        code, inside, _ = finish(supervisor, text, form)
        assert code == 4 and inside.startswith(b"mnt:") and inside != outside
        long = f"x={'y' * 60_000}; echo ${{#x}}; exit 6"
        assert finish(supervisor, long, form)[:2] == (6, b"60000\n")
        session, output = Session("s1", supervisor, form), Output()
        session.run("cd /data; x=1; readlink /proc/self/ns/mnt", 20, output)
        assert output.stdout.summary(100).startswith("mnt:")
        session.run(f"pwd; echo $x; setsid sleep {word} >/dev/null 2>&1 &", 20, output)
        assert output.stdout.summary(100).endswith("/data\n1\n")
        session.close()
        wait_until_gone(word)
        assert ".bridge" not in phone.shell(["ls", "-A", "/data/local/tmp"]).text
