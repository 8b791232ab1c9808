"""Text, refusals, reasoning and citations of a Responses answer as neutral events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bridge.conversation.stream import Citation, ReasoningDelta, StreamEvent, TextDelta
from bridge.providers.halves import Halves
from bridge.providers.responses_items import Item, text_parts, unsplit, word


@dataclass
class _Part:
    """One content part of a message; ``start`` in characters of all text of the answer."""

    start: int
    size: int = 0


class Texts:
    """All text of one answer. Raises ValueError for half a character."""

    def __init__(self) -> None:
        self.refused = False
        self._halves = Halves()
        self._size = 0
        self._line_open = False
        self._message_begins = False
        self._parts: dict[tuple[str, int], _Part] = {}
        self._cited: dict[tuple[str, int], list[Mapping[str, Any]]] = {}

    @property
    def half(self) -> bool:
        """Whether the text ended inside a character."""
        return bool(self._halves.waiting)

    def begin(self) -> None:
        """Another message begins. What follows it is on a line of its own."""
        self._message_begins = True

    def delta(self, item: Item, place: int, text: str) -> list[StreamEvent]:
        """A piece of the content part ``place`` of ``item``."""
        if not text:
            return []
        item.pieces.append(text)
        events: list[StreamEvent] = []
        if self._message_begins and self._line_open:
            events.append(TextDelta("\n"))
            self._size += 1
        self._message_begins = False
        part = self._parts.setdefault((item.key, place), _Part(self._size))
        if whole := self._halves.feed(text):
            self._size += len(whole)
            part.size += len(whole)
            self._line_open = not whole.endswith("\n")
            events.append(TextDelta(whole))
        return events

    def part_done(self, item: Item, place: int, text: str) -> list[StreamEvent]:
        """The whole text of a part: new only where no delta told it."""
        return [] if (item.key, place) in self._parts else self.delta(item, place, text)

    def end(self, item: Item, raw: Mapping[str, Any]) -> tuple[list[StreamEvent], bool]:
        """The complete message: what is new of it, and whether it agrees with its deltas."""
        events: list[StreamEvent] = []
        parts = text_parts(raw)
        if not item.pieces:
            for place, (text, _) in enumerate(parts):
                events += self.delta(item, place, text)
        for place, (_, part) in enumerate(parts):
            self.refused = self.refused or part.get("type") == "refusal"
            annotations = part.get("annotations")
            for annotation in annotations if isinstance(annotations, list) else ():
                self.cite(item, place, annotation)
        agrees = item.content == unsplit("".join(text for text, _ in parts))
        return [*events, *self.citations(item)], agrees

    def cite(self, item: Item, place: int, annotation: object) -> None:
        """Keep a ``url_citation``; other annotations are about files that we never sent."""
        if isinstance(annotation, dict) and annotation.get("type") == "url_citation":
            self._cited.setdefault((item.key, place), []).append(annotation)

    def citations(self, item: Item) -> list[StreamEvent]:
        """The citations of ``item`` that nobody took yet, each once."""
        found: dict[Citation, None] = {}
        for place in [place for place in self._cited if place[0] == item.key]:
            part = self._parts.get(place, _Part(0))
            for annotation in self._cited.pop(place):
                found.update(dict.fromkeys(_citation(annotation, part)))
        return list(found)


class Reasoning:
    """Visible reasoning: summaries are marked as such, nothing is made up but blank lines
    between the parts of one summary."""

    def __init__(self) -> None:
        self._told: dict[str, int] = {}

    def delta(self, item: Item, place: int, text: str, *, summary: bool) -> list[StreamEvent]:
        """A piece of the part ``place``."""
        if not text:
            return []
        gap = "\n\n" if self._told.get(item.key, place) != place else ""
        self._told[item.key] = place
        return [ReasoningDelta(gap + text.encode("utf-8", "replace").decode(), summary)]

    def end(self, item: Item, raw: Mapping[str, Any]) -> list[StreamEvent]:
        """The complete item: new only where no delta told it."""
        if item.key in self._told:
            return []
        events: list[StreamEvent] = []
        for name, summary in (("summary", True), ("content", False)):
            parts = raw.get(name)
            for place, part in enumerate(parts if isinstance(parts, list) else ()):
                text = word(part.get("text")) if isinstance(part, dict) else ""
                events += self.delta(item, place, text, summary=summary)
        return events


def _citation(annotation: Mapping[str, Any], part: _Part) -> list[Citation]:
    url, title = word(annotation.get("url")), word(annotation.get("title"))
    if not url.startswith(("https://", "http://")):
        return []
    start, end = _offset(annotation.get("start_index")), _offset(annotation.get("end_index"))
    if start is None or end is None or not start < end <= part.size:
        return [Citation(url, title)]
    return [Citation(url, title, part.start + start, part.start + end)]


def _offset(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
