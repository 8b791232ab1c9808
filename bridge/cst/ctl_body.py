"""Readers of argument values that span lines: delimited by a TAG, or counted in bytes.

``read(chunk, pos)`` consumes from ``pos`` and answers (new pos, confirmed bytes, done). Every
delimiter byte is compared; what may still become a delimiter is kept and never longer than it.
"""

from __future__ import annotations


class Heredoc:
    """Lines up to one that is exactly the TAG and LF; the value ends in a newline or is empty."""

    def __init__(self, tag: bytes) -> None:
        self.tag = tag
        self._delimiter = tag + b"\n"
        self._held = b""  # start of a line that equals the delimiter so far
        self._at_line_start = True

    @property
    def held(self) -> bytes:
        """What waits because it may become the TAG."""
        return self._held

    def read(self, chunk: bytes, pos: int) -> tuple[int, bytes, bool]:
        """See the module; each call either reads a line start or the rest of the body."""
        return (self._line_start if self._at_line_start else self._lines)(chunk, pos)

    def _line_start(self, chunk: bytes, pos: int) -> tuple[int, bytes, bool]:
        wanted = self._delimiter[len(self._held) :]
        got = chunk[pos : pos + len(wanted)]
        if got == wanted:
            return pos + len(wanted), b"", True
        if wanted.startswith(got):
            self._held += got
            return len(chunk), b"", False
        held, self._held = self._held, b""
        self._at_line_start = False
        return pos, held, False

    def _lines(self, chunk: bytes, pos: int) -> tuple[int, bytes, bool]:
        found = chunk.find(b"\n" + self._delimiter, pos)
        if found < 0:
            # only a suffix shorter than the delimiter can still become one
            found = chunk.rfind(b"\n", max(pos, len(chunk) - len(self._delimiter)))
            if not self._delimiter.startswith(chunk[found + 1 :]):
                found = -1
        self._at_line_start = found >= 0
        stop = found + 1 if found >= 0 else len(chunk)
        return stop, chunk[pos:stop], False


class Counted:
    """Exactly ``declared`` bytes, then at most one LF as a separator."""

    def __init__(self, declared: int) -> None:
        self.declared = declared
        self.missing = declared

    def read(self, chunk: bytes, pos: int) -> tuple[int, bytes, bool]:
        """See the module; done once the byte behind the body is known."""
        if self.missing:
            data = chunk[pos : pos + self.missing]
            self.missing -= len(data)
            return pos + len(data), data, False
        return (pos + 1 if chunk[pos] == 0x0A else pos), b"", True
