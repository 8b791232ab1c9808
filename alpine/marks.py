"""Finds one random mark in a stream of bytes, however the stream is cut into pieces."""

from __future__ import annotations


class MarkScanner:
    """Everything in front of ``mark`` is output; the rest of the mark's line is ``line``.

    Only what may still be the beginning of the mark is held back.
    """

    def __init__(self, mark: bytes) -> None:
        self._mark = mark
        self._held = bytearray()
        self._found = False
        self.line: str | None = None

    def feed(self, data: bytes) -> bytes:
        """The output that is certain now. After the mark nothing is output."""
        self._held += data
        out = b""
        if not self._found:
            at = self._held.find(self._mark)
            self._found = at >= 0
            out = bytes(self._held[: at if self._found else len(self._held) - self._pending()])
            del self._held[: len(out) + (len(self._mark) if self._found else 0)]
        if self._found and self.line is None and (end := self._held.find(b"\n")) >= 0:
            self.line = self._held[:end].decode("ascii", "replace").strip()
            del self._held[: end + 1]
        return out

    def rest(self) -> bytes:
        """What was held back, where no mark came."""
        return b"" if self._found else bytes(self._held)

    def after(self) -> bytes:
        """What came behind the mark's line."""
        return bytes(self._held) if self.line is not None else b""

    def _pending(self) -> int:
        """Length of the longest suffix that is a prefix of the mark."""
        longest = min(len(self._mark) - 1, len(self._held))
        tail = bytes(self._held[len(self._held) - longest :]) if longest else b""
        for size in range(longest, 0, -1):
            if self._mark.startswith(tail[len(tail) - size :]):
                return size
        return 0
