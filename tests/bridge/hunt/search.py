"""Looks for secrets in bytes in every form they may have been written in."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, quote_plus

LONGEST_INFLATED = 64 * 1024 * 1024
_GZIP, _ZLIB = b"\x1f\x8b\x08", (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")


@dataclass(frozen=True)
class Found:
    secret: str
    form: str
    where: str


def forms(secret: str) -> dict[str, bytes]:
    """The form's name and the bytes that only this secret has in that form."""
    raw = secret.encode()
    found = {
        "raw": raw,
        "json": json.dumps(secret)[1:-1].encode(),
        "json in unicode": json.dumps(secret, ensure_ascii=False)[1:-1].encode(),
        "json in json": _json(_json(secret)).encode(),
        "json twice": json.dumps(json.dumps(secret)[1:-1])[1:-1].encode(),
        "url": quote(secret, safe="").encode(),
        "form": quote_plus(secret).encode(),
        "hex": raw.hex().encode(),
        "HEX": raw.hex().upper().encode(),
        "utf-16-le": secret.encode("utf-16-le"),
        "utf-16-be": secret.encode("utf-16-be"),
    }
    for offset in range(3):
        # without the letters at both ends that neighbouring bytes have a part in
        coded = base64.b64encode(bytes(offset) + raw)
        first, last = -(-offset * 8 // 6), (offset + len(raw)) * 8 // 6
        found[f"base64 at {offset}"] = coded[first:last]
        found[f"base64url at {offset}"] = coded[first:last].translate(bytes.maketrans(b"+/", b"-_"))
    return found


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


class Searcher:
    """Knows all secrets; searches bytes, and what is packed in them."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._forms: dict[bytes, tuple[str, str]] = {}
        for secret in secrets:
            for name, data in forms(secret).items():
                self._forms.setdefault(data, (secret, name))

    def in_bytes(self, data: bytes, where: str) -> list[Found]:
        found = self._plain(data, where)
        for start, inflated in _inflated(data):
            found += self._plain(inflated, f"{where}, packed at {start}")
        return found

    def in_files(self, folders: Iterable[Path]) -> list[Found]:
        """Contents and names of all files below the folders."""
        found = []
        for folder in folders:
            for path in sorted(folder.rglob("*")):
                found += self._plain(str(path).encode(), f"name of {path}")
                if path.is_file() and not path.is_symlink():
                    found += self.in_bytes(path.read_bytes(), str(path))
        return found

    def _plain(self, data: bytes, where: str) -> list[Found]:
        return [
            Found(secret, form, where)
            for pattern, (secret, form) in self._forms.items()
            if pattern in data
        ]


def _inflated(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Every gzip and zlib stream that starts anywhere in the data, as far as it can be unpacked."""
    for mark, bits in ((_GZIP, 31), *((mark, 15) for mark in _ZLIB)):
        start = data.find(mark)
        while start >= 0:
            try:
                out = zlib.decompressobj(bits).decompress(data[start:], LONGEST_INFLATED)
            except zlib.error:
                out = b""
            if len(out) > 8:
                yield start, out
            start = data.find(mark, start + 1)
