"""Takes secrets out of a whole answer, also those that are spread over many of its events.

A model says a secret in pieces of a few letters. So the texts of one place of the stream (the same
field, the same index) are searched as one. Each byte of a secret becomes a ``*``: lengths stay what
they were, so a frame that counts its bytes can still be read when the recording is played.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bridge.providers.wire_redaction import is_input, is_name, without_opaque

Timed = tuple[int, bytes]
"""Milliseconds since the request, and bytes of the answer."""
_Numbered = tuple[int, bytes]
_INDEXES = ("index", "output_index", "content_index", "summary_index", "item_id")
_Place = tuple[object, ...]


class Span(Protocol):
    """``text[start:end]`` is secret."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


FindSecrets = Callable[[str], Sequence[Span]]


def starred(text: str, find: FindSecrets) -> str:
    """``text`` with a ``*`` for each byte of each secret."""
    return "".join(_starred_pieces([text], find))


def starred_values(value: Any, find: FindSecrets) -> Any:
    """JSON values with each text in them starred, but for names of the wire itself."""
    texts = [text for _, text in _texts(value, ())]
    stars = iter([starred(text, find) for text in texts])
    return _replaced(value, stars)


def starred_answer(pieces: Sequence[Timed], secret: str, find: FindSecrets) -> list[Timed]:
    """The pieces of an event stream or an error body without secrets. ``secret`` is the key that
    was sent. Lines without secrets keep every byte and the pieces they came in; a changed line
    comes as one piece, at the time of its last byte."""
    # by their number: what came in two pieces in one millisecond stays two
    numbered = [(number, data) for number, (_, data) in enumerate(pieces)]
    lines = [_Line(line) for line in _lines(numbered)]
    places: dict[_Place, list[tuple[_Line, int]]] = {}
    for line in lines:
        line.read(secret)
        for number, place in enumerate(line.places):
            places.setdefault(place, []).append((line, number))
    for found in places.values():
        stars = _starred_pieces([line.texts[number] for line, number in found], find)
        for (line, number), text in zip(found, stars, strict=True):
            line.texts[number] = text
    whole = _joined([piece for line in lines for piece in line.written()])
    return [(pieces[number][0], data) for number, data in whole]


@dataclass
class _Line:
    """One line of an answer: its JSON with the texts in it, or itself as one text."""

    pieces: list[_Numbered]
    prefix: bytes = b""
    end: bytes = b""
    value: Any = None
    opaque: bool = False
    places: list[_Place] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)

    @property
    def raw(self) -> bytes:
        return b"".join(data for _, data in self.pieces)

    def read(self, secret: str) -> None:
        raw = self.raw.replace(secret.encode(), b"*" * len(secret)) if secret else self.raw
        body = raw.rstrip(b"\r\n")
        self.end = raw[len(body) :]
        name, colon, data = body.partition(b":")
        self.prefix, data = (b"data: ", data) if name == b"data" and colon else (b"", body)
        try:
            given = json.loads(data)
        except (ValueError, RecursionError):
            # no JSON, or only half of it
            self.places, self.texts = [("raw",)], [body.decode("utf-8", "surrogateescape")]
        else:
            self.value = without_opaque(given)
            self.opaque = self.value != given or raw != self.raw
            found = list(_texts(self.value, (_kind(given),)))
            self.places, self.texts = [place for place, _ in found], [text for _, text in found]
        self.before = list(self.texts)
        self.opaque |= raw != self.raw

    def written(self) -> list[_Numbered]:
        if self.texts == self.before and not self.opaque:
            return self.pieces
        if self.value is None:
            data = self.texts[0].encode("utf-8", "surrogateescape")
        else:
            value = _replaced(self.value, iter(self.texts))
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
            data = self.prefix + text.encode("utf-8", "replace")
        return [(self.pieces[-1][0], data + self.end)]


def _kind(value: Any) -> object:
    return value.get("type") if isinstance(value, Mapping) else None


def _texts(value: Any, place: _Place, said: bool = False) -> Iterator[tuple[_Place, str]]:
    """Every text of a JSON value with its place: the way to it and the indexes beside it."""
    if isinstance(value, Mapping):
        indexes = (value.get(name) for name in _INDEXES)
        beside = tuple(index for index in indexes if isinstance(index, str | int))
        for key, item in value.items():
            if said or not is_name(key, item):
                yield from _texts(item, (*place, *beside, key), said or is_input(key, item))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _texts(item, (*place, number), said)
    elif isinstance(value, str):
        yield place, value


def _replaced(value: Any, texts: Iterator[str], said: bool = False) -> Any:
    """``value`` with its texts, in the order of ``_texts``, replaced."""
    if isinstance(value, Mapping):
        return {
            key: item
            if not said and is_name(key, item)
            else _replaced(item, texts, said or is_input(key, item))
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_replaced(item, texts, said) for item in value]
    return next(texts) if isinstance(value, str) else value


def _starred_pieces(texts: Sequence[str], find: FindSecrets) -> list[str]:
    """The pieces of one text, each with its own part of the secrets starred."""
    joined = "".join(texts)
    spans = find(joined)
    if not spans:
        return list(texts)
    shown = list(joined)
    for span in spans:
        for place in range(span.start, span.end):
            shown[place] = "*" * len(joined[place].encode("utf-8", "replace"))
    ends, pieces = 0, []
    for text in texts:
        pieces.append("".join(shown[ends : ends + len(text)]))
        ends += len(text)
    return pieces


def _lines(pieces: Sequence[_Numbered]) -> Iterator[list[_Numbered]]:
    """The lines of an answer, each in the pieces it came in; the last one may have no end."""
    open_line: list[_Numbered] = []
    for number, data in pieces:
        for part in data.splitlines(keepends=True):
            open_line.append((number, part))
            if part.endswith((b"\n", b"\r")):
                yield open_line
                open_line = []
    if open_line:
        yield open_line


def _joined(pieces: Sequence[_Numbered]) -> list[_Numbered]:
    """What came in one piece as one piece."""
    joined: list[_Numbered] = []
    for number, data in pieces:
        if joined and joined[-1][0] == number:
            joined[-1] = (number, joined[-1][1] + data)
        else:
            joined.append((number, data))
    return joined
