"""How this phone lets adb run something as root, if at all."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from device_tools import limits
from device_tools.adb import AdbPhone
from device_tools.errors import NotAvailable

AsRoot = Callable[..., list[str]]


def root_command(phone: AdbPhone) -> AsRoot:
    """The function that turns a command vector into one that runs as root.

    adbd itself may be root; else Magisk, KernelSU and APatch (``su -c LINE``) and AOSP's own
    ``su 0 COMMAND`` are tried, in this order.

    Raises:
        NotAvailable: none of them makes us root.
    """
    forms: tuple[AsRoot, ...] = (_plain, _as_line, _as_words)
    for form in forms:
        result = phone.shell(form("id", "-u"), limit=limits.SHELL_READ)
        if result.code == 0 and result.stdout.strip() == b"0":
            return form
    raise NotAvailable(
        "root is not available on this phone: no su made adb uid 0",
        advice="this tool needs a rooted phone, and its user's consent in the root manager",
    )


def _plain(*argv: str) -> list[str]:
    return list(argv)


def _as_line(*argv: str) -> list[str]:
    return ["su", "-c", shlex.join(argv)]


def _as_words(*argv: str) -> list[str]:
    return ["su", "0", *argv]
