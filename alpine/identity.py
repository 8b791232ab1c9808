"""How a shell of the phone is started as user or as root. The one place that quotes a command."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Identity(StrEnum):
    """``user`` is what adbd gives and is never raised."""

    USER = "user"
    ROOT = "root"


class Elevation(StrEnum):
    """NONE: adbd's own identity. COMMAND: Magisk, KernelSU, APatch take one string behind
    ``-c``. WHO: the su of AOSP takes a user and an argument vector."""

    NONE = "none"
    COMMAND = "su -c"
    WHO = "su 0"


@dataclass(frozen=True)
class ShellForm:
    """``words`` start the shell that supervises, ``environment`` is set for it. ``inner`` start
    the shell that runs commands, where it is another one: inside a chroot."""

    identity: Identity = Identity.USER
    elevation: Elevation = Elevation.NONE
    words: tuple[str, ...] = ("sh",)
    environment: tuple[str, ...] = ()
    inner: tuple[str, ...] = ()

    def script(self, text: str, *arguments: str) -> str:
        """The command for adb that runs a script of ours with ``$1``... in this form."""
        starter = ("env", *self.environment) if self.environment else ()
        return self.line([*starter, *self.words, "-c", text, "bridge", *arguments])

    @property
    def shell(self) -> tuple[str, ...]:
        """What takes ``-c COMMAND``, a file, or commands from its standard input."""
        return self.inner or self.words

    def line(self, argv: Sequence[str]) -> str:
        """The argument vector as one line for the phone's shell."""
        if self.elevation is Elevation.COMMAND:
            # options end at -c, and all forms agree on exactly one word behind it
            return shlex.join(["su", "-c", shlex.join(argv)])
        if self.elevation is Elevation.WHO:
            return shlex.join(["su", "0", *argv])
        return shlex.join(argv)


USER = ShellForm()
