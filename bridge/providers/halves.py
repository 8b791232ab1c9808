"""Puts characters together again that JSON escapes split over two fragments of a stream."""

from __future__ import annotations


class Halves:
    """``feed`` returns text without lone surrogates; a first half waits for its second."""

    def __init__(self) -> None:
        self.waiting = ""

    def feed(self, text: str) -> str:
        """Raises ValueError: half a character that no second half can follow."""
        text = self.waiting + text
        self.waiting = ""
        if text.isascii():
            return text
        if "\ud800" <= text[-1] <= "\udbff":
            text, self.waiting = text[:-1], text[-1]
        return joined(text)


def joined(text: str) -> str:
    """``text`` with each pair of surrogates as one character.

    Raises ValueError: one without its other half.
    """
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise ValueError("half a character") from None
