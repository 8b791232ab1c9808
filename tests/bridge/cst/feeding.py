"""Feeds streams to carriers in any pieces, and joins what the cuts may part."""

from __future__ import annotations

import codecs
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bridge.conversation.frames import ArgumentConfirmed, CallReady, Frame, TextConfirmed
from bridge.conversation.messages import ModelRequest, ToolCall
from bridge.conversation.stream import Finish, StreamEvent, TextDelta
from bridge.cst.carriers import CARRIERS
from bridge.cst.ctl_events import ArgumentPiece, Event, Text
from bridge.errors import ProviderError
from bridge.providers.anthropic import AnthropicWire
from bridge.providers.chat_completions import ChatWire
from bridge.providers.chat_quirks import ChatQuirks
from bridge.providers.responses import ResponsesWire
from bridge.providers.sse import SseDecoder
from bridge.providers.wire import Peer, RequestOptions, Wire
from device_tools.schema import ToolSpec

# the corpus holds the word "null" for a missing id, which only some servers mean so
WIRES: dict[str, Wire] = {
    "chat": ChatWire(ChatQuirks(null_words=True)),
    "responses": ResponsesWire(),
    "anthropic": AnthropicWire(),
}


def joined(frames: Iterable[Frame]) -> list[Frame]:
    """Adjacent pieces of one text or of one argument as one event."""
    out: list[Frame] = []
    for frame in frames:
        match out[-1] if out else None, frame:
            case TextConfirmed(before), TextConfirmed(after):
                out[-1] = TextConfirmed(before + after)
            case ArgumentConfirmed(id_, key, before), ArgumentConfirmed(same, this, after) if (
                id_,
                key,
            ) == (same, this):
                out[-1] = ArgumentConfirmed(id_, key, before + after)
            case _:
                out.append(frame)
    return out


def glued(events: Iterable[Event]) -> list[Event]:
    """The same for the events of the CTL parser."""
    out: list[Event] = []
    for event in events:
        match out[-1] if out else None, event:
            case Text(before), Text(after):
                out[-1] = Text(before + after)
            case ArgumentPiece(id_, key, before), ArgumentPiece(_, same, after) if key == same:
                out[-1] = ArgumentPiece(id_, key, before + after)
            case _:
                out.append(event)
    return out


def calls(frames: Iterable[Frame]) -> list[ToolCall]:
    """The executable ones."""
    return [frame.call for frame in frames if isinstance(frame, CallReady)]


def cuttings(size: int, count: int, seed: str) -> list[list[int]]:
    """``count`` random ways to cut ``size`` bytes, from crumbs to a few large pieces."""
    pick = random.Random(seed)
    ways = []
    for _ in range(count):
        most = min(size - 1, pick.choice((1, 3, 10, 40, 400)))
        ways.append(sorted(pick.sample(range(1, size), pick.randint(0, most)) if most > 0 else []))
    return ways


def cut(data: bytes, places: Sequence[int]) -> list[bytes]:
    """``data`` in pieces, cut at the rising ``places``."""
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]


@dataclass
class _Text:
    """Raw text as the model wrote it; its clean end is what ``finish`` says."""

    finish: Finish | None

    def __post_init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, piece: bytes) -> list[StreamEvent]:
        return [TextDelta(self._decoder.decode(piece))]

    def close(self) -> list[StreamEvent]:
        last = TextDelta(self._decoder.decode(b"", final=True))
        return [last, *([self.finish] if self.finish else [])]


class _Wire:
    """The bytes of an answer on one of the wires; broken evidence is no evidence."""

    def __init__(self, name: str, tools: Sequence[ToolSpec]) -> None:
        request = ModelRequest("", (), tuple(tools), 100_000)
        self._answer = WIRES[name].answer(request, RequestOptions("m"), Peer("x"))
        self._decoder = SseDecoder()

    def feed(self, piece: bytes) -> list[StreamEvent]:
        return [
            neutral
            for event in self._decoder.feed(piece)
            for neutral in ([] if self._answer.done else self._answer.feed(event))
        ]

    def close(self) -> list[StreamEvent]:
        try:
            return self._answer.close()
        except ProviderError:
            return []


class Player:
    """One response: bytes in, frames out. ``wire`` "" is raw text."""

    def __init__(
        self, mode: str, wire: str, tools: Sequence[ToolSpec], finish: Finish | None = None
    ) -> None:
        carrier = CARRIERS[mode]
        self._reader = carrier.reader(tools, None)
        offered = carrier.request_tools(tools)
        self._source: _Text | _Wire = _Wire(wire, offered) if wire else _Text(finish)

    def feed(self, piece: bytes) -> list[Frame]:
        return self._frames(self._source.feed(piece))

    def close(self) -> list[Frame]:
        events = self._source.close()
        finish = next((each for each in events if isinstance(each, Finish)), None)
        return self._frames(events) + self._reader.close(finish)

    def _frames(self, events: Iterable[StreamEvent]) -> list[Frame]:
        return [frame for event in events for frame in self._reader.feed(event)]
