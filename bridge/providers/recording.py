"""Write the wire of a run to a file that can be played back (docs/recording.md has the format).

JSON Lines, one object per line: ``recording`` first, then per exchange ``request``, ``response``,
``chunk`` ..., ``end``. Every line is written at once: a run that dies leaves what it heard.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bridge.providers.endpoint import Endpoint
from bridge.providers.line_file import LineFile, new_line_file
from bridge.providers.tap import Ending
from bridge.providers.wire_redaction import CleanText, clean_headers, clean_line, clean_request

VERSION = 1


class Recording:
    """A ``Tap``. Times are milliseconds since the request of their exchange."""

    def __init__(self, file: LineFile, clean: CleanText, about: Mapping[str, Any]) -> None:
        self._file = file
        self._clean = clean
        self._exchanges = 0
        self.write({"v": VERSION, "type": "recording", **about})

    def begin(self, endpoint: Endpoint, body: bytes) -> _Exchange:
        self._exchanges += 1
        exchange = _Exchange(self, self._exchanges, endpoint.secret, self._clean)
        self.write(
            {
                "type": "request",
                "n": self._exchanges,
                "host": endpoint.host,
                "headers": clean_headers(endpoint.headers),
                "body": clean_request(body, self._clean),
            }
        )
        return exchange

    def write(self, record: Mapping[str, Any]) -> None:
        """Raises RecordError: the file cannot be written."""
        self._file.write(json.dumps(record, ensure_ascii=False))


@contextmanager
def open_recording(path: Path, clean: CleanText, about: Mapping[str, Any]) -> Iterator[Recording]:
    """A recording in a new file that only its owner may read.

    Raises:
        ConfigurationError: the file exists already or cannot be made.
    """
    with new_line_file(path, "--record") as file:
        yield Recording(file, clean, about)


class _Exchange:
    """A ``Listener``. Bytes wait until their line is whole: only then a secret in it is seen."""

    def __init__(self, recording: Recording, number: int, secret: str, clean: CleanText) -> None:
        self._recording = recording
        self._number = number
        self._lines = LineWise(secret, clean)
        self._started = time.monotonic()

    def response(self, status: int, headers: Mapping[str, str]) -> None:
        self._write("response", {"status": status, "headers": clean_headers(headers)})

    def chunk(self, data: bytes) -> None:
        for milliseconds, piece in self._lines.feed(data, self._milliseconds()):
            self._write_chunk(milliseconds, piece)

    def ended(self, how: Ending) -> None:
        for milliseconds, piece in self._lines.close():
            self._write_chunk(milliseconds, piece)
        self._write("end", {"how": how.value})

    def _write_chunk(self, milliseconds: int, piece: bytes) -> None:
        try:
            data = {"text": piece.decode("utf-8")}
        except UnicodeDecodeError:
            data = {"base64": base64.b64encode(piece).decode("ascii")}
        self._write("chunk", data, milliseconds)

    def _write(self, kind: str, data: Mapping[str, Any], milliseconds: int | None = None) -> None:
        when = self._milliseconds() if milliseconds is None else milliseconds
        self._recording.write({"type": kind, "n": self._number, "ms": when, **data})

    def _milliseconds(self) -> int:
        return round((time.monotonic() - self._started) * 1000)


class LineWise:
    """Cuts an answer into lines to clean them, and keeps where the chunks were cut.

    A line that had to be changed comes out as one piece, at the time of its last byte.
    """

    def __init__(self, secret: str, clean: CleanText) -> None:
        self._secret = secret
        self._clean = clean
        self._open: list[tuple[int, bytes]] = []

    def feed(self, data: bytes, when: int) -> list[tuple[int, bytes]]:
        """Whole pieces with their times, in order; what shares a chunk stays together."""
        out: list[tuple[int, bytes]] = []
        for line in data.splitlines(keepends=True):
            self._open.append((when, line))
            if line.endswith((b"\n", b"\r")):
                out += self._close_line()
        return _joined(out)

    def close(self) -> list[tuple[int, bytes]]:
        """The rest, a line without end."""
        return _joined(self._close_line())

    def _close_line(self) -> list[tuple[int, bytes]]:
        pieces, self._open = self._open, []
        line = b"".join(piece for _, piece in pieces)
        cleaned = clean_line(line, self._secret, self._clean)
        if cleaned == line:
            return pieces
        return [(pieces[-1][0], cleaned)]


def _joined(pieces: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    joined: list[tuple[int, bytes]] = []
    for when, piece in pieces:
        if joined and joined[-1][0] == when:
            joined[-1] = (when, joined[-1][1] + piece)
        else:
            joined.append((when, piece))
    return joined
