from __future__ import annotations

import gzip
import zlib

import pytest

from bridge.providers.inflate import PIECE, decoder

TEXT = b"".join(b"data: %d\n\n" % number for number in range(5000))


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [("", TEXT), ("gzip", gzip.compress(TEXT)), ("deflate", zlib.compress(TEXT))],
)
@pytest.mark.parametrize("size", [1, 7, 1000, 1_000_000])
def test_every_chunking_gives_the_same_bytes(encoding: str, packed: bytes, size: int) -> None:
    """What was packed comes out whole, however it is cut."""
    decode = decoder(encoding)
    out = b"".join(
        piece
        for start in range(0, len(packed), size)
        for piece in decode(packed[start : start + size])
    )
    assert out == TEXT


def test_a_bomb_comes_out_in_small_pieces() -> None:
    """100 MB in 100 kB are handed out piece by piece, so the reader can stop at its limit."""
    bomb = gzip.compress(b"\0" * 100_000_000, compresslevel=9)
    pieces = decoder("gzip")(bomb)
    assert [len(next(pieces)) <= PIECE for _ in range(10)] == [True] * 10


def test_what_is_not_compressed_that_way_is_an_error() -> None:
    """Wrong data and encodings nobody asked for are named."""
    with pytest.raises(ValueError, match="header"):
        list(decoder("gzip")(b"plain text"))
    with pytest.raises(ValueError, match="'br'"):
        decoder("br")
