from __future__ import annotations

import asyncio
import os
import select
import socket
from pathlib import Path

import pytest

from device_tools.errors import VirtualPhoneError
from device_tools.virtual.userland import namespaces, sources
from device_tools.virtual.userland.phone_userland import PhoneUserland
from tests.device_tools.virtual.userland.phone import in_phone, needs_userland, shell, spawn

_REASON = sources.missing_for_root()
if not _REASON and not namespaces.plan_ids().separate_ids:
    _REASON = "one user id only: no newuidmap or no /etc/subuid range here"
pytestmark = [needs_userland, pytest.mark.skipif(_REASON != "", reason=_REASON or "-")]

_POWER = "grep CapEff /proc/self/status; id -Z; chroot / sh -c : && toybox unshare -m true"


@pytest.mark.parametrize(
    ("root", "context", "busybox"),
    [
        ("magisk", b"u:r:magisk:s0", "/data/adb/magisk/busybox"),
        ("kernelsu", b"u:r:su:s0", "/data/adb/ksu/bin/busybox"),
        ("apatch", b"u:r:magisk:s0", "/data/adb/ap/bin/busybox"),
    ],
)
def test_a_root_manager_joins_the_words_after_c(root: str, context: bytes, busybox: str) -> None:
    """``su -c`` gives uid 0 with every capability, joins its words, and passes the exit code on."""

    async def scenario(phone: PhoneUserland) -> None:
        assert await shell(phone, "su -c echo a  b") == (0, b"a b\n", b"")
        code, out, err = await shell(phone, f"su 0 -c '{_POWER}; id -u; echo e >&2; exit 9'")
        assert (code, err) == (9, b"e\n")
        assert out.endswith(b"ffffffffff\n" + context + b"\n0\n")
        _, out, _ = await shell(phone, "echo 'id -u' | su -mm")
        assert out == b"0\n"
        code, out, _ = await shell(phone, f"su -c '{busybox} unshare -m sh -c \"id -u\"'")
        assert (code, out) == (0, b"0\n")
        assert (await shell(phone, f"ls {busybox}"))[0] == 1
        assert (await shell(phone, "su -v"))[1].count(b":") == 1

    in_phone(scenario, root)


def test_aosp_su_takes_a_user_and_a_command() -> None:
    """``su 0 sh -c CMD`` works, ``su -c CMD`` names an invalid user, words stay apart."""

    async def scenario(phone: PhoneUserland) -> None:
        code, _, err = await shell(phone, "su -c id")
        assert (code, err) == (1, b"su: invalid uid/gid '-c'\n")
        assert await shell(phone, "su 0 sh -c 'id -Z; exit 5'") == (5, b"u:r:su:s0\n", b"")
        assert (await shell(phone, "su 0,0,3003 printf '[%s]' 'a  b' c"))[1] == b"[a  b][c]"
        assert (await shell(phone, "echo 'id -u' | su"))[1] == b"0\n"
        assert (await shell(phone, "su shell id -u"))[1] == b"2000\n"
        assert (await shell(phone, "su 0 /system/xbin/busybox true"))[0] == 0

    in_phone(scenario, "aosp")


def test_a_denied_su_says_permission_denied() -> None:
    """A root manager that refuses ends with EACCES and says so."""

    async def scenario(phone: PhoneUserland) -> None:
        assert await shell(phone, "su -c id") == (13, b"", b"Permission denied\n")

    in_phone(scenario, "denied")


def test_a_slow_su_blocks() -> None:
    """Nobody touches the question: no answer and no end for as long as a caller would wait."""

    async def scenario(phone: PhoneUserland) -> None:
        child = await spawn(phone, "su -c id")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(child.wait(), 1)
        child.hangup()
        assert await asyncio.wait_for(child.wait(), 3) == 129
        child.close()

    in_phone(scenario, "slow")


def test_uid_0_without_power_fails_at_every_real_thing() -> None:
    """The powerless root is uid 0 in the shell's context, and can neither chroot nor unshare."""

    async def scenario(phone: PhoneUserland) -> None:
        _, out, err = await shell(phone, f"su -c 'id -u; {_POWER}; toybox unshare -m true'")
        assert out == b"0\nCapEff:\t00000000000000c0\nu:r:shell:s0\n"
        assert err.count(b"Operation not permitted") == 2

    in_phone(scenario, "powerless")


def test_mounts_spread_as_on_android_unless_made_private() -> None:
    """``/`` is shared: a mount in a new namespace leaks, but not in a private one."""
    busybox = "/data/adb/magisk/busybox"
    mount = "toybox mount -t tmpfs none"

    async def scenario(phone: PhoneUserland) -> None:
        _, out, _ = await shell(phone, "toybox grep ' / / ' /proc/self/mountinfo")
        assert b" shared:" in out
        private = f"{busybox} unshare -m --propagation private"
        inside = f"{mount} /oem; grep -c /oem /proc/mounts"
        _, out, _ = await shell(phone, f"su -c '{private} sh -c \"{inside}\"'")
        assert out == b"1\n"
        await shell(phone, f"su -c 'toybox unshare -m {mount} /mnt'")
        _, out, _ = await shell(phone, "cat /proc/mounts")
        assert b" /oem " not in out and b" /mnt " in out

    in_phone(scenario, "magisk")


def test_a_magisk_root_process_outlives_its_client() -> None:
    """Root's commands are no children of ``su``: a hangup of the client's group misses them."""

    async def scenario(phone: PhoneUserland) -> None:
        child = await spawn(phone, "su -c 'echo $$; exec sleep 98'")
        ready = await asyncio.to_thread(select.select, [child.stdout_fd], [], [], 10)
        assert ready[0]
        pid = os.read(child.stdout_fd, 100).strip()
        child.hangup()
        child.kill()
        await child.wait()
        child.close()
        _, out, _ = await shell(phone, f"su -c 'kill -9 {pid.decode()} && echo was there'")
        assert out == b"was there\n"

    in_phone(scenario, "magisk")


def test_a_root_shell_on_a_pty_has_job_control() -> None:
    """``su`` on a terminal keeps it: Ctrl-C ends what runs in front, closing hangs the shell up."""

    async def scenario(phone: PhoneUserland) -> None:
        child = await phone.spawn(None, pty=True, raw_pty=False, merge_stderr=False, env={})
        os.write(child.stdin_fd, b"su\n")
        seen = b""
        os.write(
            child.stdin_fd, b"echo r$(id -u)$(id -u)t; echo $$ > /data/local/tmp/pid; sleep 97\n"
        )
        while b"r00t" not in seen:
            assert (await asyncio.to_thread(select.select, [child.stdout_fd], [], [], 10))[0], seen
            seen += os.read(child.stdout_fd, 65536)
        while b"sleep" not in (await shell(phone, "toybox ps -A -o CMD"))[1].split():
            await asyncio.sleep(0.02)
        os.write(child.stdin_fd, b"\x03")
        os.write(child.stdin_fd, b"echo a''fter\n")
        while b"after" not in seen:
            assert (await asyncio.to_thread(select.select, [child.stdout_fd], [], [], 10))[0], seen
            seen += os.read(child.stdout_fd, 65536)
        child.close()
        async with asyncio.timeout(3):
            await child.wait()
            while (await shell(phone, "test -d /proc/$(cat /data/local/tmp/pid)"))[0] == 0:
                await asyncio.sleep(0.05)

    in_phone(scenario, "magisk")


def test_the_phones_root_reaches_nothing_of_the_host(tmp_path: Path) -> None:
    """The host's files, processes, network, devices and settings are out of root's reach."""
    marker = tmp_path / "marker"
    marker.write_text("secret")
    attempts = [
        f"cat {marker}",
        f"cat /proc/1/root{marker}",
        "cat /proc/1/exe",
        "chmod 777 /proc/1/exe",
        "ls /proc/1/fd/ | grep .",
        "nsenter -t 1 -m true",
        "toybox mknod /data/local/tmp/disk b 254 0 && cat /data/local/tmp/disk",
        "toybox mount -t devtmpfs none /mnt",
        "toybox mount -t sysfs none /mnt",
        "chmod 600 /dev/null",
        "echo h > /proc/sysrq-trigger",
        "echo 1 > /proc/sys/kernel/panic",
        "echo x > /proc/sys/kernel/core_pattern",
        "cat /proc/kcore",
        "toybox insmod /system/bin/sh",
        "date 010100002020",
        f"kill -0 {os.getpid() + 1_000_000}",
        "chroot /proc/1/root true",
    ]

    async def scenario(phone: PhoneUserland) -> None:
        for attempt in attempts:
            code, out, _ = await shell(phone, f'su -c "{attempt}"')
            assert code != 0 and b"secret" not in out, attempt
        _, out, _ = await shell(phone, "su -c 'cat /proc/*/cmdline /proc/*/environ /proc/mounts'")
        assert b"python" not in out and os.fsencode(tmp_path) not in out
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            code, _, _ = await shell(phone, f"su -c 'echo x | toybox nc -w 2 127.0.0.1 {port}'")
            assert code != 0 and not select.select([server], [], [], 0)[0]
        # everything that root can see and kill is the phone's
        await shell(phone, "su -c 'kill -9 -1'")
        assert (await shell(phone, "echo alive"))[1] == b"alive\n"

    mounts = Path("/proc/self/mountinfo").read_bytes()
    in_phone(scenario, "magisk")
    assert marker.read_text() == "secret"
    assert Path("/proc/self/mountinfo").read_bytes() == mounts


def test_root_maps_to_nobody_on_the_host() -> None:
    """No id of a phone that has a ``su`` is the calling user's."""
    plan = namespaces.plan_ids()
    for _, outside, count in (*plan.uid, *plan.gid):
        assert not outside <= os.getuid() < outside + count


def test_a_phone_of_one_id_refuses_to_be_rooted() -> None:
    """Without ids of its own a phone has no ``su``, and says what is missing."""
    one = namespaces.IdPlan(uid=((0, 1, 1),), gid=((0, 1, 1),))
    with pytest.raises(VirtualPhoneError, match="one user id"):
        namespaces.check_root(one)
