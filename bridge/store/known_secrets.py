"""The secret values that a run met, found again in later texts in the forms they are written in."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from html import escape as xml_escape
from json import dumps
from urllib.parse import quote, quote_plus

from bridge.store.spans import Secret

SHORTEST = 4
"""Characters: a shorter value is inside too many other texts."""
STRONG = 8
"""A value of this many characters, not all letters, is found inside longer words too, and in hex
and base64."""
CODE, FIELD = "code", "field"
_SEPARATORS = re.compile(r"[\s\-]")
_WORD_START = r"(?:(?<![0-9A-Za-z])|(?<=\\n))"
_WORD_END = r"(?![0-9A-Za-z])"


class KnownSecrets:
    """Grows during a run; values stay in memory only."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None

    def add(self, value: str, kind: str) -> None:
        """Remember ``value``. ``kind`` "code" allows separators inside; "field" is one that the
        phone itself treats as secret, so that even a common word counts."""
        plain = _SEPARATORS.sub("", value) if kind == CODE else value.strip()
        common_word = kind == "password" and value.isalpha() and len(value) < STRONG
        if len(plain) < SHORTEST or common_word or plain in self._values:
            return
        self._values[plain] = kind
        self._pattern = None
        for line in plain.replace("\\n", "\n").split("\n") if len(plain) > 100 else ():
            if len(line) >= 32 and line != plain:  # a part of a key block is as bad as the whole
                self.add(line, kind)

    def find(self, text: str) -> Iterator[Secret]:
        """The spans of ``text`` that are known; never overlapping."""
        if not self._values:
            return
        if self._pattern is None:
            self._pattern = _compiled(self._values)
        for match in self._pattern.finditer(text):
            yield Secret(match.start(), match.end(), "")


def _compiled(values: dict[str, str]) -> re.Pattern[str]:
    words: set[str] = set()
    parts: set[str] = set()
    for value, kind in values.items():
        if kind == CODE:
            words.add(r"[ \-]?".join(map(re.escape, value)))
        elif len(value) >= STRONG and not value.isalpha():
            parts.update(_forms(value))
        else:
            words.update(map(re.escape, _escaped(value)))
    # digits of a code inside a longer number are another number; `\n` may stand as two letters
    either = [_WORD_START + _any(words) + _WORD_END] if words else []
    inside = [_branching(sorted(parts, key=lambda each: (-len(each), each)))] if parts else []
    return re.compile("|".join([*inside, *either]))


def _any(patterns: set[str]) -> str:
    """Longest first: of two secrets that begin alike the longer one is hidden whole."""
    return f"(?:{'|'.join(sorted(patterns, key=lambda each: (-len(each), each)))})"


def _branching(values: list[str], depth: int = 3) -> str:
    """Any of ``values``, longest first, by their first letters: trying hundreds of alternatives at
    each place of a text would take a hundred times as long."""
    if depth == 0 or len(values) < 4:
        return f"(?:{'|'.join(map(re.escape, values))})"
    tails: dict[str, list[str]] = {}
    for value in values:
        tails.setdefault(value[0], []).append(value[1:])
    branches = (re.escape(head) + _branching(rest, depth - 1) for head, rest in tails.items())
    return f"(?:{'|'.join(branches)})"


def _escaped(value: str) -> set[str]:
    """As it stands, and inside JSON (also twice), an element list, XML and a URL."""
    json = dumps(value)[1:-1]
    plain_json = dumps(value, ensure_ascii=False)[1:-1]
    return {
        value, json, plain_json, dumps(plain_json)[1:-1], xml_escape(value, quote=False),
        xml_escape(value), *_quoted(value),
    }  # fmt: skip


def _quoted(value: str) -> tuple[str, ...]:
    whole = quote(value, safe="", errors="replace")
    return (whole, quote(value, errors="replace"), quote_plus(value, errors="replace"))


def _forms(value: str) -> set[str]:
    raw = value.encode("utf-8", "replace")
    forms = _escaped(value) | {raw.hex(), raw.hex().upper()}
    for offset in range(3):
        # the letters that no neighbouring byte has a part in
        coded = base64.b64encode(bytes(offset) + raw).decode()
        whole = coded[-(-offset * 8 // 6) : (offset + len(raw)) * 8 // 6]
        forms |= {whole, whole.replace("+", "-").replace("/", "_")}
    return forms
