"""Starting the phone's first process from the daemon, and mapping its user ids.

The phone's uid 0 is nobody on the host: root maps it to an unused range, an ordinary user into the
range of /etc/subuid (through newuidmap). Without a range the phone has one id, the user's, and no
process in it ever has power.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from device_tools.errors import VirtualPhoneError
from device_tools.virtual.userland import control
from device_tools.virtual.userland.roots import NONE
from device_tools.virtual.userland.sources import INSTALL, find, missing_for_root

START_LIMIT = 15.0
"""Seconds for namespaces and root; about 0.1 is usual."""
MAP_LIMIT = 5.0
"""Seconds newuidmap and newgidmap may take each."""

IDS = 65536
_ROOTS_BASE = 0x70000000  # far from ranges that tools hand out in /etc/subuid

# the phone's init sees only the standard library and these packages
_BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from device_tools.virtual.userland.init import main; main(int(sys.argv[2]))"
)


@dataclass(frozen=True)
class IdPlan:
    """How ids map. ``tool`` is "newuidmap" or "" (written directly).

    ``uid`` and ``gid`` lines are (inside, outside, count).
    """

    uid: tuple[tuple[int, int, int], ...]
    gid: tuple[tuple[int, int, int], ...]
    tool: str = ""

    @property
    def separate_ids(self) -> bool:
        """False: the phone has one id, so its shell user is its root."""
        return sum(count for _, _, count in self.uid) > 1


@dataclass(frozen=True)
class Started:
    """A running first process: its host-side process, control socket and command listener."""

    process: subprocess.Popen[bytes]
    control: socket.socket
    commands: socket.socket
    ids: IdPlan


def plan_ids() -> IdPlan:
    """The mapping for the calling user. Raises VirtualPhoneError where none keeps the host safe."""
    uid, gid = os.getuid(), os.getgid()
    if uid == 0:
        return _plan_for_root()
    name = _user_name(uid)
    uids = _subordinate("/etc/subuid", name, uid)
    gids = _subordinate("/etc/subgid", name, uid)
    if uids is not None and gids is not None and _have_map_tools():
        return IdPlan(uid=((0, uids, IDS),), gid=((0, gids, IDS),), tool="newuidmap")
    return IdPlan(uid=((0, uid, 1),), gid=((0, gid, 1),))


def launch(root: str = NONE) -> Started:
    """Start pid 1 of a new phone and wait until its root is ready. Call from the main thread: the
    phone dies with the thread that started it. ``root`` is a name of ``roots.PROFILES``. Raises
    VirtualPhoneError."""
    ids = plan_ids()
    if root != NONE:
        check_root(ids)
    plan = {**asdict(find()), "separate_ids": ids.separate_ids, "root": root}
    ours, theirs = control.pair()
    with theirs:
        process = _start_process(theirs)
    ours.settimeout(START_LIMIT)
    try:
        _expect(ours, "unshared")
        _write_maps(process.pid, ids)
        control.send(ours, plan)
        commands = _expect(ours, "ready")[0]
    except (OSError, subprocess.SubprocessError, VirtualPhoneError) as error:
        raise _start_failed(process, ours, error) from error
    ours.setblocking(False)
    if process.stderr:
        process.stderr.close()
    return Started(process, ours, socket.socket(fileno=commands), ids)


def check_root(ids: IdPlan) -> None:
    """Raises VirtualPhoneError when a phone with these ids can have no ``su``."""
    reason = missing_for_root()
    if not ids.separate_ids:
        reason = "virtual phone: no su in a phone with one user id (no newuidmap, or no range)"
    if reason:
        raise VirtualPhoneError(reason, advice=f"{INSTALL}, or start it with --root {NONE}")


def _start_process(theirs: socket.socket) -> subprocess.Popen[bytes]:
    root = str(Path(__file__).resolve().parents[3])
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _BOOT, root, str(theirs.fileno())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        pass_fds=[theirs.fileno()],
        start_new_session=True,
        cwd="/",
        env={},
    )


def _expect(sock: socket.socket, state: str) -> list[int]:
    message, descriptors = control.receive(sock)
    if message is None:
        raise OSError("its first process ended")
    if message["state"] != state:
        raise OSError(message.get("error", f"unexpected state {message['state']}"))
    return descriptors


def _start_failed(
    process: subprocess.Popen[bytes], sock: socket.socket, error: Exception
) -> VirtualPhoneError:
    sock.close()
    process.kill()
    _, stderr = process.communicate()
    last = stderr.decode(errors="replace").strip().rpartition("\n")[2]
    reason = f"{error}{': ' if last else ''}{last}"
    return VirtualPhoneError(
        f"virtual phone: no namespaces for its shell: {reason}",
        advice=f"needs Linux with user namespaces and an unmasked /proc ({INSTALL}); "
        "the GUI works without",
    )


def _plan_for_root() -> IdPlan:
    with open("/proc/self/uid_map") as file:
        total = sum(int(line.split()[2]) for line in file)
    for base in (_ROOTS_BASE, IDS):
        if base + IDS <= total:
            lines = ((0, base, IDS),)
            return IdPlan(uid=lines, gid=lines)
    raise VirtualPhoneError(
        f"virtual phone: this container has only {total} user ids, too few for a phone of its own",
        advice="run as an ordinary user, or in a container with 131072 ids; the GUI works without",
    )


def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return ""


def _have_map_tools() -> bool:
    return all(shutil.which(tool) for tool in ("newuidmap", "newgidmap"))


def _subordinate(path: str, name: str, uid: int) -> int | None:
    """The first id of the user's first big enough range in a file of subuid(5)."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    for line in lines:
        owner, _, span = line.partition(":")
        first, _, count = span.partition(":")
        fits = first.isdecimal() and count.isdecimal() and int(count) >= IDS
        if owner in (name, str(uid)) and owner and fits:
            return int(first)
    return None


def _write_maps(pid: int, ids: IdPlan) -> None:
    if ids.tool:
        for tool, lines in (("newuidmap", ids.uid), ("newgidmap", ids.gid)):
            words = [str(number) for line in lines for number in line]
            _run_map_tool([tool, str(pid), *words])
        return
    if not ids.separate_ids:
        Path(f"/proc/{pid}/setgroups").write_text("deny")
    for name, lines in (("uid_map", ids.uid), ("gid_map", ids.gid)):
        text = "".join(f"{inside} {outside} {count}\n" for inside, outside, count in lines)
        Path(f"/proc/{pid}/{name}").write_text(text)


def _run_map_tool(argv: list[str]) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=MAP_LIMIT, check=False)
    if done.returncode != 0:
        raise OSError(f"{argv[0]}: {done.stderr.strip() or done.returncode}")
