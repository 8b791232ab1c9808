from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from device_tools.virtual.userland import namespaces
from tests.device_tools.virtual.userland.phone import needs_userland

_DAEMON = """
import asyncio, os
from device_tools.virtual.userland import phone_userland

async def main():
    phone = await phone_userland.start()
    for pty in (True, False):
        await phone.spawn(
            "trap '' HUP TERM; sleep 98765", pty=pty, raw_pty=False, merge_stderr=True, env={}
        )
    await phone.sync_socket()
    print(os.stat(f"/proc/{phone.first_pid}/ns/net").st_ino, phone.separate_ids, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


def members(namespace: int) -> list[int]:
    """Processes of this host that live in the network namespace."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if os.stat(entry / "ns/net").st_ino == namespace:
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def start_daemon(argv: list[str]) -> tuple[subprocess.Popen[str], int, bool]:
    daemon = subprocess.Popen([*argv, "-c", _DAEMON], stdout=subprocess.PIPE, text=True)
    assert daemon.stdout
    assert select.select([daemon.stdout], [], [], 20)[0]
    namespace, separate = daemon.stdout.readline().split()
    return daemon, int(namespace), separate == "True"


def kill_and_wait(daemon: subprocess.Popen[str], namespace: int) -> None:
    assert len(members(namespace)) >= 5
    daemon.send_signal(signal.SIGKILL)
    daemon.communicate()
    deadline = time.monotonic() + 5
    while members(namespace) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert members(namespace) == []


@needs_userland
def test_killing_the_daemon_leaves_no_process() -> None:
    """After kill -9 of the daemon every process of the phone is gone."""
    daemon, namespace, _ = start_daemon([sys.executable])
    kill_and_wait(daemon, namespace)


@needs_userland
def test_an_ordinary_user_without_ranges_gets_a_phone_of_one_id() -> None:
    """Without newuidmap ranges the phone starts, says that it has one id, and dies as well."""
    python = "/usr/bin/python3"
    if os.getuid() != 0:
        pytest.skip("only root can become a user without ranges")
    supported = "import sys; sys.exit(sys.version_info < (3, 11))"
    if subprocess.run([python, "-c", supported], check=False).returncode != 0:
        pytest.skip("the system's python3, which every user can run, is older than 3.11")
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    repository = Path(namespaces.__file__).parents[3]
    if subprocess.run(
        [*as_nobody, "test", "-r", f"{repository}/device_tools/errors.py"]
    ).returncode:
        pytest.skip("the sources are not readable by other users")
    daemon, namespace, separate = start_daemon([*as_nobody, python])
    assert separate is False
    kill_and_wait(daemon, namespace)


def test_the_phones_root_is_never_the_hosts() -> None:
    """No mapping for root maps the host's uid 0."""
    plan = namespaces.plan_ids()
    outside = [line[1] for line in (*plan.uid, *plan.gid)]
    assert 0 not in outside
    assert plan.uid[0][0] == 0


@needs_userland
def test_a_masked_proc_is_named_with_the_remedy() -> None:
    """Where the kernel refuses the phone's /proc, the reason says so and nothing is left."""
    if os.getuid() != 0:
        pytest.skip("only root can mask a part of /proc")
    code = "from device_tools.virtual.userland import phone_userland as p; print(p.available())"
    masked = 'mount -t tmpfs none /proc/fs && exec "$@"'
    argv = ["unshare", "-m", "sh", "-c", masked, "-", sys.executable, "-c", code]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=True)
    assert "mount proc" in done.stdout and "unmasked /proc" in done.stdout
    assert done.stderr == ""
