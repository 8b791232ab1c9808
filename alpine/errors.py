"""The leaves of the error tree that know of terminals; the root is ``device_tools.errors``.

DeviceError
└── TerminalError           a shell of the phone cannot be used
    ├── SupervisionFailed   no session of its own or no handshake: nothing was started
    ├── AdmissionClosed     the supervisor takes no new commands any more
    ├── RootUnavailable     no su form gives real power
    ├── SessionEnded        the session's shell is gone
    ├── UnknownSession      no such session or job
    ├── TooMany             so many sessions or jobs are open already
    ├── SessionBusy         a command of the session is still running
    ├── EnvironmentMissing  the terminal environment is not installed
    └── FileFailed          the phone refused to read or write a file
"""

from __future__ import annotations

from device_tools.errors import Blame, DeviceError


class TerminalError(DeviceError):
    """A shell of the phone cannot be used."""


class SupervisionFailed(TerminalError):
    """The phone has no setsid, or its shell did not say who it is: the command did not start."""


class AdmissionClosed(TerminalError):
    """The supervisor was closed; nothing was started."""

    blame = Blame.USER


class RootUnavailable(TerminalError):
    """No su, su refused or did not answer, or its root has no power; ``reason`` is one of
    ``alpine.root.Refusal``."""

    def __init__(self, message: str, *, advice: str = "", reason: str = "") -> None:
        super().__init__(message, advice=advice)
        self.reason = reason


class EnvironmentMissing(TerminalError):
    """The phone has no such environment; the advice says how to install it."""

    blame = Blame.USER


class SessionEnded(TerminalError):
    """The session's shell is gone; open a new one."""


class UnknownSession(TerminalError):
    """No session or job has this id."""

    blame = Blame.MODEL


class TooMany(TerminalError):
    """So many sessions or jobs are open already; nothing was started."""

    blame = Blame.MODEL


class SessionBusy(TerminalError):
    """A command of this session is still running."""

    blame = Blame.MODEL


class FileFailed(TerminalError):
    """The phone refused to read, write, list or delete a file."""
