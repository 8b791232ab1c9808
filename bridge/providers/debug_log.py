"""HTTP debug output for people: what went out and what came back, cleaned like a recording."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from bridge.providers.endpoint import Endpoint
from bridge.providers.line_file import LineFile, new_line_file
from bridge.providers.recording import LineWise
from bridge.providers.tap import Ending
from bridge.providers.wire_redaction import CleanText, clean_headers, clean_request


class DebugLog:
    """A ``Tap``. ``>`` is sent, ``<`` is received; the number is milliseconds since the request."""

    def __init__(self, file: LineFile, clean: CleanText) -> None:
        self._file = file
        self._clean = clean

    def begin(self, endpoint: Endpoint, body: bytes) -> _Exchange:
        parts = urlsplit(endpoint.url)
        self.write(f"> POST {parts.scheme}://{endpoint.host}{parts.path}")
        for name, value in clean_headers(endpoint.headers).items():
            self.write(f"> {name}: {value}")
        request = clean_request(body, self._clean)
        self.write(f"> {len(body)} bytes: {json.dumps(request, ensure_ascii=False)}")
        return _Exchange(self, endpoint.secret, self._clean)

    def write(self, line: str) -> None:
        """Raises RecordError: the file cannot be written."""
        self._file.write(line)


@contextmanager
def open_debug_log(path: Path, clean: CleanText) -> Iterator[DebugLog]:
    """Debug output in a new file that only its owner may read; ConfigurationError as recordings."""
    with new_line_file(path, "--debug-http") as file:
        yield DebugLog(file, clean)


class _Exchange:
    """A ``Listener``."""

    def __init__(self, log: DebugLog, secret: str, clean: CleanText) -> None:
        self._log = log
        self._lines = LineWise(secret, clean)
        self._started = time.monotonic()

    def response(self, status: int, headers: Mapping[str, str]) -> None:
        self._log.write(f"< {self._milliseconds()} status {status}")
        for name, value in clean_headers(headers).items():
            self._log.write(f"< {self._milliseconds()} {name}: {value}")

    def chunk(self, data: bytes) -> None:
        self._show(self._lines.feed(data, self._milliseconds()))

    def ended(self, how: Ending) -> None:
        self._show(self._lines.close())
        self._log.write(f"< {self._milliseconds()} {how.value}")

    def _show(self, pieces: list[tuple[int, bytes]]) -> None:
        for milliseconds, piece in pieces:
            for line in piece.decode("utf-8", "backslashreplace").splitlines():
                if line:
                    self._log.write(f"< {milliseconds} {line}")

    def _milliseconds(self) -> int:
        return round((time.monotonic() - self._started) * 1000)
