"""What the model said in its calls of sensitive tools, found again in the text of its answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from json import dumps
from typing import Any

from bridge.store.spans import Secret


class SensitiveCalls:
    """The confirmed source of each call (a frame, or arguments in JSON) with its arguments."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[tuple[str, str], ...]] = {}

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
