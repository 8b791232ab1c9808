"""Server-sent events from bytes: no I/O, any chunking, nothing lost and nothing invented.

Format: WHATWG HTML, section "Server-sent events". Three deliberate differences: text that is not
UTF-8 is an error instead of U+FFFD (a call must never run with a replaced character), lines and
events have a size limit, and ``id`` and ``retry`` are ignored because no model API uses them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_LINE = 8 * 1024 * 1024
MAX_EVENT = 16 * 1024 * 1024

_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n|\n|\r")


class SseError(ValueError):
    """The bytes are no event stream: not UTF-8, or larger than a limit."""


@dataclass(frozen=True)
class ServerSentEvent:
    """``event`` is "message" where the stream named none. ``data`` is never empty."""

    event: str
    data: str


class SseDecoder:
    """Feed it chunks as they come; it answers with the events they completed."""

    def __init__(self, *, max_line: int = MAX_LINE, max_event: int = MAX_EVENT) -> None:
        self._max_line = max_line
        self._max_event = max_event
        # pieces of the unfinished line, joined once: a long line costs linear time
        self._line: list[bytes] = []
        self._line_size = 0
        self._after_cr = False
        self._at_start = True
        self._event = ""
        self._data: list[str] = []
        self._data_size = 0

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """Raises SseError."""
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        events: list[ServerSentEvent] = []
        start = 0
        for end in _LINE_END.finditer(chunk):
            self._extend(chunk[start : end.start()])
            start = end.end()
            event = self._end_line()
            if event is not None:
                events.append(event)
        # that CR has ended its line; a LF that follows belongs to it
        self._after_cr = self._after_cr or (start > 0 and chunk.endswith(b"\r"))
        self._extend(chunk[start:])
        return events

    def close(self) -> bool:
        """Whether the stream ended in the middle of an event (which is dropped, as specified)."""
        return bool(self._line_size or self._data)

    def _extend(self, piece: bytes) -> None:
        self._line_size += len(piece)
        if self._line_size > self._max_line:
            raise SseError(f"a line of the event stream is longer than {self._max_line} bytes")
        if piece:
            self._line.append(piece)

    def _end_line(self) -> ServerSentEvent | None:
        raw = b"".join(self._line)
        self._line.clear()
        self._line_size = 0
        if self._at_start:
            raw = raw.removeprefix(_BOM)
            self._at_start = False
        if not raw:
            return self._dispatch()
        if not raw.startswith(b":"):
            self._field(raw)
        return None

    def _field(self, raw: bytes) -> None:
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise SseError(f"the event stream is not UTF-8: {error.reason}") from error
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._event = value
        elif name == "data":
            self._data_size += len(raw)
            if self._data_size > self._max_event:
                raise SseError(f"an event is larger than {self._max_event} bytes")
            self._data.append(value)

    def _dispatch(self) -> ServerSentEvent | None:
        event, data = self._event or "message", "\n".join(self._data)
        self._event = ""
        self._data.clear()
        self._data_size = 0
        return ServerSentEvent(event, data) if data else None
