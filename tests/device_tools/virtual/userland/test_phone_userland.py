from __future__ import annotations

import asyncio
import errno
import os
import select
import socket
from pathlib import Path

import pytest

from device_tools.virtual.ports import WindowSize
from device_tools.virtual.userland.phone_userland import PhoneUserland
from tests.device_tools.virtual.userland.phone import in_phone, needs_userland, shell, spawn

pytestmark = needs_userland


def read_pty(fd: int, until: bytes) -> bytes:
    data = b""
    while until not in data:
        assert select.select([fd], [], [], 10)[0], data
        data += os.read(fd, 65536)
    return data


async def until_running(phone: PhoneUserland, name: bytes) -> None:
    """A shell that has forked but not yet executed the command would lose a signal."""
    while name not in (await shell(phone, "toybox ps -A -o CMD"))[1].split():
        await asyncio.sleep(0.01)


def test_exit_code_stdout_and_stderr_come_back_apart() -> None:
    """A command's two outputs and its exit code are kept apart."""
    answer = in_phone(lambda phone: shell(phone, "echo out; echo err >&2; exit 9"))
    assert answer == (9, b"out\n", b"err\n")


def test_a_signal_is_128_and_its_number() -> None:
    """A killed command ends with 128 + signal."""
    assert in_phone(lambda phone: shell(phone, "kill -9 $$"))[0] == 137


def test_any_byte_but_nul_passes_in_a_command() -> None:
    """Bytes that are no UTF-8 reach the shell unchanged."""
    command = os.fsdecode(b"printf %s '\xff\xe4\x80'")
    assert in_phone(lambda phone: shell(phone, command))[1] == b"\xff\xe4\x80"


def test_the_shell_user_is_2000_and_owns_only_its_places() -> None:
    """The shell is uid 2000 with Android's groups and can write /data/local/tmp but not /system."""

    async def scenario(phone: PhoneUserland) -> None:
        if not phone.separate_ids:
            pytest.skip("one user id only: no newuidmap or no /etc/subuid range here")
        _, out, _ = await shell(phone, "id; pwd")
        assert out.startswith(b"uid=2000(shell) gid=2000(shell) groups=")
        assert b"3003(inet)" in out and out.endswith(b"\n/\n")
        command = "echo a > /data/local/tmp/a && echo b > /sdcard/b && echo c > /system/c"
        code, _, _ = await shell(phone, command)
        assert code == 1
        _, out, _ = await shell(phone, "ls /data/local/tmp; ls /storage/emulated/0/b")
        assert out == b"a\n/storage/emulated/0/b\n"

    in_phone(scenario)


def test_no_capability_is_left() -> None:
    """The shell holds no capability, whatever its user id."""
    _, out, _ = in_phone(lambda phone: shell(phone, "grep CapEff /proc/self/status"))
    assert out.split() == [b"CapEff:", b"0000000000000000"]


def test_processes_and_storage_are_limited() -> None:
    """The shell cannot fork without end, and the phone's storage has a size."""

    async def scenario(phone: PhoneUserland) -> None:
        _, out, _ = await shell(phone, "grep 'Max processes' /proc/self/limits; df -h / | tail -1")
        assert b"1024" in out and b"1.0G" in out

    in_phone(scenario)


def test_toybox_and_busybox_commands_work() -> None:
    """Commands of toybox and those it lacks are there; su and reboot are not."""

    async def scenario(phone: PhoneUserland) -> None:
        _, out, _ = await shell(phone, "echo abc | tr a-c A-C | md5sum; expr 2 + 3; hostname")
        assert out == b"6d0b865b7d33c81b43fabaf044a35f76  -\n5\nlocalhost\n"
        code, _, err = await shell(phone, "su")
        assert code == 127 and b"inaccessible or not found" in err

    in_phone(scenario)


def test_no_file_of_the_host_is_reachable(tmp_path: Path) -> None:
    """Neither a host file nor the host's /proc or binaries can be opened by any path."""
    marker = tmp_path / "marker"
    marker.write_text("secret")
    paths = [str(marker), "/etc/hostname", "/usr/bin/env", f"/proc/{os.getpid()}/root/etc/passwd"]
    paths += [f"/proc/1/root{marker}", f"/../../..{marker}", "/proc/1/cwd/etc/hostname"]

    async def scenario(phone: PhoneUserland) -> None:
        for path in paths:
            code, out, _ = await shell(phone, f"cat '{path}'")
            assert (code, out) == (1, b""), path
        code, _, _ = await shell(phone, "cat /proc/1/exe > /dev/null")
        assert code == 1
        _, out, _ = await shell(phone, "cat /proc/*/cmdline /proc/mounts /proc/self/cgroup")
        assert b"python" not in out and os.fsencode(Path(__file__).parents[4]) not in out

    in_phone(scenario)


def test_no_process_of_the_host_is_visible() -> None:
    """The phone sees its own few processes only, pid 1 among them as init."""

    async def scenario(phone: PhoneUserland) -> None:
        _, out, _ = await shell(phone, "toybox ps -A -o NAME")
        assert set(out.split()[1:]) <= {b"init", b"sh", b"toybox", b"adbd"}
        assert b"init" in out

    in_phone(scenario)


def test_the_hosts_loopback_is_not_the_phones() -> None:
    """A port of the host's 127.0.0.1 is refused inside the phone."""

    async def scenario(phone: PhoneUserland) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            code, _, _ = await shell(phone, f"echo x | toybox nc -w 2 127.0.0.1 {port}")
            assert code != 0
            assert await phone.connect(f"tcp:{port}") is None
            assert not select.select([server], [], [], 0)[0]

    in_phone(scenario)


def test_the_hosts_mounts_stay_as_they_were() -> None:
    """Starting and using a phone changes no mount of the host."""
    before = Path("/proc/self/mountinfo").read_bytes()
    during = in_phone(lambda phone: _mountinfo())
    assert before == during == Path("/proc/self/mountinfo").read_bytes()


async def _mountinfo() -> bytes:
    return Path("/proc/self/mountinfo").read_bytes()


def test_a_pty_is_a_terminal_of_the_phone() -> None:
    """A PTY comes from the phone's own devpts, has the window size, and is the controlling tty."""

    async def scenario(phone: PhoneUserland) -> None:
        child = await phone.spawn(
            None, pty=True, raw_pty=False, merge_stderr=False, env={"TERM": "xterm"},
            winsize=WindowSize(rows=33, cols=77),
        )  # fmt: skip
        assert child.stderr_fd is None
        os.write(child.stdin_fd, b"tty; stty size; echo $TERM; echo > /dev/tty && echo done\n")
        out = await asyncio.to_thread(read_pty, child.stdout_fd, b"\ndone")
        assert b"/dev/pts/0\r\n33 77\r\nxterm\r\n" in out
        child.resize(WindowSize(rows=10, cols=20))
        os.write(child.stdin_fd, b"stty size; exit 4\n")
        await asyncio.to_thread(read_pty, child.stdout_fd, b"10 20\r\n")
        assert await child.wait() == 4
        child.close()

    in_phone(scenario)


def test_a_raw_pty_changes_no_byte() -> None:
    """With ``raw_pty`` a newline stays a newline."""

    async def scenario(phone: PhoneUserland) -> None:
        child = await phone.spawn("echo a; tty", pty=True, raw_pty=True, merge_stderr=False, env={})
        assert read_pty(child.stdout_fd, b"pts/0\n") == b"a\n/dev/pts/0\n"
        child.close()

    in_phone(scenario)


def test_ctrl_c_interrupts() -> None:
    """Signals are back to their defaults, so the interrupt character ends a command."""

    async def scenario(phone: PhoneUserland) -> None:
        child = await phone.spawn(
            "sleep 60; echo never", pty=True, raw_pty=False, merge_stderr=False, env={}
        )
        await until_running(phone, b"sleep")
        os.write(child.stdin_fd, b"\x03")
        assert await child.wait() == 130
        child.close()

    in_phone(scenario)


def test_kill_and_hangup_reach_the_process_group() -> None:
    """``hangup`` ends a shell and what it runs; ``kill`` ends one that ignores it."""

    async def scenario(phone: PhoneUserland) -> None:
        first = await spawn(phone, "sleep 60; echo never")
        await until_running(phone, b"sleep")
        first.hangup()
        assert await first.wait() == 129
        second = await spawn(phone, "trap '' HUP; echo ready; sleep 60; sleep 60")
        select.select([second.stdout_fd], [], [], 10)
        second.hangup()
        second.kill()
        assert await second.wait() == 137
        second.kill()
        first.close()
        second.close()
        second.close()

    in_phone(scenario)


def test_sockets_of_the_phones_network() -> None:
    """A listener made in the phone is reached by ``connect`` there, by port and by name."""

    async def scenario(phone: PhoneUserland) -> None:
        for spec in ("tcp:0", "localabstract:here"):
            listener = await phone.listen(spec)
            address = listener.getsockname()
            where = f"tcp:{address[1]}" if spec == "tcp:0" else spec
            client = await phone.connect(where)
            assert client is not None
            with listener, client, listener.accept()[0] as accepted:
                client.sendall(b"hello")
                assert accepted.recv(5) == b"hello"
        assert await phone.connect("tcp:1") is None
        with pytest.raises(OSError, match="no socket"):
            await phone.listen("vsock:3")

    in_phone(scenario)


def test_a_command_longer_than_linux_takes_is_refused() -> None:
    """The limit of one argument is an error, not a truncated command."""

    async def scenario(phone: PhoneUserland) -> None:
        with pytest.raises(OSError) as error:
            await shell(phone, "x" * 140_000)
        assert error.value.errno == errno.E2BIG
        code, out, _ = await shell(phone, "echo " + "y" * 130_000)
        assert (code, len(out)) == (0, 130_001)

    in_phone(scenario)


def test_many_commands_at_once() -> None:
    """Concurrent commands each get their own output."""

    async def scenario(phone: PhoneUserland) -> None:
        answers = await asyncio.gather(*(shell(phone, f"echo {n}; exit {n}") for n in range(20)))
        assert answers == [(n, b"%d\n" % n, b"") for n in range(20)]

    in_phone(scenario)


def test_requests_after_the_end_are_errors() -> None:
    """A phone whose first process died answers with an error and ends its children."""

    async def scenario(phone: PhoneUserland) -> None:
        child = await spawn(phone, "sleep 60")
        os.kill(phone.first_pid, 9)
        assert await child.wait() == 137
        with pytest.raises(OSError, match="ended"):
            await shell(phone, "true")
        child.close()

    in_phone(scenario)
