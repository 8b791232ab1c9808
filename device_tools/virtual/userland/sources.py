"""Which programs of the host the phone's root is filled from, and why it cannot be, if so.

Everything is copied into the phone: Debian's static mksh as ``sh``, toybox for Android's commands,
busybox for those that toybox lacks (tr, dd, stty, ip, vi, expr, diff, more, ...).
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
from dataclasses import dataclass

INSTALL = "apt install mksh toybox busybox-static uidmap"
LIST_LIMIT = 10.0
"""Seconds a host program may take to list its commands or libraries."""

_MKSH = ("/usr/lib/*-linux-musl/bin/mksh", "/usr/lib/klibc/bin/mksh", "/bin/mksh-static")
# they would act on the host's power or need a privilege that no shell of the phone has
_UNWANTED = {
    "su", "sulogin", "login", "getty", "reboot", "halt", "poweroff", "init", "linuxrc", "dpkg",
    "dpkg-deb", "rpm", "rpm2cpio", "ash", "sh", "busybox", "toybox", "mkpasswd", "passwd",
    "run-init", "switch_root", "pivot_root",
}  # fmt: skip


@dataclass(frozen=True)
class Sources:
    """Host files to copy: ``copies`` (from, to) and ``links`` (name, program) of /system/bin."""

    shell: str
    copies: tuple[tuple[str, str], ...]
    links: tuple[tuple[str, str], ...]

    @property
    def shell_is_mksh(self) -> bool:
        return "mksh" in self.shell


def missing() -> str:
    """Empty, or which programs are not installed and how to install them."""
    if not _shell():
        return f"virtual phone: no static mksh or busybox for its shell ({INSTALL})"
    if not _tool("toybox"):
        return f"virtual phone: no toybox for its commands ({INSTALL})"
    return ""


def missing_for_root() -> str:
    """Empty, or why no phone here can have a ``su``."""
    path = _tool("busybox")
    if path and not _libraries(path) and "su" in _listing([path, "--list"]).split():
        return ""
    return "virtual phone: no static busybox for its su (apt install busybox-static)"


def find() -> Sources:
    """Look the programs up on this host. Call only when ``missing()`` is empty."""
    copies = {"/system/bin/sh": _shell()}
    links: dict[str, str] = {}
    for tool in ("toybox", "busybox"):
        if path := _tool(tool):
            copies[f"/system/bin/{tool}"] = path
            for library in _libraries(path):
                copies[library] = library
            for name in _applets(tool, path):
                links.setdefault(name, tool)
    pairs = tuple((source, target) for target, source in copies.items())
    return Sources(shell=copies["/system/bin/sh"], copies=pairs, links=tuple(links.items()))


def _shell() -> str:
    for pattern in _MKSH:
        for path in sorted(glob.glob(pattern)):
            return os.path.realpath(path)
    busybox = _tool("busybox")
    return busybox if busybox and not _libraries(busybox) else ""


def _tool(name: str) -> str:
    return os.path.realpath(found) if (found := shutil.which(name)) else ""


def _libraries(path: str) -> list[str]:
    """The shared libraries of a program with the loader; none for a static one."""
    done = _listing(["ldd", path])
    return re.findall(r"(/\S+) \(0x", done)


def _applets(tool: str, path: str) -> list[str]:
    text = _listing([path, "--list"] if tool == "busybox" else [path])
    return [name for name in text.split() if name not in _UNWANTED and "/" not in name]


def _listing(argv: list[str]) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=LIST_LIMIT, check=False)
    return done.stdout
