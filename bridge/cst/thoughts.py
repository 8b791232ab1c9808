"""Tells the thought that opens a reply, ``<think>...</think>``, from what the model says.

Servers are meant to send thoughts apart; where one leaves them in the text, a call that the model
only considers there must not run.
"""

from __future__ import annotations

import re

OPEN, CLOSE = b"<think>", b"</think>"
_BLANK = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]{0,64}")


class ThoughtFilter:
    """Bytes in, (thought, speech) out; only whole UTF-8 characters may be fed. Pending is at most
    blanks and a begun tag."""

    def __init__(self) -> None:
        self._held = b""
        self._read = self._opening
        self.inside = False

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """The bytes that belong to the thought, tags included, and those behind it."""
        held, self._held = self._held + data, b""
        return self._read(held)

    def close(self) -> tuple[bytes, bytes]:
        """What was pending: no tag came of it."""
        held, self._held = self._held, b""
        return (held, b"") if self.inside else (b"", held)

    def _opening(self, held: bytes) -> tuple[bytes, bytes]:
        blank = _BLANK.match(held)
        start = blank.end() if blank else 0
        if held.startswith(OPEN, start):
            self.inside, self._read = True, self._thought
            thought, speech = self._thought(held[start:])
            return held[:start] + thought, speech
        if OPEN.startswith(held[start:]):
            self._held = held
            return b"", b""
        self._read = self._speech
        return b"", held

    def _thought(self, held: bytes) -> tuple[bytes, bytes]:
        found = held.find(CLOSE)
        if found >= 0:
            self.inside, self._read = False, self._speech
            stop = found + len(CLOSE)
            return held[:stop], held[stop:]
        tail = held.rfind(b"<", max(0, len(held) - len(CLOSE) + 1))
        if tail < 0 or not CLOSE.startswith(held[tail:]):
            tail = len(held)
        self._held = held[tail:]
        return held[:tail], b""

    @staticmethod
    def _speech(held: bytes) -> tuple[bytes, bytes]:
        return b"", held
