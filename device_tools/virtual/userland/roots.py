"""How a phone is rooted: the profiles, as plain facts. ``su_script`` and ``rootfs`` act on them.

Read, not measured, in the sources and issues of Magisk, KernelSU, APatch and AOSP's ``su.cpp``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

HELPER = "/system/bin/.vphone/su"
"""A setuid copy of busybox, the one program that changes the user; only uid 2000 may run it."""

SHELL_CONTEXT = "u:r:shell:s0"


class Form(Enum):
    """How ``su`` reads its arguments."""

    OPTIONS = "options"
    """``su [OPTIONS] [-] [USER]``; what follows ``-c`` is joined with spaces."""
    WHO = "who"
    """``su [WHO [COMMAND...]]``, AOSP's; ``-c`` is an invalid user."""


class Grant(Enum):
    """What the root manager answers."""

    YES = "yes"
    NO = "no"
    LATE = "late"
    """Nobody touches its question: refused after a minute."""


@dataclass(frozen=True)
class RootProfile:
    """``busybox`` is where the root manager keeps its own; ``detached`` means that root's commands
    are no children of ``su``, so that they outlive it; ``powerless``: uid 0 with next to no
    capability and the shell's SELinux context; ``adb_root``: adbd may run as root."""

    form: Form = Form.OPTIONS
    grant: Grant = Grant.YES
    su: str = "/system/bin/su"
    version: str = ""
    version_code: str = ""
    busybox: str = ""
    folders: tuple[str, ...] = ()
    context: str = "u:r:magisk:s0"
    detached: bool = False
    powerless: bool = False
    adb_root: bool = False


_MAGISK_PLACES = ("/data/adb", "/data/adb/magisk", "/data/adb/modules", "/data/adb/service.d")


def _magisk(grant: Grant) -> RootProfile:
    return RootProfile(
        grant=grant,
        version="28.1:MAGISKSU",
        version_code="28100",
        busybox="/data/adb/magisk/busybox",
        folders=_MAGISK_PLACES,
        detached=True,
    )


def _kernelsu(*, powerless: bool) -> RootProfile:
    return RootProfile(
        version="1.0.3:KernelSU",
        version_code="11986",
        busybox="/data/adb/ksu/bin/busybox",
        folders=("/data/adb", "/data/adb/ksu", "/data/adb/ksu/bin", "/data/adb/modules"),
        context=SHELL_CONTEXT if powerless else "u:r:su:s0",
        powerless=powerless,
    )


NONE = "none"

PROFILES: dict[str, RootProfile | None] = {
    NONE: None,
    "magisk": _magisk(Grant.YES),
    "kernelsu": _kernelsu(powerless=False),
    "apatch": RootProfile(
        version="11039:APatch",
        version_code="11039",
        busybox="/data/adb/ap/bin/busybox",
        folders=("/data/adb", "/data/adb/ap", "/data/adb/ap/bin", "/data/adb/modules"),
    ),
    "aosp": RootProfile(
        form=Form.WHO,
        su="/system/xbin/su",
        busybox="/system/xbin/busybox",
        context="u:r:su:s0",
        adb_root=True,
    ),
    "denied": _magisk(Grant.NO),
    "slow": _magisk(Grant.LATE),
    "powerless": _kernelsu(powerless=True),
}
"""By the name that ``bridge virtual start --root`` takes; None: the phone has no ``su``."""
