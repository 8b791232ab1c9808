"""Experiment C, where in the stream calls become executable: the first one, and each of ten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import mean

from bridge.cst.bench.conversations import MAX_CALLS, Reply
from bridge.cst.bench.encodings import Encoding, encode
from bridge.cst.bench.subjects import BROKEN, Cut, Subject, executed, ready, subjects

_FINE_STEP = 4


@dataclass(frozen=True)
class FirstCallRow:
    """Where the first call of a ten-call reply becomes executable, in % of the reply's bytes."""

    mode: str
    replies: int
    mean: float
    low: float
    high: float
    bytes_per_character: float


@dataclass(frozen=True)
class CurveRow:
    """``executable[i]``: right calls, mean over the ten-call replies, when the connection breaks
    at ``percent[i]`` of the content."""

    mode: str
    percent: tuple[int, ...]
    executable: tuple[float, ...]


def first_calls(replies: Sequence[Reply]) -> list[FirstCallRow]:
    """One row per mode, over the replies with ten calls."""
    chosen = [reply for reply in replies if len(reply.calls) == MAX_CALLS]
    rows = []
    for subject in subjects() if chosen else ():
        made = [encode(reply, subject.name) for reply in chosen]
        at = [100 * _first(subject, encoding) / encoding.size for encoding in made]
        cost = sum(e.size for e in made) / sum(reply.characters for reply in chosen)
        low, middle, high = (round(each, 1) for each in (min(at), mean(at), max(at)))
        rows.append(FirstCallRow(subject.name, len(made), middle, low, high, round(cost, 2)))
    return rows


def _first(subject: Subject, encoding: Encoding) -> int:
    reader, arrived = subject.reader(), 0
    for event in encoding.events(encoding.size, _FINE_STEP):
        arrived += _bytes(event)
        if ready(reader.feed(event)):
            return arrived
    return encoding.size


def _bytes(event: object) -> int:
    return sum(
        len(str(getattr(event, field, "")).encode()) for field in ("text", "name", "arguments")
    )


def curves(replies: Sequence[Reply], step: int = 2) -> list[CurveRow]:
    """One row per mode: what a break at each ``step`` % of the content leaves executable."""
    chosen = [reply for reply in replies if len(reply.calls) == MAX_CALLS]
    percent = tuple(range(0, 101, step))
    rows = []
    for subject in subjects() if chosen else ():
        made = [(reply, encode(reply, subject.name)) for reply in chosen]
        right = (mean(_right(subject, made, at)) for at in percent)
        rows.append(CurveRow(subject.name, percent, tuple(round(each, 3) for each in right)))
    return rows


def _right(subject: Subject, made: Iterable[tuple[Reply, Encoding]], percent: int) -> Iterator[int]:
    for reply, encoding in made:
        at = encoding.late(reply.characters * percent // 100)
        # at the very end the reply is whole, and its end says so
        how = Cut(lies=True) if percent == 100 else BROKEN
        # a broken connection runs no wrong call in any mode: the number is that of right ones
        yield len(executed(subject, encoding, at, how))
