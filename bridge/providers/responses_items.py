"""The output items of one Responses answer, and which of them an event is about.

Events name their item by ``item_id`` and ``output_index``. Servers leave out either or both, and
some give one item another id in every event; then the index counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bridge.providers.halves import joined

MESSAGE = "message"
CALL = "function_call"
REASONING = "reasoning"
HOSTED_SEARCH = "web_search_call"


@dataclass
class Item:
    """One output item as far as it arrived.

    ``key`` is unique in the answer. ``pieces``: the arguments of a call or the text of a message.
    ``spelled``: what ``arguments.done`` said. ``begun``: the neutral stream has heard of it.
    ``raw``: the complete item, from ``output_item.done`` or the terminal output only.
    """

    key: str
    id: str = ""
    index: str = ""
    kind: str = ""
    call_id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    spelled: str = ""
    begun: bool = False
    raw: Mapping[str, Any] | None = None

    @property
    def content(self) -> str:
        """The pieces as one text."""
        return joined("".join(self.pieces))


class Items:
    """All items in the order of their first event. Raises ValueError: not the shape of an item."""

    def __init__(self) -> None:
        self.all: list[Item] = []

    def of_kind(self, kind: str) -> list[Item]:
        return [item for item in self.all if item.kind == kind]

    def begin(self, event: Mapping[str, Any]) -> Item:
        """The item of ``output_item.added``: a new one, unless a delta was earlier."""
        raw = _item(event)
        item_id, index = word(raw.get("id")), _place(event)
        item = self._last(lambda each: bool(item_id) and each.id == item_id) or self._last(
            lambda each: bool(index) and each.index == index and not (item_id and each.id)
        )
        if item is None or item.raw is not None:
            item = self._new(item_id, index)
        describe(item, raw)
        return item

    def end(self, event: Mapping[str, Any]) -> Item:
        """The item of ``output_item.done``; its ``raw`` is not yet set when it ends first."""
        raw = _item(event)
        item_id, index, kind = word(raw.get("id")), _place(event), word(raw.get("type"))
        call_id = word(raw.get("call_id"))
        item = (
            self._last(lambda each: bool(item_id) and each.id == item_id)
            or self._last(lambda each: bool(call_id) and each.call_id == call_id)
            or self._last(
                lambda each: (
                    each.raw is None
                    and bool(index)
                    and each.index == index
                    and each.kind in (kind, "")
                )
            )
            or (None if item_id or index else self._only_open(kind))
            or self._new(item_id, index)
        )
        describe(item, raw)
        return item

    def about(self, event: Mapping[str, Any], kind: str) -> Item:
        """The item a delta or a detail belongs to; one without a place is a new item."""
        item_id, index = word(event.get("item_id")), _place(event)
        mine = [each for each in self.all if each.kind in (kind, "")]
        item = next(
            (each for each in reversed(mine) if item_id and each.id == item_id), None
        ) or next((each for each in reversed(mine) if index and each.index == index), None)
        # text can be read without knowing whose it is; arguments of the wrong call cannot
        if item is None and (kind == MESSAGE or not (item_id or index)):
            item = self._only_open(kind)
        if item is None:
            item = self._new(item_id, index)
            item.kind = kind
        return item

    def _last(self, fits: Callable[[Item], bool]) -> Item | None:
        return next((item for item in reversed(self.all) if fits(item)), None)

    def _only_open(self, kind: str) -> Item | None:
        still_open = [item for item in self.all if item.kind == kind and item.raw is None]
        return still_open[0] if len(still_open) == 1 else None

    def _new(self, item_id: str, index: str) -> Item:
        number = len(self.all)
        key = item_id or index or f"item {number}"
        if any(item.key == key for item in self.all):
            key = f"{key} {number}"
        self.all.append(Item(key, item_id, index))
        return self.all[-1]


def word(value: object) -> str:
    """A string, or "" for anything else."""
    return value if isinstance(value, str) else ""


def text_parts(raw: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Text and part of each ``output_text`` and ``refusal`` of a message item, in order."""
    content = raw.get("content")
    parts = (
        [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    )
    return [(word(part.get("text")) or word(part.get("refusal")), part) for part in parts]


def describe(item: Item, raw: Mapping[str, Any]) -> None:
    """Fill in what ``raw`` says of ``item`` and nothing said before."""
    item.kind = item.kind or word(raw.get("type"))
    item.call_id = item.call_id or word(raw.get("call_id"))
    item.name = item.name or word(raw.get("name"))


def _item(event: Mapping[str, Any]) -> dict[str, Any]:
    raw = event.get("item")
    if not isinstance(raw, dict) or not word(raw.get("type")):
        raise ValueError("an output item that is none")
    return raw


def _place(event: Mapping[str, Any]) -> str:
    index = event.get("output_index")
    return str(index) if isinstance(index, int) and not isinstance(index, bool) else ""
