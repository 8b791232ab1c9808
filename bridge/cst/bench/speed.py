"""Speed of reading calls: the CTL parser and carriers against JSON parsers on the same calls.

All subjects of a table take turns in one run and the best of the repetitions counts, in CPU time of
this process: the ratios hold on a busy machine where milliseconds do not. JSON parsers get the
calls as one JSON array; fed in pieces they join them and parse once, or parse again on every delta
as clients do that show arguments while they arrive.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import median
from typing import Any

from bridge.conversation.stream import TextDelta
from bridge.cst.bench import parsers
from bridge.cst.bench.conversations import BENCH_TOOLS, MAX_CALLS, Call, Reply, reply
from bridge.cst.bench.encodings import encode
from bridge.cst.carriers import CARRIERS
from bridge.cst.ctl import CtlParser

LINE = "a line of forty bytes, LF counted as on\n"
DELTA = 20
CHUNK = 64 * 1024
SEGMENTS = 10
_FEEDS = {"one piece": 1 << 30, f"{DELTA}-byte deltas": DELTA, "64 KiB chunks": CHUNK}


@dataclass(frozen=True)
class Size:
    """How much work: kilobytes of the long argument, of the segmented stream, of the throughput
    bodies, and repetitions."""

    argument: int = 200
    stream: int = 1000
    body: int = 8000
    repeat: int = 5


@dataclass(frozen=True)
class SpeedRow:
    """Best time of one subject; ``ratio`` to the first subject of the same document and feed."""

    document: str
    feed: str
    subject: str
    milliseconds: float
    megabytes_per_second: float
    ratio: float


@dataclass(frozen=True)
class SegmentRow:
    """Microseconds per 20-byte delta in ten equal parts of one stream; ``growth`` is the median of
    the last three over that of the first three."""

    subject: str
    kilobytes: int
    microseconds: tuple[float, ...]
    growth: float


@dataclass(frozen=True)
class TargetRow:
    """One promise and what was measured in this run; ``at_least`` says which side is good."""

    promise: str
    measured: float
    target: float
    at_least: bool
    met: bool


Run = tuple[int, Callable[[], object]]
"""The bytes that a run reads, and the run."""


def speed(size: Size | None = None) -> list[SpeedRow | SegmentRow | TargetRow]:
    """All tables, the targets last."""
    size = size or Size()
    ten = reply(Random("ten calls"), MAX_CALLS, short=False)  # noqa: S311
    long = Reply("", (_file(size.argument),))
    name = f"{size.argument} KB argument"
    compared = [*_compared("ten calls", ten, size.repeat), *_compared(name, long, size.repeat)]
    every = _every_delta(name, long, size.repeat)
    bodies = _bodies(size.body, size.repeat)
    segments = _segments(size.stream, size.repeat)
    return [*compared, *every, *bodies, *segments, *_targets(every, bodies, segments)]


def _file(kilobytes: int) -> Call:
    content = LINE * (kilobytes * 1000 // len(LINE))
    return Call("write_file", {"path": "/sdcard/Download/long.txt", "content": content})


def _compared(document: str, said: Reply, repeat: int) -> list[SpeedRow]:
    rows = []
    for feed, step in _FEEDS.items():
        runs: dict[str, Run] = {}
        for mode in ("ctl-heredoc", "ctl"):
            data = _bytes(said, mode)
            runs[f"{mode} parser"] = _run(data, step, parsers.parse(mode))
            runs[f"{mode} carrier"] = _text_run(data, step, parsers.carry(mode))
        data = _bytes(said, "json-whole")
        for name, loads in parsers.json_parsers().items():
            runs[name] = _run(data, step, parsers.joined(loads))
        rows += _rows(document, feed, runs, repeat)
    return rows


def _every_delta(document: str, said: Reply, repeat: int) -> list[SpeedRow]:
    ours = _run(_bytes(said, "ctl-heredoc"), DELTA, parsers.parse("ctl-heredoc"))
    data = _bytes(said, "json-whole")
    theirs = {
        f"{name} on every delta": _run(data, DELTA, parsers.on_every_delta(loads))
        for name, loads in parsers.json_parsers().items()
    }
    runs = {"ctl-heredoc parser": ours, **theirs}
    # theirs take seconds: one look is enough
    return _rows(document, f"{DELTA}-byte deltas, each shown", runs, 1, more_of_first=repeat)


def _bodies(kilobytes: int, repeat: int) -> list[SpeedRow]:
    said, limit = Reply("", (_file(kilobytes),)), kilobytes * 1000
    runs = {
        f"{mode} parser": _run(_bytes(said, mode), CHUNK, parsers.parse(mode, limit))
        for mode in ("ctl-heredoc", "ctl")
    }
    return _rows(f"{kilobytes} KB argument", "64 KiB chunks", runs, repeat)


def _segments(kilobytes: int, repeat: int) -> list[SegmentRow]:
    """Per segment the best of the repetitions."""
    data = _bytes(Reply("", (_file(kilobytes),)), "ctl-heredoc")
    pieces = _pieces(data, DELTA)
    texts = [TextDelta(piece.decode()) for piece in pieces]
    carrier = CARRIERS["ctl-heredoc"]
    runs: dict[str, Callable[[], list[float]]] = {
        "ctl-heredoc parser": lambda: _segment_run(
            CtlParser(parsers.TOOL_NAMES, length_prefix=False).feed, pieces
        ),
        "ctl-heredoc carrier": lambda: _segment_run(carrier.reader(BENCH_TOOLS, None).feed, texts),
    }
    rows = []
    for subject, run in runs.items():
        best = [min(each) for each in zip(*(run() for _ in range(repeat)), strict=True)]
        growth = round(median(best[-3:]) / median(best[:3]), 2)
        rows.append(SegmentRow(subject, kilobytes, tuple(round(us, 2) for us in best), growth))
    return rows


def _segment_run(feed: Callable[[Any], object], items: Sequence[object]) -> list[float]:
    length = len(items) // SEGMENTS
    micro = []
    for segment in range(SEGMENTS):
        part = items[segment * length : (segment + 1) * length]
        begun = time.process_time()
        for item in part:
            feed(item)
        micro.append((time.process_time() - begun) / length * 1e6)
    return micro


def _targets(
    every: Sequence[SpeedRow], bodies: Sequence[SpeedRow], segments: Sequence[SegmentRow]
) -> list[TargetRow]:
    theirs = next(row.ratio for row in every if row.subject.startswith("json.loads"))
    rows = [_target("json.loads on every delta, times ctl-heredoc", theirs, 50, at_least=True)]
    for body in bodies:
        promise = f"{body.subject}, MB/s in 64 KiB chunks"
        rows.append(_target(promise, body.megabytes_per_second, 200, at_least=True))
    for each in segments:
        promise = f"{each.subject}, growth of the cost per delta"
        rows.append(_target(promise, each.growth, 1.5, at_least=False))
    return rows


def _target(promise: str, measured: float, target: float, *, at_least: bool) -> TargetRow:
    met = measured >= target if at_least else measured <= target
    return TargetRow(promise, measured, target, at_least, met)


def _bytes(said: Reply, mode: str) -> bytes:
    return b"".join(part.data for part in encode(said, mode).parts)


def _pieces(data: bytes, step: int) -> list[bytes]:
    return [data[at : at + step] for at in range(0, len(data), step)]


def _run(data: bytes, step: int, feed: parsers.Feed) -> Run:
    pieces = _pieces(data, step)
    return len(data), lambda: feed(pieces)


def _text_run(data: bytes, step: int, feed: Callable[[Sequence[str]], object]) -> Run:
    text = data.decode()
    pieces = [text[at : at + step] for at in range(0, len(text), step)]
    return len(data), lambda: feed(pieces)


def _rows(
    document: str, feed: str, runs: Mapping[str, Run], repeat: int, more_of_first: int = 0
) -> list[SpeedRow]:
    first = next(iter(runs))
    best = dict.fromkeys(runs, float("inf"))
    for name in [name for _ in range(repeat) for name in runs] + [first] * more_of_first:
        begun = time.process_time()
        runs[name][1]()
        # a clock of coarse steps may say 0
        best[name] = min(best[name], max(time.process_time() - begun, 1e-7))
    return [
        SpeedRow(
            document,
            feed,
            name,
            round(seconds * 1e3, 4),
            round(runs[name][0] / seconds / 1e6, 1),
            round(seconds / best[first], 3),
        )
        for name, seconds in best.items()
    ]
