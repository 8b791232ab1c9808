"""How others read calls from JSON in the text, as readers beside those of the five carriers.

``json-whole``: the reply is one JSON array, parsed at its end. ``json-object``: JSON objects one
after another, each executed at its closing brace. ``json-partial``: the array again, but what
arrived is completed by jiter's ``trailing-strings`` mode, which is how clients read half a
document. The first and the last run only what a normal end permits, as the native mode does.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

from bridge.conversation.frames import (
    ArgumentConfirmed,
    CallOpened,
    CallReady,
    Frame,
    TextConfirmed,
)
from bridge.conversation.messages import ToolCall
from bridge.conversation.stream import Finish, FinishReason, StreamEvent, TextDelta
from bridge.cst.carrier import Reader

_SPACE = re.compile(r"\s*")
_NORMAL = (FinishReason.STOP, FinishReason.TOOL_CALLS)


class _TextReader:
    """Collects the text; numbers the calls it finds."""

    def __init__(self) -> None:
        self._text = ""
        self._count = 0

    def feed(self, event: StreamEvent) -> list[Frame]:
        if not isinstance(event, TextDelta):
            return []
        self._text += event.text
        return self._grown(event.text)

    def close(self, finish: Finish | None) -> list[Frame]:
        if finish is None or finish.reason not in _NORMAL:
            return []
        return self._ended()

    @property
    def replay_text(self) -> str:
        return self._text

    def _grown(self, _piece: str) -> list[Frame]:
        return []

    @abstractmethod
    def _ended(self) -> list[Frame]: ...

    def _element(self, value: object) -> list[Frame]:
        if not isinstance(value, dict):
            return []
        if isinstance(text := value.get("text"), str):
            return [TextConfirmed(text)]
        name, arguments = value.get("name"), value.get("arguments")
        if not isinstance(name, str) or not isinstance(arguments, dict):
            return []
        self._count += 1
        return _call(f"j{self._count}", name, arguments)


class _WholeReader(_TextReader):
    def _ended(self) -> list[Frame]:
        try:
            value = self._parsed()
        except ValueError:
            return []
        elements = value if isinstance(value, list) else []
        return [frame for element in elements for frame in self._element(element)]

    def _parsed(self) -> object:
        return json.loads(self._text)


class _PartialReader(_WholeReader):
    def _parsed(self) -> object:
        import jiter

        return jiter.from_json(self._text.encode(), partial_mode="trailing-strings")


class _ObjectReader(_TextReader):
    """Parses again whenever a brace closes: nothing else can end an object."""

    def __init__(self) -> None:
        super().__init__()
        self._decoder = json.JSONDecoder()
        self._at = 0

    def _grown(self, piece: str) -> list[Frame]:
        frames: list[Frame] = []
        while "}" in piece and (start := self._next()) < len(self._text):
            try:
                value, self._at = self._decoder.raw_decode(self._text, start)
            except ValueError:
                break
            frames += self._element(value)
        return frames

    def _next(self) -> int:
        """Where the next object may begin."""
        found = _SPACE.match(self._text, self._at)
        return found.end() if found else self._at

    def _ended(self) -> list[Frame]:
        return []


def _call(call_id: str, name: str, arguments: Mapping[str, Any]) -> list[Frame]:
    values = (
        value if isinstance(value, str) else json.dumps(value) for value in arguments.values()
    )
    pieces = [
        ArgumentConfirmed(call_id, key, value) for key, value in zip(arguments, values, strict=True)
    ]
    ready = CallReady(ToolCall(call_id, name, arguments))
    return [CallOpened(call_id, name), *pieces, ready]


def baselines() -> Mapping[str, Callable[[], Reader]]:
    """Fresh readers by name; ``json-partial`` only where jiter is installed."""
    found: dict[str, Callable[[], Reader]] = {
        "json-whole": _WholeReader,
        "json-object": _ObjectReader,
    }
    if find_spec("jiter") is not None:
        found["json-partial"] = _PartialReader
    return found
