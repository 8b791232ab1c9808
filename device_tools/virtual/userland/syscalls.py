"""The few Linux system calls that Python 3.11 does not offer, through libc."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Collection

CAP_SETGID = 6
CAP_SETUID = 7

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
MS_SHARED = 0x100000
MNT_DETACH = 0x2

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NAME = 15
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    _check(_libc.unshare(ctypes.c_int(flags)), "unshare")


def mount(source: str, target: str, kind: str, flags: int = 0, options: str = "") -> None:
    arguments = (source.encode(), target.encode(), kind.encode())
    result = _libc.mount(*arguments, ctypes.c_ulong(flags), options.encode())
    _check(result, f"mount {kind or source} on {target}")


def pivot_root_here() -> None:
    """Make the current folder (a mount point) the root and detach all that was mounted before."""
    number = _SYS_PIVOT_ROOT[os.uname().machine]
    _check(_libc.syscall(ctypes.c_long(number), b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", ctypes.c_int(MNT_DETACH)), "umount of the old root")
    os.chdir("/")


def machine_supported() -> bool:
    """Whether the number of ``pivot_root``, which libc does not wrap, is known here."""
    return os.uname().machine in _SYS_PIVOT_ROOT


def die_with_parent() -> None:
    """SIGKILL when the parent ends. The kernel forgets it at every change of credentials."""
    _prctl(_PR_SET_PDEATHSIG, 9)


def set_name(name: str) -> None:
    """The process's ``comm``, at most 15 bytes."""
    buffer = ctypes.create_string_buffer(name.encode())
    _check(_libc.prctl(_PR_SET_NAME, buffer, 0, 0, 0), "prctl")


def drop_capabilities() -> None:
    """Give up what a later exec as uid 0 would get, for good."""
    limit_capabilities(())
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def limit_capabilities(kept: Collection[int]) -> None:
    """A later exec as uid 0 gets no capability but the ``kept``."""
    with open("/proc/sys/kernel/cap_last_cap", "rb") as file:
        last = int(file.read())
    for capability in range(last + 1):
        if capability not in kept:
            _prctl(_PR_CAPBSET_DROP, capability)


def shut_off() -> None:
    """No process of the phone, its root included, may trace this one or open its ``/proc`` files:
    they lead to files of the host (``exe``) and to the daemon (``fd``)."""
    _prctl(_PR_SET_DUMPABLE, 0)


def hide_command_line(name: bytes) -> None:
    """Overwrite argv in place, so that ``ps`` shows ``name`` and no path of the host."""
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    start, end = int(fields[45]), int(fields[46])  # fields 48 and 49 of proc(5), after comm
    ctypes.memset(start, 0, end - start)
    ctypes.memmove(start, name, min(len(name), end - start - 1))


def _prctl(option: int, value: int) -> None:
    arguments = (ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))
    _check(_libc.prctl(ctypes.c_int(option), *arguments), "prctl")
