"""The phone's root: a tmpfs that only this mount namespace sees, holding copies and no host file.

``build`` runs as the phone's pid 1 in fresh namespaces; when it returns, ``/`` is the phone's and
the host's tree is detached. Nothing is left to delete afterwards: the tmpfs ends with the phone.
"""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress

from device_tools.virtual.userland import command_client, su_script
from device_tools.virtual.userland import syscalls as sys_
from device_tools.virtual.userland.roots import HELPER, RootProfile
from device_tools.virtual.userland.sources import Sources

STORAGE_LIMIT = "1g"
SHELL_UID = 2000
COMMAND_SOCKET = "/dev/socket/vphone"

_MOUNT_POINT = "/tmp"  # noqa: S108 -- any folder that every host has; covered in our namespace only
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")

_FOLDERS = (
    "/system",
    "/system/bin",
    "/system/xbin",
    "/system/etc",
    "/system/lib",
    "/system/framework",
    "/vendor",
    "/product",
    "/odm",
    "/apex",
    "/mnt",
    "/mnt/user",
    "/mnt/user/0",
    "/cache",
    "/metadata",
    "/acct",
    "/config",
    "/oem",
    "/sys",
    "/proc",
    "/dev",
    "/dev/pts",
    "/dev/shm",  # noqa: S108 -- the phone's
    "/dev/socket",
    "/data",
    "/data/app",
    "/data/data",
    "/data/system",
    "/data/user",
    "/data/user_de",
    "/data/user_de/0",
    "/data/local",
    "/data/local/tmp",
    "/storage",
    "/storage/self",
    "/storage/emulated",
    "/storage/emulated/0",
    "/storage/emulated/0/Download",
    "/storage/emulated/0/Pictures",
    "/storage/emulated/0/DCIM",
)  # fmt: skip)

_LINKS = {
    "/bin": "/system/bin",
    "/etc": "/system/etc",
    "/sdcard": "/storage/self/primary",
    "/storage/self/primary": "/storage/emulated/0",
    "/mnt/sdcard": "/storage/self/primary",
    "/mnt/user/0/primary": "/storage/emulated/0",
    "/data/user/0": "/data/data",
    "/dev/ptmx": "pts/ptmx",
    "/dev/fd": "/proc/self/fd",
    "/dev/stdin": "/proc/self/fd/0",
    "/dev/stdout": "/proc/self/fd/1",
    "/dev/stderr": "/proc/self/fd/2",
    "/.mkshrc": "/system/etc/mkshrc",  # where a mksh not built for Android looks for it
}

_MODES = {
    "/data": 0o771,
    "/data/app": 0o771,
    "/data/data": 0o771,
    "/data/local": 0o771,
    "/data/local/tmp": 0o771,
    "/dev/shm": 0o1777,  # noqa: S108 -- the phone's
}
_SHELL_OWNED = ("/data/local", "/data/local/tmp")

# no password: what keeps a user from becoming root is that only a rooted phone has the helper
_USERS = """\
root::0:0::/:/system/bin/sh
system::1000:1000::/:/system/bin/sh
shell::2000:2000::/:/system/bin/sh
"""

_GROUPS = {
    "root": 0, "system": 1000, "input": 1004, "log": 1007, "adb": 1011, "sdcard_rw": 1015,
    "sdcard_r": 1028, "shell": 2000, "net_bt_admin": 3001, "net_bt": 3002, "inet": 3003,
    "net_bw_stats": 3006, "readproc": 3009, "uhid": 3011,
}  # fmt: skip

_MKSHRC = """\
HOSTNAME=$(getprop ro.product.device)
: ${HOSTNAME:=android}
if (( USER_ID )); then PS1='$'; else PS1='#'; fi
PS1='${|
  typeset e=$?
  (( e )) && REPLY+="$e|"
  return $e
}$HOSTNAME:${PWD:-?} '"$PS1 "
"""


def build(sources: Sources, profile: RootProfile | None, *, separate_ids: bool) -> None:
    """Make the tree, enter it, detach the host's. Raises OSError naming the step.

    ``separate_ids`` is False in a phone with one user id, where nothing can belong to uid 2000.
    """
    sys_.mount("none", "/", "", sys_.MS_REC | sys_.MS_PRIVATE)
    sys_.mount("tmpfs", _MOUNT_POINT, "tmpfs", 0, f"mode=0755,size={STORAGE_LIMIT}")
    os.chdir(_MOUNT_POINT)
    os.umask(0o022)
    _make_tree(separate_ids)
    _copy_programs(sources)
    _write_configuration(sources.shell_is_mksh)
    _write_root(profile)
    _mount_devices()
    # the kernel allows a new proc only while a whole one is still visible
    sys_.mount("proc", "proc", "proc", sys_.MS_NOSUID | sys_.MS_NODEV | sys_.MS_NOEXEC)
    sys_.pivot_root_here()
    # as Android's init does: what is mounted in a copy of this namespace shows up here
    sys_.mount("none", "/", "", sys_.MS_REC | sys_.MS_SHARED)


def _here(path: str) -> str:
    return path.lstrip("/")


def _make_tree(separate_ids: bool) -> None:
    before = os.umask(0)
    for path in _FOLDERS:
        mode = 0o777 if path.startswith("/storage/emulated/0") else _MODES.get(path, 0o755)
        os.mkdir(_here(path), mode)
        if separate_ids and path in _SHELL_OWNED:
            os.chown(_here(path), SHELL_UID, SHELL_UID)
    for path, target in _LINKS.items():
        os.symlink(target, _here(path))
    os.umask(before)


def _copy_programs(sources: Sources) -> None:
    for source, target in sources.copies:
        with open(source, "rb") as file:
            write_file(_here(target), file.read(), 0o755)
    for name in command_client.NAMES:
        if name != command_client.PROGRAM:
            os.symlink(command_client.PROGRAM, f"system/bin/{name}")
    for name, program in sources.links:
        if name not in command_client.NAMES:
            os.symlink(program, f"system/bin/{name}")


def _write_configuration(mksh: bool) -> None:
    script = command_client.script(mksh=mksh, socket=COMMAND_SOCKET)
    write_file(f"system/bin/{command_client.PROGRAM}", script.encode(), 0o755)
    groups = "".join(f"{name}:x:{number}:\n" for name, number in _GROUPS.items())
    write_file("system/etc/passwd", _USERS.encode())
    write_file("system/etc/group", groups.encode())
    write_file("system/etc/shells", b"/system/bin/sh\n")
    write_file("system/etc/hosts", b"127.0.0.1 localhost\n")
    write_file("system/etc/mkshrc", _MKSHRC.encode())


def _write_root(profile: RootProfile | None) -> None:
    """What tells the shell who it is, and the ``su`` and the folders of the root manager."""
    for name, text in (("id", su_script.identity(profile)), ("getenforce", su_script.GETENFORCE)):
        path = f"system/bin/{name}"
        with suppress(FileNotFoundError):
            os.unlink(path)
        write_file(path, text.encode(), 0o755)
    if profile is None:
        return
    for folder in profile.folders:
        os.mkdir(_here(folder), 0o700 if folder == "/data/adb" else 0o755)
    busybox = "system/bin/busybox"
    shutil.copy(busybox, _here(profile.busybox))
    os.mkdir(_here(os.path.dirname(HELPER)))
    shutil.copy(busybox, _here(HELPER))
    os.chown(_here(HELPER), 0, SHELL_UID)
    os.chmod(_here(HELPER), 0o4750)  # noqa: S103 -- setuid is its job, in the phone only
    write_file(_here(profile.su), su_script.su(profile).encode(), 0o755)


def write_file(path: str, data: bytes, mode: int = 0o644) -> None:
    """Create ``path`` and its missing parents."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    with open(fd, "wb") as file:
        file.write(data)


def _mount_devices() -> None:
    """Device nodes cannot be made in a user namespace: bind the harmless ones, one by one."""
    for name in _DEVICES:
        path = f"dev/{name}"
        os.mknod(path, 0o666 | stat.S_IFREG)
        sys_.mount(f"/dev/{name}", path, "", sys_.MS_BIND)
    sys_.mount("devpts", "dev/pts", "devpts", sys_.MS_NOSUID | sys_.MS_NOEXEC, _PTS_OPTIONS)


_PTS_OPTIONS = "newinstance,ptmxmode=0666,mode=0600"
