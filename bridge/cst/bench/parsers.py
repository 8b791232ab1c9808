"""What the speed tables compare: each reads the pieces of one reply to its end."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec

from bridge.conversation.stream import Finish, FinishReason, TextDelta
from bridge.cst.bench.conversations import BENCH_TOOLS
from bridge.cst.carriers import CARRIERS
from bridge.cst.ctl import CtlParser
from bridge.cst.ctl_events import CallEnd, Limits

Feed = Callable[[Sequence[bytes]], object]
Loads = Callable[[bytes], object]
TOOL_NAMES = frozenset(spec.name for spec in BENCH_TOOLS)


def json_parsers() -> Mapping[str, Loads]:
    """By name; orjson and jiter only where they are installed."""
    found: dict[str, Loads] = {"json.loads": json.loads}
    if find_spec("orjson") is not None:
        import orjson

        found["orjson"] = orjson.loads
    if find_spec("jiter") is not None:
        import jiter

        found["jiter"] = jiter.from_json
    return found


def missing_parsers() -> list[str]:
    """Those of the optional extra ``bench`` that are not installed, so that rows are absent."""
    return [name for name in ("orjson", "jiter") if find_spec(name) is None]


def parse(mode: str, limit: int = Limits.argument) -> Feed:
    """The CTL parser alone: events, no typed values. ``limit``: bytes of one argument."""

    def feed(pieces: Sequence[bytes]) -> object:
        limits = Limits(argument=limit)
        parser = CtlParser(TOOL_NAMES, length_prefix=mode == "ctl", limits=limits)
        for piece in pieces:
            events = parser.feed(piece)
        assert isinstance(events[-1], CallEnd)
        return events

    return feed


def carry(mode: str) -> Callable[[Sequence[str]], object]:
    """The carrier: from text deltas to typed calls, with the text of each frame."""

    def feed(pieces: Sequence[str]) -> object:
        reader = CARRIERS[mode].reader(BENCH_TOOLS, None)
        for piece in pieces:
            reader.feed(TextDelta(piece))
        return reader.close(Finish(FinishReason.STOP))

    return feed


def joined(loads: Loads) -> Feed:
    """Nothing is read before all has arrived."""
    return lambda pieces: loads(b"".join(pieces))


def on_every_delta(loads: Loads) -> Feed:
    """What arrived so far is parsed again with each piece; all but the last try fail."""

    def feed(pieces: Sequence[bytes]) -> object:
        arrived, value = bytearray(), None
        for piece in pieces:
            arrived += piece
            try:
                value = loads(bytes(arrived))
            except ValueError:
                continue
        return value

    return feed
