"""What the model said in its calls of sensitive tools, found again in the text of its answers.

Confirmed calls are known with their arguments. A frame that never was confirmed (cut off, or behind
an error, where nobody reads on) is told by its first line.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from json import dumps
from typing import Any

from bridge.store.spans import Secret

_END = re.compile(r"^(?:end$|call )", re.MULTILINE)
_LINE = re.compile(r"^(?:arg [\w.\-]{1,64} )?(?P<said>[^\n]+)$", re.MULTILINE)


class SensitiveCalls:
    """The confirmed source of each call (a frame, or arguments in JSON) with its arguments.
    ``names`` are those of the sensitive tools."""

    def __init__(self, names: Collection[str]) -> None:
        self._calls: dict[str, tuple[tuple[str, str], ...]] = {}
        either = "|".join(map(re.escape, names)) or r"(?!)"
        self._open = re.compile(rf"^call [\w.\-]{{1,64}} (?:{either})$", re.MULTILINE)

    def add(self, frame: str, arguments: Mapping[str, Any]) -> None:
        if frame:
            self._calls[frame] = tuple(
                (key, text) for key, value in arguments.items() for text in _texts(value) if text
            )

    def find(self, text: str) -> Iterator[Secret]:
        """The values of the arguments where a call stands in ``text``; names and keys are none."""
        for frame, values in self._calls.items():
            places = list(_places(frame, values))
            start = text.find(frame)
            while start >= 0:
                yield from (Secret(start + a, start + b, "") for a, b in places)
                start = text.find(frame, start + 1)
        for opening in self._open.finditer(text):
            if not any(text.startswith(frame, opening.start()) for frame in self._calls):
                yield from _unconfirmed(text, opening.end() + 1)


def _unconfirmed(text: str, start: int) -> Iterator[Secret]:
    """Every line of a frame from behind its first one up to its end, without ``arg KEY``."""
    behind = _END.search(text, start)
    end = behind.start() if behind else len(text)
    for line in _LINE.finditer(text, start, end):
        yield Secret(line.start("said"), line.end("said"), "")


def _places(frame: str, values: tuple[tuple[str, str], ...]) -> Iterator[tuple[int, int]]:
    for key, value in values:
        behind = frame.find(key)
        behind = behind + len(key) if behind >= 0 else 0
        forms = (value, value.removesuffix("\n"), dumps(value, ensure_ascii=False)[1:-1])
        for form in (*forms, dumps(value)[1:-1]):
            if form and (place := frame.find(form, behind)) >= 0:
                yield place, place + len(form)
                break


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)
