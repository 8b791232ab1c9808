"""Server-sent events from bytes: no I/O, any chunking, nothing lost and nothing invented.

Format: WHATWG HTML, section "Server-sent events". Three deliberate differences: text that is not
UTF-8 is an error instead of U+FFFD (a call must never run with a replaced character), lines,
events and their number have a limit, and ``id`` and ``retry`` are ignored because no model API
uses them.
"""

from __future__ import annotations

from typing import NamedTuple

MAX_LINE = 8 * 1024 * 1024
MAX_EVENT = 16 * 1024 * 1024
MAX_EVENTS = 1_000_000

_BOM = b"\xef\xbb\xbf"


class SseError(ValueError):
    """The bytes are no event stream: not UTF-8, or larger than a limit. ``events`` are those that
    the same chunk completed before the fault: they came, wherever the stream was cut."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.events: list[ServerSentEvent] = []


class ServerSentEvent(NamedTuple):
    """``event`` is "message" where the stream named none. ``data`` is never empty."""

    event: str
    data: str


class SseDecoder:
    """Feed it chunks as they come; it answers with the events they completed."""

    def __init__(
        self,
        *,
        max_line: int = MAX_LINE,
        max_event: int = MAX_EVENT,
        max_events: int = MAX_EVENTS,
    ) -> None:
        self._max_line = max_line
        self._max_event = max_event
        self._max_events = max_events
        # pieces of the unfinished line, joined once: a long line costs linear time
        self._line: list[bytes] = []
        self._line_size = 0
        self._after_cr = False
        self._at_start = True
        self._event = ""
        self._data: list[str] = []
        self._data_size = 0
        self._events = 0

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """Raises SseError."""
        lines = self._lines(chunk)
        events: list[ServerSentEvent] = []
        try:
            for line in lines:
                self._take(line, events)
        except SseError as error:
            error.events = events
            raise
        return events

    def close(self) -> bool:
        """Whether the stream ended in the middle of an event (which is dropped, as specified)."""
        return bool(self._line_size or self._data)

    def _take(self, line: bytes, events: list[ServerSentEvent]) -> None:
        if line:
            self._field(line)
        elif self._data:
            self._dispatch(events)
        else:
            self._event = ""

    def _lines(self, chunk: bytes) -> list[bytes]:
        """The lines that end in ``chunk``, without their ends."""
        if self._after_cr and chunk:
            # that CR has ended its line; a LF that follows belongs to it
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        if b"\r" in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        first, *lines = chunk.split(b"\n")
        self._extend(first)
        if not lines:
            return lines
        rest = lines.pop()
        whole = [self._end_line(), *lines]
        if len(chunk) > self._max_line and max(map(len, whole)) > self._max_line:
            raise self._too_long()
        self._extend(rest)
        return whole

    def _extend(self, piece: bytes) -> None:
        self._line_size += len(piece)
        if self._line_size > self._max_line:
            raise self._too_long()
        if piece:
            self._line.append(piece)

    def _end_line(self) -> bytes:
        line = b"".join(self._line)
        self._line.clear()
        self._line_size = 0
        if self._at_start:
            line = line.removeprefix(_BOM)
            self._at_start = False
        return line

    def _too_long(self) -> SseError:
        return SseError(f"a line of the event stream is longer than {self._max_line} bytes")

    def _field(self, raw: bytes) -> None:
        if raw.startswith(b":"):
            return
        try:
            line = raw.decode()
        except UnicodeDecodeError as error:
            raise SseError(f"the event stream is not UTF-8: {error.reason}") from error
        name, _, value = line.partition(":")
        if name == "data":
            self._data_size += len(raw)
            if self._data_size > self._max_event:
                raise SseError(f"an event is larger than {self._max_event} bytes")
            self._data.append(value.removeprefix(" "))
        elif name == "event":
            self._event = value.removeprefix(" ")

    def _dispatch(self, events: list[ServerSentEvent]) -> None:
        data = "\n".join(self._data)
        if data:
            self._events += 1
            if self._events > self._max_events:
                raise SseError(f"an answer has more than {self._max_events} events")
            events.append(ServerSentEvent(self._event or "message", data))
        self._event = ""
        self._data.clear()
        self._data_size = 0
