"""HTTP debug output for people: what went out and what came back, by its shape.

It is written while the run goes on, when nobody knows yet what will turn out to be secret. So it
has statuses, names, numbers and times, and of every text its length; ``--record`` keeps the texts.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from bridge.providers.endpoint import Endpoint
from bridge.providers.line_file import LineFile, new_line_file
from bridge.providers.tap import Ending
from bridge.providers.wire_redaction import clean_headers, clean_request, shape, shape_of_line


class DebugLog:
    """A ``Tap``. ``>`` is sent, ``<`` is received; the number is milliseconds since the request."""

    def __init__(self, file: LineFile) -> None:
        self._file = file

    def begin(self, endpoint: Endpoint, body: bytes) -> _Exchange:
        parts = urlsplit(endpoint.url)
        self.write(f"> POST {parts.scheme}://{endpoint.host}{parts.path}")
        for name, value in clean_headers(endpoint.headers).items():
            self.write(f"> {name}: {value}")
        request = shape(clean_request(body))
        self.write(f"> {len(body)} bytes: {json.dumps(request, ensure_ascii=False)}")
        return _Exchange(self)

    def write(self, line: str) -> None:
        """Raises RecordError: the file cannot be written."""
        self._file.write(line)


@contextmanager
def open_debug_log(path: Path) -> Iterator[DebugLog]:
    """Debug output in a new file that only its owner may read; ConfigurationError as recordings."""
    with new_line_file(path, "--debug-http") as file:
        yield DebugLog(file)


class _Exchange:
    """A ``Listener``. Bytes wait until their line is whole."""

    def __init__(self, log: DebugLog) -> None:
        self._log = log
        self._rest = b""
        self._started = time.monotonic()

    def response(self, status: int, headers: Mapping[str, str]) -> None:
        self._show(f"status {status}")
        for name, value in clean_headers(headers).items():
            self._show(f"{name}: {value}")

    def chunk(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._show_line(line)

    def ended(self, how: Ending) -> None:
        self._show_line(self._rest)
        self._rest = b""
        self._show(how.value)

    def _show_line(self, line: bytes) -> None:
        if text := line.decode("utf-8", "backslashreplace").rstrip("\r"):
            self._show(shape_of_line(text))

    def _show(self, what: str) -> None:
        milliseconds = round((time.monotonic() - self._started) * 1000)
        self._log.write(f"< {milliseconds} {what}")
