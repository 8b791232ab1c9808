"""The output items of one Responses answer, and which of them an event is about.

Events name their item by ``item_id`` and ``output_index``. Servers leave out either or both, and
some give one item another id in every event; then the index counts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bridge.providers.halves import joined

MESSAGE = "message"
CALL = "function_call"
REASONING = "reasoning"
HOSTED_SEARCH = "web_search_call"
MAX_ITEMS = 256


@dataclass
class Item:
    """One output item as far as it arrived.

    ``key`` is unique in the answer. ``pieces``: the arguments of a call or the text of a message.
    ``spelled``: what ``arguments.done`` said, or the item when it began. ``begun``: the neutral
    stream has heard of it.
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
    raw: Mapping[str, Any] | None = field(default=None, repr=False)

    @property
    def content(self) -> str:
        """The pieces as one text."""
        return unsplit("".join(self.pieces))


class Items:
    """All items in the order of their first event.

    The methods raise ValueError: not the shape of an item, or more of them than any answer has.
    """

    def __init__(self) -> None:
        self.all: list[Item] = []

    def of_kind(self, kind: str) -> list[Item]:
        return [item for item in self.all if item.kind == kind]

    def begin(self, event: Mapping[str, Any]) -> Item:
        """The item of ``output_item.added``: a new one, unless a delta was earlier."""
        raw = _item(event)
        item_id, index = word(raw.get("id")), _place(event)
        item = self._with_id(item_id) or self._at(index)
        if item is None or item.raw is not None or (item.id and item_id and item.id != item_id):
            item = self._new(item_id, index)
        describe(item, raw)
        if item.kind == CALL:
            item.spelled = item.spelled or arguments_of(raw)
        return item

    def end(self, event: Mapping[str, Any]) -> Item:
        """The item of ``output_item.done``; the caller sets its ``raw``."""
        raw = _item(event)
        item_id, index, kind = word(raw.get("id")), _place(event), word(raw.get("type"))
        item = self._with_id(item_id) or self._with_call_id(word(raw.get("call_id")))
        if item is None:
            item = self._at(index, kind) if index else None if item_id else self._only_open(kind)
            item = None if item is None or item.raw is not None else item
        item = item or self._new(item_id, index)
        describe(item, raw)
        return item

    def about(self, event: Mapping[str, Any], kind: str) -> Item:
        """The item a delta or a detail belongs to; one that is not known yet is a new item."""
        item_id, index = word(event.get("item_id")), _place(event)
        item = self._with_id(item_id, kind) or self._at(index, kind)
        # text can be read without knowing whose it is; arguments of the wrong call cannot
        if item is None and (kind == MESSAGE or not (item_id or index)):
            item = self._only_open(kind)
        if item is None:
            item = self._new(item_id, index)
            item.kind = kind
        return item

    def _with_id(self, item_id: str, kind: str = "") -> Item | None:
        return self._last(lambda item: item.id == item_id, kind) if item_id else None

    def _with_call_id(self, call_id: str) -> Item | None:
        return self._last(lambda item: item.call_id == call_id) if call_id else None

    def _at(self, index: str, kind: str = "") -> Item | None:
        return self._last(lambda item: item.index == index, kind) if index else None

    def _last(self, fits: Callable[[Item], bool], kind: str = "") -> Item | None:
        """The latest that fits; with ``kind`` of that kind, or of one not known yet."""
        for item in reversed(self.all):
            if fits(item) and (not kind or item.kind in (kind, "")):
                return item
        return None

    def _only_open(self, kind: str) -> Item | None:
        still_open = [item for item in self.of_kind(kind) if item.raw is None]
        return still_open[0] if len(still_open) == 1 else None

    def _new(self, item_id: str, index: str) -> Item:
        number = len(self.all)
        if number == MAX_ITEMS:
            raise ValueError(f"more than {MAX_ITEMS} output items")
        key = item_id or index or f"item {number}"
        if any(item.key == key for item in self.all):
            key = f"{key} {number}"
        self.all.append(Item(key, item_id, index))
        return self.all[-1]


def unsplit(text: str) -> str:
    """``text`` with split characters joined; where half of one is lost, as it came."""
    try:
        return joined(text)
    except ValueError:
        return text


def word(value: object) -> str:
    """A string, or "" for anything else."""
    return value if isinstance(value, str) else ""


def arguments_of(raw: Mapping[str, Any]) -> str:
    """The arguments of a call item as JSON text; some servers write them as an object.

    Raises ValueError: they are neither.
    """
    value = raw.get("arguments")
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if value is not None and not isinstance(value, str):
        raise ValueError("arguments of a call that are not text")
    if any(raw.get(name) for name in ("parameters", "input")):
        # left out they would make a call of no arguments
        raise ValueError("the arguments of a call in an unknown place")
    return value or ""


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
