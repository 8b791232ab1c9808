"""The three properties of confirmation, held against one stream that somebody has.

A growing reading sees every byte prefix. Around each confirmation and at ``FRESH`` other places a
fresh reading gets the same prefix in one piece, so that what depends on the cuts shows as well.
Whether a call is complete is judged by what arrived, not by the word of the reader.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from bridge.conversation.frames import CallReady, Frame
from bridge.conversation.messages import ToolCall
from bridge.conversation.stream import CallClosed, CallDelta, StreamEvent, TextDelta
from bridge.cst.carrier import Reader
from bridge.cst.reading import Reading, Source
from bridge.errors import ProviderError

FRESH = 200


@dataclass(frozen=True)
class Violation:
    """``prefix``: how many bytes had been fed; ``calls``: the ids of the executable calls."""

    prefix: int
    calls: tuple[str, ...]
    what: str


@dataclass
class Property:
    """``compared``: how many comparisons gave these ``violations``."""

    name: str
    says: str
    compared: int = 0
    violations: list[Violation] = field(default_factory=list)

    def compare(self, held: bool, prefix: int, calls: Iterable[ToolCall], what: str) -> None:
        self.compared += 1
        if not held:
            self.violations.append(Violation(prefix, tuple(call.id for call in calls), what))


@dataclass(frozen=True)
class Report:
    """``calls``: the executable ones of the whole stream. ``broken``: why it has no proper end,
    "" when it has one."""

    size: int
    calls: int
    broken: str
    properties: tuple[Property, ...]


def check(
    data: bytes, mode: str, open_source: Callable[[], Source], open_reader: Callable[[], Reader]
) -> Report:
    """Read ``data`` by prefixes in ``mode``; each opened source and reader reads one stream."""
    s1 = Property("S1", "no call is executable before it is complete")
    s2 = Property("S2", "an executable call is that of the whole stream")
    s3 = Property("S3", "the number of executable calls never falls")
    grown = _Prefix(open_source(), open_reader())
    counts = [0]
    for at in range(len(data)):
        new = grown.feed(data[at : at + 1])
        _complete(s1, mode, at + 1, new, grown)
        counts.append(len(grown.calls))
    grown.close()
    most = 0
    for size in _places(counts):
        fresh = _Prefix(open_source(), open_reader())
        new = fresh.feed(data[:size])
        _complete(s1, mode, size, new, fresh)
        _same(s2, size, new, grown.calls[: len(new)])
        most = max(most, counts[size])
        s3.compare(len(new) >= most, size, new, f"{most} were executable before")
        most = max(most, len(new))
    whole = _Prefix(open_source(), open_reader())
    whole.feed(data)
    whole.close()
    _same(s2, len(data), whole.calls, grown.calls)
    return Report(len(data), len(grown.calls), grown.broken, (s1, s2, s3))


class _Prefix:
    """What one reading has made executable so far."""

    def __init__(self, source: Source, reader: Reader) -> None:
        self._heard = _Heard(source)
        self._reading = Reading(self._heard, reader)
        self.calls: list[ToolCall] = []
        self.broken = ""

    @property
    def arrived(self) -> str:
        """All text, or all argument text, of the stream so far."""
        return _whole("".join(self._heard.pieces))

    def feed(self, piece: bytes) -> list[ToolCall]:
        """The calls that it confirmed; nothing more behind a fault or where reading stops."""
        if self.broken or self._reading.over:
            return []
        return self._take(self._reading.feed(piece))

    def close(self) -> list[ToolCall]:
        if self.broken or self._reading.over:
            return []
        return self._take(self._reading.close())

    def _take(self, frames: Iterator[Frame]) -> list[ToolCall]:
        new: list[ToolCall] = []
        try:
            for frame in frames:
                if isinstance(frame, CallReady):
                    new.append(frame.call)
        except ProviderError as error:
            self.broken = error.message
        self.calls += new
        return new


class _Heard:
    """A source that keeps what came through it."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.pieces: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[StreamEvent]:
        yield from map(self._keep, self._source.feed(chunk))

    def close(self) -> Iterator[StreamEvent]:
        yield from map(self._keep, self._source.close())

    def _keep(self, event: StreamEvent) -> StreamEvent:
        match event:
            case TextDelta(text):
                self.pieces.append(text)
            case CallDelta(arguments=text) | CallClosed(arguments=str(text)):
                self.pieces.append(text)
        return event


def _places(counts: list[int]) -> list[int]:
    """Sizes of fresh prefixes: both sides of each confirmation, and evenly spread others."""
    last = len(counts) - 1
    around = {
        at - near for at in range(1, last + 1) if counts[at] > counts[at - 1] for near in (0, 1)
    }
    return sorted(around | set(range(0, last + 1, max(1, last // FRESH))) | {last})


def _complete(s1: Property, mode: str, size: int, new: list[ToolCall], prefix: _Prefix) -> None:
    early = [call for call in new if not _is_complete(mode, _whole(call.source), prefix)]
    s1.compare(not early, size, early, "executable before all of it had arrived")


def _is_complete(mode: str, source: str, prefix: _Prefix) -> bool:
    return _is_closed(mode, source) and source in prefix.arrived


def _is_closed(mode: str, source: str) -> bool:
    """Whether a call of this text may run while the stream is open."""
    match mode:
        case "ctl" | "ctl-heredoc":
            return source.startswith("call ") and source.endswith("\nend\n")
        case "native-inc":
            return _is_object(source)
        case _:
            return False  # these wait for the end


def _is_object(source: str) -> bool:
    try:
        return isinstance(json.loads(source), dict)
    except ValueError:
        return False


def _same(s2: Property, size: int, calls: list[ToolCall], meant: list[ToolCall]) -> None:
    s2.compare(calls == meant, size, calls, f"the whole stream has {[c.source for c in meant]!r}")


def _whole(text: str) -> str:
    """Halves of a character that arrived apart joined, a lone one as U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
