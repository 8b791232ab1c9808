"""Files of the phone: parts are read, whole files replaced atomically, directories listed.

``files.sh`` is the phone's half. Data for a root file is stored as user first: what is piped
into su is lost on some phones.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import resources

from alpine.channel import EXIT, STDERR, open_channel
from alpine.errors import FileFailed
from alpine.identity import USER, Identity, ShellForm
from device_tools.adb import AdbPhone
from device_tools.errors import DeviceError, Outcome
from device_tools.limits import FILE_COPY, SERVICE_READ, Limit

MAX_APPEND = 16 * 1024 * 1024
"""Bytes of a file that can be appended to: it is copied, so that the change is atomic."""
MAX_LISTING = 4 * 1024 * 1024

_REASONS = {
    44: "no such file or directory",
    45: "it is another kind of file",
    46: "it leads out of the directory of the patch",
    47: f"it has more than {MAX_APPEND} bytes; append to it with run_command",
    48: "permission denied",
    49: "the data did not arrive whole",
}
_MISSING = 44


@dataclass(frozen=True)
class Part:
    """Bytes of a file from ``offset`` on; ``size`` is the whole file's as stat tells it (0 for
    files of /proc), ``mode`` octal digits."""

    data: bytes
    offset: int
    size: int
    mode: str
    uid: int
    gid: int


@dataclass(frozen=True)
class Entry:
    """One name in a directory; ``kind`` is file, directory, link or other, ``time`` seconds."""

    name: str
    kind: str
    size: int
    time: int
    mode: str
    uid: int
    gid: int


class PhoneFiles:
    """The files as one identity sees them. ``base``: paths must lie below this directory once
    links are followed."""

    def __init__(self, phone: AdbPhone, form: ShellForm, base: str = "") -> None:
        self._phone = phone
        self._form = form
        self._base = base

    def read(self, path: str, offset: int, length: int) -> Part | None:
        """Up to ``length`` bytes; None when there is no such file.

        Raises:
            FileFailed: no file, no permission.
            DeviceError, Cancelled
        """
        code, out, errors = self._call("read", path, str(offset + 1), str(length))
        if code == _MISSING:
            return None
        head, _, data = out.partition(b"\n")
        words = head.decode("ascii", "replace").split()
        if code != 0 or errors or len(words) != 5:
            raise _failed(path, code, errors)
        return Part(data, offset, int(words[1]), words[2], int(words[3]), int(words[4]))

    def write(self, path: str, data: bytes, *, append: bool = False) -> None:
        """Create or replace the file at once; mode, owner and label of an old one are kept.
        Missing directories are made. A link is followed.

        Raises:
            FileFailed: nothing was changed.
            DeviceError: with UNKNOWN when it may have been written. Cancelled
        """
        word = secrets.token_hex(8)
        what = "append" if append else "write"
        if self._form.identity is Identity.USER:
            self._send(what, path, data, word, staged="", stdin=data)
            return
        staged = f"/data/local/tmp/.bridge-{word}"
        PhoneFiles(self._phone, USER).write(staged, data)
        try:
            self._send(what, path, data, word, staged=staged, stdin=b"")
        finally:
            with suppress(DeviceError):
                PhoneFiles(self._phone, USER).delete(staged)

    def delete(self, path: str) -> None:
        """Delete a file or a link.

        Raises:
            FileFailed: it is still there, or was none.
            DeviceError, Cancelled
        """
        code, _, errors = self._call("delete", path)
        if code != 0:
            raise _failed(path, code, errors)

    def list(self, path: str) -> tuple[tuple[Entry, ...], str]:
        """The entries by name, and what the phone said of those it would not tell about.

        Raises:
            FileFailed: no directory, no permission, more than ``MAX_LISTING`` bytes of names.
            DeviceError, Cancelled
        """
        mark = f"bridge-{secrets.token_hex(8)}"
        code, out, errors = self._call("list", path, mark)
        if code in _REASONS or (code != 0 and not out):
            raise _failed(path, code, errors)
        records = (b"\n" + out).split(f"\n{mark} ".encode())[1:]
        entries = [_entry(record) for record in records]
        return tuple(sorted(entries, key=lambda entry: entry.name)), errors

    def _send(
        self, what: str, path: str, data: bytes, word: str, *, staged: str, stdin: bytes
    ) -> None:
        arguments = (str(len(data)), staged, word, str(MAX_APPEND))
        code, _, errors = self._call(what, path, *arguments, stdin=stdin, limit=FILE_COPY)
        if code != 0:
            raise _failed(path, code, errors)

    def _call(
        self, what: str, path: str, *arguments: str, stdin: bytes = b"", limit: Limit = SERVICE_READ
    ) -> tuple[int, bytes, str]:
        line = self._form.script(_script(), what, path, self._base, *arguments)
        return _converse(self._phone, line, stdin, limit)


def _converse(phone: AdbPhone, line: str, stdin: bytes, limit: Limit) -> tuple[int, bytes, str]:
    out, errors = bytearray(), bytearray()
    with open_channel(phone, line) as channel:
        end = time.monotonic() + limit.seconds
        with suppress(DeviceError):
            # a script that refuses does not read; its exit code tells why
            if stdin:
                channel.send(stdin)
            channel.close_stdin()
        while (packet := channel.read(end, limit)).kind != EXIT:
            kept = errors if packet.kind == STDERR else out
            kept += packet.data
            if len(out) + len(errors) > MAX_LISTING:
                raise FileFailed("the answer of the phone is too large", advice="ask for less")
    return packet.data[0], bytes(out), errors.decode("utf-8", "replace").strip()


def _entry(record: bytes) -> Entry:
    kind, size, changed, mode, uid, gid, name = record.removesuffix(b"\n").split(b"|", 6)
    words = kind.decode("ascii", "replace")
    kinds = {"regular": "file", "directory": "directory", "symbolic": "link"}
    return Entry(
        name.rpartition(b"/")[2].decode("utf-8", "backslashreplace"),
        kinds.get(words.split(" ")[0], "other"),
        int(size),
        int(changed),
        mode.decode("ascii"),
        int(uid),
        int(gid),
    )


def _failed(path: str, code: int, errors: str) -> FileFailed:
    said = errors.splitlines()[-1][:300] if errors else f"exit code {code}"
    return FileFailed(
        f"{path}: {_REASONS.get(code, said)}",
        advice="identity root reads what the user may not" if code == 48 else "",
        outcome=Outcome.NOT_SENT,
    )


@cache
def _script() -> str:
    text = (resources.files("alpine") / "files.sh").read_text("utf-8")
    lines: Sequence[str] = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    return "\n".join(line for line in lines if line)
