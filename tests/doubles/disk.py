"""A disk for SQLite that writes down what it is told, and can fail or lose power at any operation.

In the manner of SQLite's own tests: a VFS (through apsw, which brings its own SQLite) under the
record's one connection. Files are real, so that reading, locking and shared memory work; every
write, truncation, sync and deletion is also logged. From the log ``after_power_cut`` makes the
files as they may be found after a power cut behind operation n: what was synced stands, and each
512-byte sector written since is there, missing, or garbled, by chance.
"""

from __future__ import annotations

import itertools
import random
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

SECTOR = 512
_NUMBERS = itertools.count()


@dataclass(frozen=True)
class Operation:
    """``kind`` is write, truncate, sync, delete, or a mark the test set itself."""

    kind: str
    name: str = ""
    offset: int = 0
    data: bytes = b""


@dataclass
class Disk:
    """One disk. Operation ``fail_at`` (and with ``stays`` every later one) ends in ``fault``:
    ``full`` fails writes only, ``io`` every kind of operation; reads count as operations too. A
    disk that ``lies`` does not sync when it is told to."""

    fail_at: int | None = None
    fault: str = "io"
    stays: bool = False
    lies: bool = False
    log: list[Operation] = field(default_factory=list)
    operations: int = 0
    failed: int = 0

    def connect(self, path: Path) -> sqlite3.Connection:
        """The connector for ``bridge.store.database.Database``."""
        return _Connection(path, _Vfs(self))  # type: ignore[return-value]

    def mark(self, name: str) -> None:
        """Note in the log that the program got so far."""
        self.log.append(Operation("mark", name))

    def step(self, kind: str) -> None:
        """Count one operation; raise when it is its turn to fail."""
        number = self.operations
        self.operations += 1
        if self.fail_at is None or (self.fault == "full" and kind != "write"):
            return
        if number == self.fail_at or (self.stays and number > self.fail_at):
            self.failed += 1
            raise apsw.exception_for(_FAULTS[self.fault if self.fault == "full" else kind])


_FAULTS = {
    "full": apsw.SQLITE_FULL,
    "read": apsw.SQLITE_IOERR_READ,
    "write": apsw.SQLITE_IOERR_WRITE,
    "truncate": apsw.SQLITE_IOERR_TRUNCATE,
    "sync": apsw.SQLITE_IOERR_FSYNC,
    "delete": apsw.SQLITE_IOERR_DELETE,
}


class _Vfs(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self.vfs_name = f"disk-{next(_NUMBERS)}"
        super().__init__(self.vfs_name, base="")

    def xOpen(self, name: Any, flags: list[int]) -> _File:
        return _File(self.disk, name, flags)

    def xDelete(self, name: str, sync_folder: bool) -> None:
        self.disk.step("delete")
        super().xDelete(name, sync_folder)
        self.disk.log.append(Operation("delete", Path(name).name, offset=int(sync_folder)))


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        super().__init__("", name, flags)
        full = name.filename() if isinstance(name, apsw.URIFilename) else name
        self.disk = disk
        self.short = Path(full).name if full else ""

    def xRead(self, amount: int, offset: int) -> bytes:
        self.disk.step("read")
        return bytes(super().xRead(amount, offset))

    def xWrite(self, data: bytes, offset: int) -> None:
        self.disk.step("write")
        super().xWrite(data, offset)
        self.disk.log.append(Operation("write", self.short, offset, bytes(data)))

    def xTruncate(self, size: int) -> None:
        self.disk.step("truncate")
        super().xTruncate(size)
        self.disk.log.append(Operation("truncate", self.short, size))

    def xSync(self, flags: int) -> None:
        self.disk.step("sync")
        if self.disk.lies:
            return
        super().xSync(flags)
        self.disk.log.append(Operation("sync", self.short))


def after_power_cut(
    log: Sequence[Operation], count: int, chance: random.Random
) -> dict[str, bytes]:
    """The content of each file when the power goes after the first ``count`` operations."""
    done = [each for each in log[:count] if each.kind != "mark"]
    named = _last_sync_of_the_folder(done)
    files: dict[str, bytes] = {}
    for name in sorted({operation.name for operation in done}):
        its = [(number < named, each) for number, each in enumerate(done) if each.name == name]
        content = _one_file(its, chance)
        if content is not None:
            files[name] = content
    return files


def _last_sync_of_the_folder(operations: Sequence[Operation]) -> int:
    """SQLite syncs the folder with the first sync of a new journal or log, and with a deletion
    when it is told so; deletions before that number are sure."""
    last = -1
    named: set[str] = set()
    for number, each in enumerate(operations):
        if each.kind == "delete":
            named.discard(each.name)
            last = number if each.offset else last
        elif each.kind == "sync" and each.name not in named:
            named.add(each.name)
            last = number if each.name.endswith(("-wal", "-journal")) else last
    return last


def _one_file(operations: Sequence[tuple[bool, Operation]], chance: random.Random) -> bytes | None:
    """None when the file does not exist. Each operation comes with whether the folder was synced
    after it."""
    content: bytearray | None = bytearray()
    synced = max((n for n, (_, each) in enumerate(operations) if each.kind == "sync"), default=-1)
    for number, (folder_synced, each) in enumerate(operations):
        if each.kind == "delete":
            # without a sync of its folder the name may still be there
            sure = folder_synced or each.offset or number < synced
            content = None if sure or chance.random() < 0.5 else content
        elif content is None:
            content = bytearray()  # made anew
        if content is not None:
            _apply(content, each, chance if number > synced else None)
    return None if content is None else bytes(content)


def _apply(content: bytearray, operation: Operation, chance: random.Random | None) -> None:
    """One operation on the content; with ``chance`` it was not synced and may be lost."""
    if operation.kind == "truncate":
        if chance is None or chance.random() < 0.5:
            del content[operation.offset :]
    elif operation.kind == "write":
        for offset, sector in _sectors(operation):
            fate = chance.choice(("applied", "dropped", "garbled")) if chance else "applied"
            if fate == "dropped":
                continue
            if fate == "garbled" and chance is not None:
                sector = chance.randbytes(len(sector))
            content.extend(b"\0" * (offset + len(sector) - len(content)))
            content[offset : offset + len(sector)] = sector


def _sectors(operation: Operation) -> Iterator[tuple[int, bytes]]:
    start, end = operation.offset, operation.offset + len(operation.data)
    while start < end:
        stop = min(end, (start // SECTOR + 1) * SECTOR)
        yield start, operation.data[start - operation.offset : stop - operation.offset]
        start = stop


class _Connection:
    """What the record uses of ``sqlite3.Connection``, on apsw, with sqlite3's errors."""

    def __init__(self, path: Path, vfs: _Vfs) -> None:
        self._vfs = vfs
        with _errors():
            self._apsw = apsw.Connection(str(path), vfs=vfs.vfs_name)

    @property
    def in_transaction(self) -> bool:
        return self._apsw.in_transaction

    def execute(self, query: str, values: Sequence[Any] = ()) -> _Rows:
        with _errors():
            rows = self._apsw.execute(query, tuple(values)).fetchall()
            return _Rows(rows, self._apsw.changes())

    def executemany(self, query: str, values: Sequence[Sequence[Any]]) -> None:
        with _errors():
            self._apsw.executemany(query, values)

    def close(self) -> None:
        # SQLite closes in any case and tells nobody, like sqlite3; apsw repeats what a file said
        with suppress(apsw.Error):
            self._apsw.close()
        self._vfs.unregister()


@dataclass
class _Rows:
    rows: list[Any]
    rowcount: int

    def fetchall(self) -> list[Any]:
        return self.rows

    def fetchone(self) -> Any:
        return self.rows[0] if self.rows else None

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)


class _errors:
    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, apsw.Error):
            kind = sqlite3.IntegrityError if error.result == 19 else sqlite3.OperationalError
            translated = kind(str(error))
            translated.sqlite_errorcode = error.extendedresult
            raise translated from error
