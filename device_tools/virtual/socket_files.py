"""``Files`` over a ``serve_sync`` peer: the phone's tree as its shell user sees it."""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Iterator, Sequence

from device_tools.virtual.ports import FileStat

ANSWER_SECONDS = 10.0
"""Limit of each wait for the file process; beyond it ``TimeoutError`` (an ``OSError``)."""

_WORD = struct.Struct("<I")
_STAT2 = struct.Struct("<IQQIIIIQqqq")
_BLOCK = 64 * 1024
_ERRORS = {os.strerror(number): number for number in errno.errorcode}


class SocketFiles:
    """Takes over a socket whose other end is served by ``serve_sync``."""

    def __init__(self, sock: socket.socket) -> None:
        sock.settimeout(ANSWER_SECONDS)
        self._sock = sock
        self._file = sock.makefile("rb")

    def read(self, path: bytes) -> bytes:
        # devices and pipes would never end
        found = self.stat(path)
        if found.mode & 0o170000 != 0o100000:
            raise OSError(errno.EINVAL, "not a regular file", path)
        self._ask(b"RECV", path)
        return b"".join(self._blocks(path))

    def write(self, path: bytes, data: bytes, mode: int = 0o644) -> None:
        self._ask(b"SEND", path + b",%d" % (0o100000 | mode))
        for start in range(0, len(data), _BLOCK):
            block = data[start : start + _BLOCK]
            self._sock.sendall(b"DATA" + _WORD.pack(len(block)) + block)
        self._sock.sendall(b"DONE" + _WORD.pack(0))
        self._okay(path)

    def remove(self, path: bytes) -> None:
        self._ask(b"UNLK", path)
        self._okay(path)

    def mkdir(self, path: bytes) -> None:
        self._ask(b"MKDR", path)
        self._okay(path)

    def stat(self, path: bytes) -> FileStat:
        self._ask(b"STA2", path)
        self._take(4)
        error, _, _, mode, _, _, _, size, _, mtime, _ = _STAT2.unpack(self._take(_STAT2.size))
        if error:
            raise OSError(error, os.strerror(error), path)
        return FileStat(mode, size, mtime)

    def list(self, path: bytes) -> Sequence[bytes]:
        if self.stat(path).mode & 0o170000 != 0o040000:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        self._ask(b"LIS2", path)
        return sorted(name for name in self._names() if name not in (b".", b".."))

    def close(self) -> None:
        self._file.close()
        self._sock.close()

    def _names(self) -> Iterator[bytes]:
        while True:
            ident = self._take(4)
            self._take(_STAT2.size)
            size = _WORD.unpack(self._take(4))[0]
            if ident == b"DONE":
                return
            yield self._take(size)

    def _blocks(self, path: bytes) -> Iterator[bytes]:
        while True:
            ident, size = self._head()
            if ident == b"DONE":
                return
            if ident != b"DATA":
                self._raise(self._take(size), path)
            yield self._take(size)

    def _ask(self, ident: bytes, path: bytes) -> None:
        self._sock.sendall(ident + _WORD.pack(len(path)) + path)

    def _okay(self, path: bytes) -> None:
        ident, size = self._head()
        if ident != b"OKAY":
            self._raise(self._take(size), path)

    def _head(self) -> tuple[bytes, int]:
        return self._take(4), int(_WORD.unpack(self._take(4))[0])

    def _take(self, size: int) -> bytes:
        data = self._file.read(size)
        if len(data) < size:
            raise BrokenPipeError(errno.EPIPE, "the phone's file process is gone")
        return data

    def _raise(self, text: bytes, path: bytes) -> None:
        words = text.decode("utf-8", "replace")
        number = int(words) if words.isdigit() else _ERRORS.get(words.rpartition(": ")[2], 5)
        raise OSError(number, os.strerror(number), path)
