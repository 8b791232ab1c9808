"""Files between the phone and one folder of this computer, over adb's ``sync:`` service
(AOSP adb, SYNC.TXT): no other folder of the computer can be named, on the phone only shared
storage and /data/local/tmp."""

from __future__ import annotations

import os
import stat
import struct
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from device_tools import limits
from device_tools.adb import AdbPhone
from device_tools.adb_server import AdbStream
from device_tools.errors import ActionRefused, NotAvailable, Outcome
from device_tools.result import ToolResult, done
from device_tools.system.ask import one_line

MAX_FILE = 2 * 1024**3
_CHUNK = 64 * 1024
_WORD = struct.Struct("<I")
_REGULAR = 0o100644


def exchange_file(exchange: Path | None, name: str) -> Path:
    """The regular file ``name`` of the exchange folder.

    Raises:
        NotAvailable: there is no such folder. ActionRefused: no such file, or it leads elsewhere.
    """
    path = _folder(exchange) / name
    if path.is_symlink() or not path.is_file():
        raise ActionRefused(
            f"there is no file {name!r} in the exchange folder", advice=f"put it into {exchange}"
        )
    return path


def _folder(exchange: Path | None) -> Path:
    if exchange is None:
        raise NotAvailable("no exchange folder is set up here: files cannot be copied")
    exchange.mkdir(mode=0o700, parents=True, exist_ok=True)
    return exchange


def push(phone: AdbPhone, source: Path, target: str) -> int:
    """Copy a file to the phone and compare its size there; returns the bytes.

    Raises:
        ActionRefused: the phone refused it; UNKNOWN when a part may have been written.
    """
    with source.open("rb") as file, _sync(phone) as stream:
        size = os.fstat(file.fileno()).st_size
        if size > MAX_FILE:
            raise ActionRefused(f"{source.name} is larger than {MAX_FILE:,} bytes")
        stream.outcome = Outcome.UNKNOWN
        stream.send(_packet(b"SEND", f"{target},{_REGULAR}".encode()))
        while piece := file.read(_CHUNK):
            stream.send(_packet(b"DATA", piece))
        stream.send(b"DONE" + _WORD.pack(int(time.time())))
        _require_okay(stream, target)
        arrived = _stat(stream, target)[1]
    if arrived != size & 0xFFFFFFFF:
        raise ActionRefused(f"{target} has {arrived} bytes, not {size}", outcome=Outcome.UNKNOWN)
    return size


def send_file_to_phone(
    phone: AdbPhone, exchange: Path | None, arguments: Mapping[str, Any]
) -> ToolResult:
    source, target = exchange_file(exchange, arguments["file"]), _inside(arguments["path"])
    with _sync(phone) as stream:
        mode = _stat(stream, target)[0]
    if stat.S_ISDIR(mode):
        raise ActionRefused(f"{target} is a folder", advice="name the file in it")
    if mode and not arguments.get("overwrite", False):
        raise ActionRefused(f"{target} exists", advice="choose another name, or set overwrite")
    size = push(phone, source, target)
    return done(f"copied {size:,} bytes to {target}", bytes=size)


def get_file_from_phone(
    phone: AdbPhone, exchange: Path | None, arguments: Mapping[str, Any]
) -> ToolResult:
    source, target = _inside(arguments["path"]), _folder(exchange) / arguments["file"]
    part = target.with_name(f".{target.name}.part")
    with _sync(phone) as stream:
        if not stat.S_ISREG(_stat(stream, source)[0]):
            raise ActionRefused(f"there is no file {source} on the phone")
        try:
            size = _receive(stream, source, part)
            # unlike a rename, a link never replaces what came there meanwhile
            os.link(part, target)
        except FileExistsError:
            raise ActionRefused(
                f"{target.name} exists in the exchange folder", advice="choose another name"
            ) from None
        finally:
            part.unlink(missing_ok=True)
    return done(f"copied {size:,} bytes to {target}", bytes=size, path=str(target))


def _inside(path: str) -> str:
    if ".." in path.split("/"):
        raise ActionRefused(f"{path} leads out of its folder", advice="name the file without ..")
    return path


@contextmanager
def _sync(phone: AdbPhone) -> Iterator[AdbStream]:
    with phone.service("sync:", limits.FILE_COPY) as stream:
        yield stream


def _packet(name: bytes, data: bytes) -> bytes:
    return name + _WORD.pack(len(data)) + data


def _stat(stream: AdbStream, path: str) -> tuple[int, int]:
    """Mode (0 when there is nothing) and size modulo 2**32."""
    stream.send(_packet(b"STAT", path.encode()))
    mode, size, _ = struct.unpack("<4x3I", stream.read_exact(16))
    return mode, size


def _require_okay(stream: AdbStream, target: str) -> None:
    head = stream.read_exact(8)
    if head[:4] != b"OKAY":
        raise ActionRefused(f"the phone did not take {target}: {_reason(stream, head)}")


def _reason(stream: AdbStream, head: bytes) -> str:
    size = min(_WORD.unpack_from(head, 4)[0], 4096)
    return one_line(stream.read_exact(size).decode("utf-8", "replace"), 200)


def _receive(stream: AdbStream, path: str, target: Path) -> int:
    """The file's bytes into ``target``; a new file, private to the user."""
    stream.send(_packet(b"RECV", path.encode()))
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    size = 0
    with os.fdopen(os.open(target, flags, 0o600), "wb") as file:
        while (head := stream.read_exact(8))[:4] != b"DONE":
            length = _WORD.unpack_from(head, 4)[0]
            if head[:4] != b"DATA" or length > _CHUNK or size + length > MAX_FILE:
                reason = _reason(stream, head) if head[:4] == b"FAIL" else "a broken answer"
                raise ActionRefused(f"{path} was not copied: {reason}")
            file.write(stream.read_exact(length))
            size += length
    return size
