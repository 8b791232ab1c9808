"""Undo gzip and deflate in small pieces, so that a few bytes cannot become a full memory.

Servers are asked for plain bytes (``Accept-Encoding: identity``); some compress nevertheless.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator

PIECE = 64 * 1024
_WINDOW = 15
_GZIP_OR_ZLIB = 32


def decoder(encoding: str) -> Callable[[bytes], Iterator[bytes]]:
    """A function from raw chunks to decoded pieces of at most ``PIECE`` bytes.

    Raises:
        ValueError: an encoding nobody asked for; the pieces raise it for data that is none.
    """
    word = encoding.strip().lower()
    if word in ("", "identity"):
        return _plain
    if word in ("gzip", "x-gzip", "deflate"):
        return _Inflater().pieces
    raise ValueError(f"the encoding {word[:40]!r} was not asked for")


def _plain(chunk: bytes) -> Iterator[bytes]:
    yield chunk


class _Inflater:
    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(_WINDOW + _GZIP_OR_ZLIB)

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        try:
            while chunk and not self._zlib.eof:
                if piece := self._zlib.decompress(chunk, PIECE):
                    yield piece
                chunk = self._zlib.unconsumed_tail
        except zlib.error as error:
            raise ValueError(str(error)) from error
