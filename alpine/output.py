"""The output of a command as text: bounded in memory, with offsets that never move.

Bytes are decoded as UTF-8; what is no UTF-8, and NUL, is shown as ``\\xNN``, so that nothing is
lost or doubled. Of a long output the first and the newest characters are kept, and every
character that ever arrived has its number.
"""

from __future__ import annotations

import codecs
from collections import deque
from dataclasses import dataclass
from threading import Lock

HEAD = 64 * 1024
TAIL = 1024 * 1024
"""Characters kept of one stream: the first ones, and the newest ones (dropped by the piece)."""

_PIECE = 4096


@dataclass(frozen=True)
class Excerpt:
    """Characters ``start`` to ``end`` of ``total``. ``start`` is later than asked for when what
    lies between was dropped."""

    text: str
    start: int
    end: int
    total: int


class Spool:
    """One stream. One thread feeds it, any may read."""

    def __init__(self, head: int = HEAD, tail: int = TAIL) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._limits = head, tail
        self._head = ""
        self._pieces: deque[str] = deque()
        self._kept = 0
        self._total = 0
        self._lock = Lock()

    @property
    def total(self) -> int:
        """Characters that arrived so far."""
        with self._lock:
            return self._total

    def feed(self, data: bytes, *, last: bool = False) -> None:
        """More bytes; ``last`` shows what is left of a cut character."""
        text = self._decoder.decode(data, last)
        if "\0" in text:
            text = text.replace("\0", "\\x00")
        with self._lock:
            self._add(text)

    def read(self, offset: int, count: int) -> Excerpt:
        """Up to ``count`` characters from ``offset``, or from the next one that is kept."""
        with self._lock:
            total, first_kept = self._total, self._total - self._kept
            start = min(offset, total)
            if start < len(self._head):
                text = self._head[start : start + count]
                if len(text) < count and first_kept == len(self._head):
                    text += self._tail_text(0, count - len(text))
            else:
                start = max(start, first_kept)
                text = self._tail_text(start - first_kept, count)
            return Excerpt(text, start, start + len(text), total)

    def summary(self, count: int) -> str:
        """The whole when it has at most ``count`` characters, else 60 % from its beginning, a
        line that says how much is missing, and 40 % from its end."""
        total = self.total
        if total <= count:
            return self.read(0, count).text
        first = self.read(0, count * 3 // 5)
        last = self.read(total - (count - count * 3 // 5), count)
        gap = f"\n[... {last.start - first.end} of {total} characters left out ...]\n"
        return first.text + gap + last.text

    def _add(self, text: str) -> None:
        head, tail = self._limits
        self._total += len(text)
        if (room := head - len(self._head)) > 0:
            self._head += text[:room]
            text = text[room:]
        if not text:
            return
        if self._pieces and len(self._pieces[-1]) < _PIECE:
            self._pieces[-1] += text
        else:
            self._pieces.append(text)
        self._kept += len(text)
        while self._kept - len(self._pieces[0]) >= tail:
            self._kept -= len(self._pieces.popleft())

    def _tail_text(self, skip: int, count: int) -> str:
        found: list[str] = []
        for piece in self._pieces:
            if count <= 0:
                break
            if skip >= len(piece):
                skip -= len(piece)
                continue
            found.append(piece[skip : skip + count])
            skip, count = 0, count - len(found[-1])
        return "".join(found)
