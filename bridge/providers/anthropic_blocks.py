"""The content blocks of one streamed message: neutral events while they come, whole items after.

A block is begun, continued and ended by its index, each index once. What these methods raise as
ValueError says in words what the server did wrong; a call is never completed by guessing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bridge.conversation.stream import (
    CallClosed,
    CallDelta,
    Citation,
    HostedTool,
    OpaqueItem,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
)
from bridge.cst.values import json_object
from bridge.providers.halves import Halves, joined

_WITH_INPUT = ("tool_use", "server_tool_use")
_RESULT = "_tool_result"


@dataclass
class _Block:
    """``start`` is the block as it began, ``pieces`` its fragments, ``place`` the number of
    characters of text before it. ``exact``: its parts are all known, so it can be sent again."""

    start: Mapping[str, Any]
    kind: str
    place: int
    pieces: list[str] = field(default_factory=list)
    halves: Halves = field(default_factory=Halves)
    signature: str | None = None
    citations: list[Any] = field(default_factory=list)
    exact: bool = True
    closed: bool = False

    def item(self) -> Mapping[str, Any]:
        """The block as it would have come in one piece."""
        item = dict(self.start)
        if self.kind in ("text", "thinking"):
            item[self.kind] = "".join(self.pieces)
        elif self.kind in _WITH_INPUT:
            item["input"] = self._input()
        if self.citations:
            first = item.get("citations")
            item["citations"] = [*(first if isinstance(first, list) else []), *self.citations]
        if self.signature is not None:
            item["signature"] = self.signature
        return item

    def _input(self) -> Mapping[str, Any]:
        """What is no JSON object never ran, and goes back as an empty one."""
        if not self.pieces:
            return self.start.get("input") or {}
        try:
            return json_object(joined("".join(self.pieces)))
        except ValueError:
            return {}


class Blocks:
    """``native``: tools were offered. ``called``: a call of ours came. ``uncalled_for``: one came
    though none was offered; it becomes no event."""

    def __init__(self, *, native: bool, summaries: bool) -> None:
        self._native = native
        self._summaries = summaries
        self._blocks: dict[int, _Block] = {}
        self._hosted: dict[str, str] = {}
        self._characters = 0
        self.uncalled_for = False

    @property
    def open_call(self) -> bool:
        """Whether a call has not been ended."""
        return any(b.kind == "tool_use" and not b.closed for b in self._blocks.values())

    def items(self) -> list[OpaqueItem]:
        """All blocks in the order they began; none when one of them is not whole and exact."""
        blocks = self._blocks.values()
        if all(block.closed and block.exact for block in blocks):
            return [OpaqueItem(block.item()) for block in blocks]
        return []

    def start(self, index: object, start: object) -> list[StreamEvent]:
        """A block begins. Raises ValueError."""
        if not isinstance(index, int) or isinstance(index, bool):
            raise ValueError("a content block without an index")
        if not isinstance(start, dict) or not isinstance(start.get("type"), str):
            raise ValueError("a content block without a type")
        if index in self._blocks:
            raise ValueError(f"content block {index} twice")
        block = _Block(start, start["type"], self._characters)
        self._blocks[index] = block
        if block.kind == "text":
            return self._text(block, _string(start, "text"))
        if block.kind == "thinking":
            return self._thinking(block, _string(start, "thinking"))
        if block.kind == "tool_use":
            return self._call(index, start)
        if block.kind == "server_tool_use":
            return self._hosted_begins(start)
        if block.kind.endswith(_RESULT):
            return self._hosted_ends(block.kind, start)
        return []

    def delta(self, index: object, delta: object) -> list[StreamEvent]:
        """A fragment of an open block. Raises ValueError."""
        block = self._open(index)
        if not isinstance(delta, dict):
            raise ValueError("a delta that is not an object")
        match delta.get("type"), block.kind:
            case "text_delta", "text":
                return self._text(block, _string(delta, "text"))
            case "thinking_delta", "thinking":
                return self._thinking(block, _string(delta, "thinking"))
            case "input_json_delta", ("tool_use" | "server_tool_use"):
                return self._input(index, block, _string(delta, "partial_json"))
            case "signature_delta", "thinking":
                # it comes whole
                block.signature = _string(delta, "signature")
            case "citations_delta", "text":
                block.citations.append(delta.get("citation"))
            case ("text_delta" | "thinking_delta" | "input_json_delta") as name, kind:
                raise ValueError(f"a {name} for a {kind} block")
            case _:
                block.exact = False
        return []

    def stop(self, index: object) -> list[StreamEvent]:
        """A block is whole. Raises ValueError, also the second time."""
        block = self._open(index)
        if block.halves.waiting:
            raise ValueError("half a character")
        block.closed = True
        if block.kind == "tool_use" and self._native:
            return [CallClosed(str(index))]
        return [*self._cited(block)]

    def _open(self, index: object) -> _Block:
        block = self._blocks.get(index) if isinstance(index, int) else None
        if block is None:
            raise ValueError(f"something for content block {index}, which never began")
        if block.closed:
            raise ValueError(f"something for content block {index}, which had ended")
        return block

    def _text(self, block: _Block, text: str) -> list[StreamEvent]:
        text = block.halves.feed(text)
        if not text:
            return []
        block.pieces.append(text)
        self._characters += len(text)
        return [TextDelta(text)]

    def _thinking(self, block: _Block, text: str) -> list[StreamEvent]:
        text = block.halves.feed(text)
        if not text:
            return []
        block.pieces.append(text)
        return [ReasoningDelta(text, self._summaries)]

    def _call(self, index: int, start: Mapping[str, Any]) -> list[StreamEvent]:
        if not self._native:
            self.uncalled_for = True
            return []
        key, call_id, name = str(index), _string(start, "id"), _string(start, "name")
        given = start.get("input")
        if not given:
            # {} here is a placeholder and no arguments: fragments follow, or the end says so
            return [CallDelta(key, call_id, name)]
        if not isinstance(given, dict):
            raise ValueError("a call whose input is not an object")
        return [CallDelta(key, call_id, name, json.dumps(given, ensure_ascii=False), whole=True)]

    def _input(self, index: object, block: _Block, piece: str) -> list[StreamEvent]:
        if not piece:
            return []
        block.pieces.append(piece)
        if block.kind == "tool_use" and self._native:
            return [CallDelta(str(index), arguments=piece)]
        return []

    def _hosted_begins(self, start: Mapping[str, Any]) -> list[StreamEvent]:
        hosted = HostedTool(_string(start, "id"), _string(start, "name"))
        self._hosted[hosted.id] = hosted.name
        return [hosted]

    def _hosted_ends(self, kind: str, start: Mapping[str, Any]) -> list[StreamEvent]:
        tool_id, content = _string(start, "tool_use_id"), start.get("content")
        name = self._hosted.get(tool_id, kind.removesuffix(_RESULT))
        # results are a list, or an object of their own kind; so is the report of a failure
        failed = isinstance(content, dict) and "error" in str(content.get("type"))
        return [HostedTool(tool_id, name, ended=True, failed=failed)]

    def _cited(self, block: _Block) -> list[Citation]:
        """The sources of a block of text support all of it."""
        found = [each for each in block.citations if isinstance(each, dict)]
        end = block.place + sum(map(len, block.pieces))
        return [
            Citation(each["url"], _string(each, "title"), block.place, end)
            for each in found
            if isinstance(each.get("url"), str)
        ]


def _string(table: Mapping[str, Any], key: str) -> str:
    value = table.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{key} that is not text")
    return value
