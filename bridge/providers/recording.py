"""Write the wire of a run to a file that can be played back (docs/recording.md has the format).

JSON Lines, one object per line: ``recording`` first, then per exchange ``request``, ``response``,
``chunk`` ..., ``end``. All but the first line is held in memory until the run ends: what is secret
in an early answer may become known only by what the phone does later, and a file cannot take back
what a kill left in it.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bridge.providers.answer_redaction import FindSecrets, Timed, starred_answer, starred_values
from bridge.providers.endpoint import Endpoint
from bridge.providers.line_file import LineFile, new_line_file
from bridge.providers.tap import Ending
from bridge.providers.wire_redaction import clean_headers, clean_request

VERSION = 1


class Recording:
    """A ``Tap``. Times are milliseconds since the request of their exchange."""

    def __init__(self, file: LineFile, find: FindSecrets, about: Mapping[str, Any]) -> None:
        self._file = file
        self._find = find
        self._exchanges: list[_Exchange] = []
        self._write({"v": VERSION, "type": "recording", **about})

    def begin(self, endpoint: Endpoint, body: bytes) -> _Exchange:
        request = {
            "host": endpoint.host,
            "headers": clean_headers(endpoint.headers),
            # pictures are gone from it: what is held stays small
            "body": clean_request(body),
        }
        exchange = _Exchange(request, endpoint.secret)
        self._exchanges.append(exchange)
        return exchange

    def close(self) -> None:
        """Write what was heard, without the secrets that are known by now.

        Raises:
            RecordError: the file cannot be written.
        """
        exchanges, self._exchanges = self._exchanges, []
        for number, exchange in enumerate(exchanges, 1):
            for record in exchange.records(self._find):
                self._write({"type": record.pop("type"), "n": number, **record})

    def _write(self, record: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(record, ensure_ascii=False))


@contextmanager
def open_recording(path: Path, find: FindSecrets, about: Mapping[str, Any]) -> Iterator[Recording]:
    """A recording in a new file that only its owner may read. ``find`` knows the secrets of the
    run; it is asked when the context ends.

    Raises:
        ConfigurationError: the file exists already or cannot be made.
        RecordError: at the end, when it cannot be written.
    """
    with new_line_file(path, "--record") as file:
        recording = Recording(file, find, about)
        try:
            yield recording
        finally:
            recording.close()


@dataclass
class _Exchange:
    """A ``Listener``."""

    request: dict[str, Any]
    secret: str
    started: float = field(default_factory=time.monotonic)
    answer: list[Timed] = field(default_factory=list)
    head: dict[str, Any] = field(default_factory=dict)
    end: dict[str, Any] = field(default_factory=dict)

    def response(self, status: int, headers: Mapping[str, str]) -> None:
        shown = clean_headers(headers)
        self.head = {"ms": self._milliseconds(), "status": status, "headers": shown}

    def chunk(self, data: bytes) -> None:
        self.answer.append((self._milliseconds(), data))

    def ended(self, how: Ending) -> None:
        self.end = {"ms": self._milliseconds(), "how": how.value}

    def records(self, find: FindSecrets) -> Iterator[dict[str, Any]]:
        body = starred_values(self.request["body"], find)
        yield {"type": "request", **self.request, "body": body}
        if self.head:
            yield {"type": "response", **self.head}
        for milliseconds, piece in starred_answer(self.answer, self.secret, find):
            yield {"type": "chunk", "ms": milliseconds, **_as_json(piece)}
        if self.end:
            yield {"type": "end", **self.end}

    def _milliseconds(self) -> int:
        return round((time.monotonic() - self.started) * 1000)


def _as_json(piece: bytes) -> dict[str, str]:
    try:
        return {"text": piece.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(piece).decode("ascii")}
