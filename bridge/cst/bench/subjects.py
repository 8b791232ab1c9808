"""The modes under test, and how one of them reads a reply that was cut."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from bridge.conversation.frames import CallReady, Frame
from bridge.conversation.messages import ToolCall
from bridge.conversation.stream import Finish, FinishReason, Usage
from bridge.cst.bench.baselines import baselines
from bridge.cst.bench.conversations import BENCH_TOOLS
from bridge.cst.bench.encodings import CLOSING, Encoding
from bridge.cst.carrier import Reader
from bridge.cst.carriers import CARRIERS

_OUTPUT_CAP = 4096
_STEP = 512


@dataclass(frozen=True)
class Cut:
    """How a server ends a reply that it cut: ``lies`` says a normal reason, ``counted`` also
    reports that the output tokens reached the cap, ``reason`` None breaks the connection."""

    lies: bool = False
    counted: bool = False
    reason: FinishReason | None = None


BROKEN = Cut()
ENDINGS: Mapping[str, Cut] = {
    "length": Cut(reason=FinishReason.LENGTH),
    "lying": Cut(lies=True),
    "lying, usage at cap": Cut(lies=True, counted=True),
}


@dataclass(frozen=True)
class Subject:
    """A mode under test: fresh readers, and the reason of a normal end with calls."""

    name: str
    reader: Callable[[], Reader]
    normal: FinishReason


def subjects() -> tuple[Subject, ...]:
    """The five carriers, ``native-inc`` again on a wire that closes its calls, then the baselines
    that are installed."""
    ours = [_carried(name, name) for name in CARRIERS]
    others = [Subject(name, made, FinishReason.STOP) for name, made in baselines().items()]
    return (*ours, _carried(CLOSING, "native-inc"), *others)


def _carried(name: str, mode: str) -> Subject:
    normal = FinishReason.TOOL_CALLS if mode.startswith("native") else FinishReason.STOP
    return Subject(name, partial(CARRIERS[mode].reader, BENCH_TOOLS, _OUTPUT_CAP), normal)


def fed(reader: Reader, encoding: Encoding, cut: int) -> list[Frame]:
    """What the stream confirms before it ends."""
    return [frame for event in encoding.events(cut, _STEP) for frame in reader.feed(event)]


def ready(frames: Iterable[Frame]) -> list[ToolCall]:
    """The calls among them that execute."""
    return [frame.call for frame in frames if isinstance(frame, CallReady)]


def executed(subject: Subject, encoding: Encoding, at: int, how: Cut) -> list[ToolCall]:
    """All calls that run when the reply is cut at offset ``at``."""
    reader = subject.reader()
    frames = fed(reader, encoding, at)
    if how.counted:
        frames += reader.feed(Usage(output_tokens=_OUTPUT_CAP))
    reason = subject.normal if how.lies else how.reason
    frames += reader.close(Finish(reason) if reason else None)
    return ready(frames)
