"""The ``sync:`` service (AOSP adb, SYNC.TXT and file_sync_protocol.h): files to and from the phone.

``serve_sync`` is a plain blocking loop over one socket, so that it can run in a thread on a folder
of the host, or as the shell user in a process inside the phone's own root.

Two requests are ours and only used by ``socket_files``: ``UNLK`` and ``MKDR`` (path; OKAY or FAIL
whose text is the error number).
"""

from __future__ import annotations

import errno
import os
import socket
import stat
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TypeVar

from device_tools.virtual.files import Tree

MAX_PATH = 1024
MAX_DATA = 64 * 1024

_WORD = struct.Struct("<I")
_STAT1 = struct.Struct("<3I")
_STAT2 = struct.Struct("<IQQIIIIQqqq")
_DRY_RUN = 0x80000000
_U32 = 0xFFFFFFFF
T = TypeVar("T")
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW


class SyncEnd(Exception):
    """The conversation is over: end of stream, or a request that breaks the protocol."""


class _Peer:
    """Reads and writes on the socket; one ``send`` is one piece on the wire."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._file = sock.makefile("rb", buffering=MAX_DATA)

    def take(self, size: int) -> bytes:
        data: bytes = self._file.read(size)
        if len(data) < size:
            raise SyncEnd
        return data

    def word_pair(self) -> tuple[bytes, int]:
        head = self.take(8)
        return head[:4], int(_WORD.unpack_from(head, 4)[0])

    def send(self, data: bytes) -> None:
        self._sock.sendall(data)

    def okay(self) -> None:
        self.send(b"OKAY" + _WORD.pack(0))

    def fail(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        self.send(b"FAIL" + _WORD.pack(len(data)) + data)

    def close(self) -> None:
        self._file.close()
        self._sock.close()


def serve_sync(sock: socket.socket, tree: Tree | None = None) -> None:
    """Answer requests until the peer ends; closes the socket. ``tree`` defaults to this process's
    own root."""
    peer = _Peer(sock)
    try:
        while True:
            ident, size = peer.word_pair()
            if ident == b"QUIT":
                return
            if size > MAX_PATH:
                peer.fail("path too long")
                return
            path = peer.take(size)
            handler = _HANDLERS.get(ident)
            if handler is None:
                peer.fail(f"unknown command {_WORD.unpack(ident)[0]:08x}")
                return
            handler(peer, tree or Tree(b"/"), path)
    except (SyncEnd, ConnectionError):
        return
    finally:
        peer.close()


def _stat1(peer: _Peer, tree: Tree, path: bytes) -> None:
    try:
        found = _v1(os.lstat(tree.locate(path, follow=False)))
    except OSError:
        found = _STAT1.pack(0, 0, 0)
    peer.send(b"STAT" + found)


def _stat2(peer: _Peer, tree: Tree, path: bytes) -> None:
    peer.send(b"STA2" + _v2_at(tree, path, follow=True))


def _lstat2(peer: _Peer, tree: Tree, path: bytes) -> None:
    peer.send(b"LST2" + _v2_at(tree, path, follow=False))


def _list1(peer: _Peer, tree: Tree, path: bytes) -> None:
    out = []
    for name, where in _entries(tree, path):
        with suppress(OSError):
            out.append(b"DENT" + _v1(os.lstat(where)) + _WORD.pack(len(name)) + name)
    peer.send(b"".join(out) + b"DONE" + bytes(16))


def _list2(peer: _Peer, tree: Tree, path: bytes) -> None:
    out = []
    for name, where in _entries(tree, path):
        out.append(b"DNT2" + _v2(where) + _WORD.pack(len(name)) + name)
    peer.send(b"".join(out) + b"DONE" + bytes(72))


def _entries(tree: Tree, path: bytes) -> list[tuple[bytes, bytes]]:
    try:
        folder = tree.locate(path, follow=True)
        names = [b".", b"..", *sorted(os.listdir(folder))]
    except OSError:
        return []
    return [(name, os.path.join(folder, name)) for name in names]


def _v1(found: os.stat_result) -> bytes:
    return _STAT1.pack(found.st_mode, found.st_size & _U32, int(found.st_mtime) & _U32)


def _v2_at(tree: Tree, path: bytes, *, follow: bool) -> bytes:
    try:
        return _v2(tree.locate(path, follow=follow))
    except OSError as error:
        return _v2_error(error)


def _v2(where: bytes) -> bytes:
    try:
        s = os.lstat(where)
    except OSError as error:
        return _v2_error(error)
    times = (int(s.st_atime), int(s.st_mtime), int(s.st_ctime))
    owner = (s.st_uid, s.st_gid)
    return _STAT2.pack(0, s.st_dev, s.st_ino, s.st_mode, s.st_nlink, *owner, s.st_size, *times)


def _v2_error(error: OSError) -> bytes:
    return _STAT2.pack(error.errno or 5, *([0] * 10))


def _send1(peer: _Peer, tree: Tree, spec: bytes) -> None:
    path, _, mode = spec.rpartition(b",")
    try:
        number = int(mode, 0)
    except ValueError:
        peer.fail(f"couldn't parse mode {os.fsdecode(mode)}")
        raise SyncEnd from None
    _receive(peer, tree, path, number)


def _send2(peer: _Peer, tree: Tree, path: bytes) -> None:
    ident, mode = peer.word_pair()
    flags = _WORD.unpack(peer.take(4))[0]
    if ident != b"SND2" or flags & ~_DRY_RUN:
        peer.fail(f"unknown flags: {flags & ~_DRY_RUN}")
        raise SyncEnd
    _receive(peer, tree, path, mode, dry_run=bool(flags))


class _Upload:
    """The DATA blocks of one file; ``mtime`` is known once DONE ended them."""

    def __init__(self, peer: _Peer) -> None:
        self.mtime = 0
        self._peer = peer
        self._done = False

    def __iter__(self) -> Iterator[bytes]:
        while not self._done:
            ident, size = self._peer.word_pair()
            if ident == b"DONE":
                self.mtime, self._done = size, True
            elif ident == b"DATA" and size <= MAX_DATA:
                yield self._peer.take(size)
            else:
                self._peer.fail(f"invalid data message {ident!r} of {size} bytes")
                raise SyncEnd


def _receive(peer: _Peer, tree: Tree, path: bytes, mode: int, *, dry_run: bool = False) -> None:
    """One upload; after a failure the rest of it is swallowed. (adbd hangs up then; the clients
    do not mind that we serve on.)"""
    upload = _Upload(peer)
    try:
        if not dry_run:
            _store(upload, tree.locate(path, follow=False, writing=True), mode)
        _swallow(upload)
    except OSError as error:
        peer.fail(f"couldn't create file: {os.strerror(error.errno or 5)}")
        _swallow(upload)
    else:
        peer.okay()


def _swallow(upload: _Upload) -> None:
    for _ in upload:
        pass


def _store(upload: _Upload, target: bytes, mode: int) -> None:
    with suppress(FileNotFoundError):
        if not stat.S_ISDIR(os.lstat(target).st_mode):
            os.unlink(target)
    if stat.S_ISLNK(mode):
        text = b"".join(upload).partition(b"\0")[0]
        _with_parents(target, lambda: os.symlink(text, target))
        return
    fd = _with_parents(target, lambda: os.open(target, _NEW_FILE, 0o600))
    with os.fdopen(fd, "wb", buffering=0) as file:
        os.fchmod(fd, _file_mode(mode))
        for data in upload:
            file.write(data)
        os.utime(fd, (upload.mtime, upload.mtime))


def _with_parents(target: bytes, create: Callable[[], T]) -> T:
    try:
        return create()
    except FileNotFoundError:
        os.makedirs(os.path.dirname(target), mode=0o775, exist_ok=True)
        return create()


def _file_mode(mode: int) -> int:
    """adbd copies the user's bits down to group and others."""
    user = (mode >> 6) & 7
    return (mode & 0o777) | user << 3 | user


def _recv1(peer: _Peer, tree: Tree, path: bytes) -> None:
    try:
        fd = os.open(tree.locate(path, follow=True), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        peer.fail(f"open failed: {os.strerror(error.errno or 5)}")
        return
    try:
        if not tree.holds(fd):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        while data := os.read(fd, MAX_DATA):
            peer.send(b"DATA" + _WORD.pack(len(data)) + data)
    except (IsADirectoryError, PermissionError, BlockingIOError) as error:
        peer.fail(f"read failed: {os.strerror(error.errno or 5)}")
    else:
        peer.send(b"DONE" + _WORD.pack(0))
    finally:
        os.close(fd)


def _recv2(peer: _Peer, tree: Tree, path: bytes) -> None:
    ident, flags = peer.word_pair()
    if ident != b"RCV2" or flags:
        peer.fail(f"unknown flags: {flags}")
        raise SyncEnd
    _recv1(peer, tree, path)


def _unlink(peer: _Peer, tree: Tree, path: bytes) -> None:
    def remove() -> None:
        target = tree.locate(path, follow=False, writing=True)
        if stat.S_ISDIR(os.lstat(target).st_mode):
            os.rmdir(target)
        else:
            os.unlink(target)

    _change(peer, remove)


def _mkdir(peer: _Peer, tree: Tree, path: bytes) -> None:
    _change(peer, lambda: os.mkdir(tree.locate(path, follow=False, writing=True), 0o775))


def _change(peer: _Peer, change: Callable[[], None]) -> None:
    try:
        change()
    except OSError as error:
        peer.fail(str(error.errno or 5))
    else:
        peer.okay()


_HANDLERS: dict[bytes, Callable[[_Peer, Tree, bytes], None]] = {
    b"STAT": _stat1,
    b"STA2": _stat2,
    b"LST2": _lstat2,
    b"LIST": _list1,
    b"LIS2": _list2,
    b"SEND": _send1,
    b"SND2": _send2,
    b"RECV": _recv1,
    b"RCV2": _recv2,
    b"UNLK": _unlink,
    b"MKDR": _mkdir,
}
