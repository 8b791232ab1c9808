"""Runs the experiments that were asked for, one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from bridge.cst.bench.conversations import replies
from bridge.cst.bench.correctness import Sample, correctness
from bridge.cst.bench.positions import curves, first_calls
from bridge.cst.bench.speed import Size, speed
from bridge.cst.bench.tables import Row
from bridge.cst.bench.truncation import truncate


class Experiment(StrEnum):
    """C cuts replies, D judges frames that a model wrote, speed times the parsers."""

    C = "C"
    D = "D"
    SPEED = "speed"


@dataclass(frozen=True)
class Plan:
    """``replies`` and ``cuts`` (places drawn per reply) are those of C; ``samples`` of D."""

    experiments: Sequence[Experiment] = tuple(Experiment)
    replies: int = 60
    cuts: int = 20
    seed: int = 0
    samples: Sequence[Sample] = ()
    size: Size = field(default_factory=Size)


QUICK = Plan(replies=10, cuts=5, size=Size(argument=20, stream=20, body=200, repeat=1))
"""To see what comes out, in a few seconds; its figures mean little."""


def run(plan: Plan) -> Iterator[Row]:
    """The rows of all experiments in the order C, D, speed."""
    if Experiment.C in plan.experiments:
        said = replies(plan.replies, plan.seed)
        yield from first_calls(said)
        yield from truncate(said, plan.cuts, plan.seed)
        yield from curves(said)
    if Experiment.D in plan.experiments:
        yield from correctness(plan.samples)
    if Experiment.SPEED in plan.experiments:
        yield from speed(plan.size)
