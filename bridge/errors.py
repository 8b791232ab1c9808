"""The leaves of the error tree that know of models and runs; the root is ``device_tools.errors``.

BridgeError
├── ConfigurationError   a setting, flag or file of the user is wrong          exit 2
├── ProviderError        the model's server failed, refused or broke off        exit 4
├── LimitReached         a named limit of the run (turns, calls, tokens, time)  exit 5
├── ModelFailed          the model reported failure                             exit 1
│   └── ContractBroken   its replies could not be read too often in a row
├── ControlError         a run cannot be reached or does not take the order       exit 1
├── RecordError          the record cannot be written or read                   exit 1
├── FileStoreError       a file of a store cannot be read, written or deleted    exit 1
├── PatchNotApplied      the files refused a patch half-way; undone, or UNKNOWN  exit 1
├── DeviceNotReady
│   └── PhoneInUse       another run or command holds the phone                 exit 3
└── InvalidCall
    └── PatchRefused     a patch is refused and no file was touched             exit 2
        ├── PatchMalformed   no whole unified diff of changes we make
        ├── PathRefused      a path leads out of the folder or cannot be a file
        ├── FileClash        the file to create exists, or the one to change does not
        ├── HunkMissing      the lines of a hunk are nowhere in the file
        ├── HunkAmbiguous    they are in several places and no line number tells which
        └── HunksOverlap     two hunks want the same lines
"""

from __future__ import annotations

from device_tools.errors import Blame, BridgeError, DeviceNotReady, InvalidCall


class ConfigurationError(BridgeError):
    """A setting, flag, key or file of the user is missing or wrong."""

    blame = Blame.USER
    exit_code = 2


class ProviderError(BridgeError):
    """The model's server failed or broke off. ``retryable`` before the first event only.

    ``retry_after``: seconds the server asked to wait, None when it did not say.
    """

    blame = Blame.PROVIDER
    exit_code = 4

    def __init__(
        self,
        message: str,
        *,
        advice: str = "",
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, advice=advice)
        self.retryable = retryable
        self.retry_after = retry_after


class LimitReached(BridgeError):
    """A named limit of the run was reached."""

    blame = Blame.MODEL
    exit_code = 5


class ModelFailed(BridgeError):
    """The model reported failure, or cannot go on."""

    blame = Blame.MODEL


class ContractBroken(ModelFailed):
    """Too many replies in a row that could not be read or did not end normally."""


class ControlError(BridgeError):
    """A run is over, cannot be reached, or does not take what it is told from outside."""

    blame = Blame.USER


class PhoneInUse(DeviceNotReady):
    """Another process holds the phone. ``run`` is the id of its run, "" when it is none."""

    blame = Blame.USER

    def __init__(self, serial: str, holder: str) -> None:
        kind, _, name = holder.partition(" ")
        self.run = name if kind == "run" else ""
        advice = "wait until it ends"
        if self.run:
            advice = f"wait, stop it with bridge cancel {self.run}, or take over with --replace"
        super().__init__(f"{serial} is in use by {holder}", advice=advice)


class RecordError(BridgeError):
    """The record cannot be opened, written or read."""


class FileStoreError(BridgeError):
    """A store (``bridge.cst.patch.FileStore``) cannot read, write or delete a file."""


class PatchNotApplied(BridgeError):
    """Writing failed half-way. Outcome NOT_SENT: undone; UNKNOWN: the named files may differ."""


class PatchRefused(InvalidCall):
    """A patch is refused before anything was written. ``file`` is the path at fault ("" when
    none is), ``line`` the line of the patch, counted from 1 (0 when none is)."""

    def __init__(self, message: str, *, advice: str, file: str = "", line: int = 0) -> None:
        where = f"patch line {line}: " if line else ""
        super().__init__(f"{where}{message}; no file was touched", field="patch", advice=advice)
        self.file = file
        self.line = line


class PatchMalformed(PatchRefused):
    """Not a whole unified diff, or one that asks for more than changes of text files."""


class PathRefused(PatchRefused):
    """Absolute, with ``..``, or no name of a file at all."""


class FileClash(PatchRefused):
    """The file to create exists, or the file to change or delete does not."""


class HunkMissing(PatchRefused):
    """The context and removed lines of a hunk are nowhere in the file."""


class HunkAmbiguous(PatchRefused):
    """They are in several places, and the hunk has no line number."""


class HunksOverlap(PatchRefused):
    """Two hunks of one file take the same lines."""
