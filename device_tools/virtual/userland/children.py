"""Starting the phone's processes: the code between fork and exec, run as a child of pid 1."""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import signal
import termios
import tty
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from device_tools.virtual.userland import syscalls as sys_
from device_tools.virtual.userland.rootfs import SHELL_UID

SHELL = "/system/bin/sh"
MAX_PROCESSES = 1024
"""Of the shell user of one phone, so that a runaway script cannot fill the host."""

_GROUPS = [1004, 1007, 1011, 1015, 1028, 3001, 3002, 3003, 3006, 3009, 3011]

ENVIRONMENT = {
    "PATH": "/product/bin:/apex/com.android.runtime/bin:/apex/com.android.art/bin:"
    "/system_ext/bin:/system/bin:/system/xbin:/odm/bin:/vendor/bin:/vendor/xbin",
    "HOME": "/",
    "SHELL": "/bin/sh",
    "TMPDIR": "/data/local/tmp",
    "HOSTNAME": "localhost",
    "USER": "shell",
    "LOGNAME": "shell",
    "TERM": "dumb",
    "ANDROID_ROOT": "/system",
    "ANDROID_DATA": "/data",
    "ANDROID_STORAGE": "/storage",
    "EXTERNAL_STORAGE": "/sdcard",
}


@dataclass(frozen=True)
class Streams:
    """Descriptors for 0, 1 and 2 of a new process; ``controlling`` makes 0 its terminal."""

    stdin: int
    stdout: int
    stderr: int
    controlling: bool = False


@dataclass(frozen=True)
class User:
    """Who adb's shell and file service are. Without ``separate_ids`` uid 0 stands for uid 2000.

    ``root``: adbd runs as root. ``powerless``: a ``su`` gets uid 0 and no power.
    """

    separate_ids: bool
    powerless: bool = False
    root: bool = False

    @property
    def environment(self) -> dict[str, str]:
        return {**ENVIRONMENT, "USER": "root", "LOGNAME": "root"} if self.root else ENVIRONMENT


def open_pty(user: User, *, raw: bool) -> tuple[int, int]:
    """A (master, slave) pair of the phone's own devpts, owned by the user."""
    master, slave = os.openpty()
    if user.separate_ids and not user.root:
        os.fchown(slave, SHELL_UID, SHELL_UID)
    if raw:
        tty.setraw(slave)
    return master, slave


def spawn_shell(command: str | None, env: Mapping[str, str], streams: Streams, user: User) -> int:
    """Start ``sh -c command`` (None: a login shell) in a session of its own; its pid.

    Returns once the shell runs, so that a signal sent next meets its process group.
    """
    argv = [SHELL, "-"] if command is None else [SHELL, "-c", command]

    def body() -> int:
        os.setsid()
        _attach(streams)
        become(user)
        _default_signals()
        os.execve(SHELL, [os.path.basename(SHELL), *argv[1:]], {**user.environment, **env})  # noqa: S606

    running, mark = os.pipe2(os.O_CLOEXEC)
    pid = fork(body)
    os.close(mark)
    os.read(running, 1)  # end of file: exec closed the other copy
    os.close(running)
    return pid


def fork(body: Callable[[], int]) -> int:
    """Run ``body`` in a child and end that child with its result, 127 on an OSError."""
    if pid := os.fork():
        return pid
    code = 127
    try:
        code = body()
    except OSError as error:
        os.write(2, f"{SHELL}: {error.strerror}\n".encode())
    finally:
        os._exit(code)


def become(user: User, *, unkillable: bool = False) -> None:
    """Drop to uid 2000, unless adbd is root; with a single user id, drop every capability instead.

    ``unkillable``, for a process of ours that only ever acts as that user: it keeps 0 as its real
    and saved id, so that no ``kill -1`` of the phone's shell ends it.
    """
    os.chdir("/")
    os.umask(0o022)
    resource.setrlimit(resource.RLIMIT_NPROC, (MAX_PROCESSES, MAX_PROCESSES))
    if not user.separate_ids:
        sys_.drop_capabilities()
        return
    os.setgroups(_GROUPS)
    if user.root:
        return
    if user.powerless:
        sys_.limit_capabilities((sys_.CAP_SETUID, sys_.CAP_SETGID))  # what su needs to be one
    os.setresgid(SHELL_UID, SHELL_UID, SHELL_UID)
    kept = 0 if unkillable else SHELL_UID
    os.setresuid(kept, SHELL_UID, kept)


def _attach(streams: Streams) -> None:
    # all three are above 2 (pid 1 keeps 0..2 open), so no dup2 can cover another
    for target, fd in enumerate((streams.stdin, streams.stdout, streams.stderr)):
        os.dup2(fd, target, inheritable=True)
    if streams.controlling:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _default_signals() -> None:
    for number in range(1, signal.NSIG):
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
