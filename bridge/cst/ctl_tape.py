"""What the parts of the CTL parser share: the place in the stream, the line that is held back,
the call that is open, and the events that are ready.

Positions are byte offsets in the whole stream.
"""

from __future__ import annotations

from collections.abc import Callable

from bridge.conversation.frames import ContractErrorKind as Kind
from bridge.cst.ctl_events import ArgumentPiece, Event, Fault, Limits, Text

Step = Callable[[bytes, int], int]
"""Reads a chunk from a place in it; answers the place behind what it read."""


class Tape:
    """``step`` reads next; None after a fault, a stop or the end: nothing more comes out.
    ``id`` and ``name`` are those of the open call, "" outside of any."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.step: Step | None = None
        self.offset = 0  # of the fed chunk in the stream
        self.line = bytearray()  # an unfinished line that may still become a delimiter
        self.line_at = 0
        self.pieces: list[bytes] = []  # confirmed in this chunk, not yet in an event
        self.id = self.name = self.key = ""
        self._events: list[Event] = []

    def take_line(self, chunk: bytes, pos: int) -> tuple[int, bytes | None]:
        """The line from ``pos`` without its LF, None (and held back) while it has no LF."""
        if not self.line:
            self.line_at = self.offset + pos
        found = chunk.find(b"\n", pos)
        if found < 0:
            self.line += chunk[pos:]
            return len(chunk), None
        line = bytes(self.line) + chunk[pos:found]
        self.line.clear()
        return found + 1, line

    def emit(self, event: Event) -> None:
        self.flush()
        self._events.append(event)

    def flush(self) -> None:
        """Makes one event of the pieces: of the open argument, else of text."""
        if not self.pieces:
            return
        data = b"".join(self.pieces)
        self.pieces.clear()
        if self.id:
            self._events.append(ArgumentPiece(self.id, self.key, data))
        elif data:
            self._events.append(Text(data))

    def taken(self) -> list[Event]:
        """The events since it was last asked."""
        self.flush()
        events, self._events = self._events, []
        return events

    def fault(
        self,
        kind: Kind,
        what: str,
        *,
        line: bytes = b"",
        declared: int | None = None,
        arrived: int | None = None,
        call_id: str = "",
        tool: str = "",
    ) -> None:
        """The last event. ``call_id`` and ``tool`` name a call that is not open yet."""
        arrived = len(line) if arrived is None else arrived
        call_id, tool = call_id or self.id, tool or self.name
        self.emit(Fault(kind, self.line_at, what, line, declared, arrived, call_id, tool))
        self.step = None

    def too_long(self, line: bytes) -> None:
        most = self.limits.line
        self.fault(
            Kind.LINE_TOO_LONG,
            f"a call or arg line holds at most {most} bytes; give a long value by heredoc",
            line=line[:80],
            arrived=most + 1,
        )
