"""Experiment C: the same replies in every mode, cut at the same places.

A cut is a place in the content, taken twice: as early as possible (right behind that character)
and as late (right before the next one, with all syntax between). Small replies are also cut at
every byte of their own encoding. Each cut reply ends in each of ``ENDINGS``. The calls that then
execute are held against those that the whole reply means, by position, name and arguments.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from statistics import mean

from bridge.conversation.messages import ToolCall
from bridge.cst.bench.conversations import BENCH_TOOLS, Reply
from bridge.cst.bench.encodings import Encoding, encode
from bridge.cst.bench.subjects import ENDINGS, Cut, Subject, executed, fed, ready, subjects
from device_tools.errors import InvalidCall
from device_tools.schema import validate

SMALL = 120
"""Characters of content up to which a reply is also cut at every byte."""
_SPECS = {spec.name: spec for spec in BENCH_TOOLS}


@dataclass(frozen=True)
class TruncationRow:
    """Sums over all cuts of one kind (``cuts``: "content" or "bytes") and one ending.

    ``whole``: calls whose last character of content had arrived; ``executable``: calls that run
    and are right; ``lost``: whole calls that do not run; ``wrong``: confirmed calls that the
    whole reply does not contain at their place; ``wrong_valid``: those of them that the tool's
    schema lets through, so that they would act.
    """

    mode: str
    cuts: str
    ending: str
    points: int
    whole: int
    executable: int
    lost: int
    wrong: int
    wrong_valid: int


@dataclass(frozen=True)
class PendingRow:
    """Bytes at the cuts, before the end of the stream. ``held``: no frame had shown them yet;
    ``waiting``: they stand behind the last call that had become executable."""

    mode: str
    cuts: str
    points: int
    held_mean: float
    held_max: int
    waiting_mean: float
    waiting_max: int


def truncate(
    replies: Sequence[Reply], per_reply: int, seed: int = 0
) -> list[TruncationRow | PendingRow]:
    """All rows. ``per_reply``: random places in the content of each reply, besides both sides of
    every call's end."""
    places = [_places(reply, per_reply, Random(f"{seed}/{n}")) for n, reply in enumerate(replies)]  # noqa: S311
    executed: list[TruncationRow] = []
    pending: list[PendingRow] = []
    for subject in subjects():
        made = [(reply, encode(reply, subject.name)) for reply in replies]
        cuts = {
            "content": [
                (reply, encoding, cut)
                for (reply, encoding), each in zip(made, places, strict=True)
                for cut in _offsets(encoding, each)
            ],
            "bytes": [
                (reply, encoding, cut)
                for reply, encoding in made
                if reply.characters <= SMALL
                for cut in range(encoding.size)
            ],
        }
        for kind, cases in cuts.items():
            if cases:
                executed += [_executed_row(subject, kind, each, cases) for each in ENDINGS]
                pending.append(_pending_row(subject, kind, cases))
    return [*executed, *pending]


def _places(reply: Reply, count: int, random: Random) -> list[int]:
    """Places in the content, the same for every mode."""
    edges = encode(reply, "json-whole")
    ends = [bisect_right(edges.ends, whole) for whole in edges.wholes]
    names = [end + 1 for end in ends[:-1]]
    drawn = random.choices(range(reply.characters + 1), k=count)
    return sorted({0, *drawn, *ends, *names})


def _offsets(encoding: Encoding, places: Iterable[int]) -> list[int]:
    both = {at for place in places for at in (encoding.early(place), encoding.late(place))}
    # behind the last byte nothing is cut any more
    return sorted(both - {encoding.size})


Case = tuple[Reply, Encoding, int]


def _executed_row(subject: Subject, kind: str, ending: str, cases: Sequence[Case]) -> TruncationRow:
    counts = [_executed(subject, *case, ENDINGS[ending]) for case in cases]
    whole, right, lost, wrong, valid = (sum(each) for each in zip(*counts, strict=True))
    return TruncationRow(subject.name, kind, ending, len(cases), whole, right, lost, wrong, valid)


def _executed(
    subject: Subject, reply: Reply, encoding: Encoding, cut: int, how: Cut
) -> tuple[int, int, int, int, int]:
    """Whole, right, lost, wrong, wrong but valid."""
    calls = executed(subject, encoding, cut, how)
    wrong = [call for number, call in enumerate(calls) if not _is(call, number, reply)]
    right = len(calls) - len(wrong)
    whole = bisect_right(encoding.wholes, cut)
    # a call without arguments is whole with its name, and runs only behind its syntax
    return whole, right, max(whole - right, 0), len(wrong), sum(map(_valid, wrong))


def _pending_row(subject: Subject, kind: str, cases: Sequence[Case]) -> PendingRow:
    held, waiting = zip(*(_pending(subject, *case) for case in cases), strict=True)
    return PendingRow(
        subject.name,
        kind,
        len(cases),
        round(mean(held), 1),
        max(held),
        round(mean(waiting), 1),
        max(waiting),
    )


def _pending(subject: Subject, _reply: Reply, encoding: Encoding, cut: int) -> tuple[int, int]:
    """Held, waiting."""
    frames = fed(subject.reader(), encoding, cut)
    done = len(ready(frames))
    behind = encoding.closes[done - 1] if done else min(cut, encoding.text_end)
    return max(cut - encoding.shown(frames), 0), max(cut - behind, 0)


def _is(call: ToolCall, number: int, reply: Reply) -> bool:
    if number >= len(reply.calls):
        return False
    meant = reply.calls[number]
    return call.name == meant.name and dict(call.arguments) == dict(meant.arguments)


def _valid(call: ToolCall) -> bool:
    if call.name not in _SPECS:
        return False
    try:
        validate(_SPECS[call.name], call.id, call.arguments)
    except InvalidCall:
        return False
    return True
