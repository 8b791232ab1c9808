"""Text deltas as UTF-8, whatever halves of a character a wire's JSON escapes left in them."""

from __future__ import annotations

import re

_LONE_HIGH = re.compile("[\ud800-\udbff]\\Z")


class Utf8Joiner:
    """Halves that arrived apart become one character, a lone one U+FFFD."""

    def __init__(self) -> None:
        self._half = ""  # first half of a surrogate pair at the end of a delta

    def feed(self, text: str) -> bytes:
        """The bytes of ``text`` but for a first half at its end, which waits for the next."""
        text, self._half = self._half + text, ""
        if cut := _LONE_HIGH.search(text):
            text, self._half = text[: cut.start()], cut[0]
        try:
            return text.encode()
        except UnicodeEncodeError:
            whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
            return whole.encode()
