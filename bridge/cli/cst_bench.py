"""``bridge cst bench``: the experiments with the call protocols, for researchers."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bridge.cli.common import JsonFlag, print_json, print_note

if TYPE_CHECKING:
    from bridge.cst.bench.correctness import Sample
    from bridge.cst.bench.experiments import Plan


class Choice(StrEnum):
    """Which experiment; ``all`` runs every one."""

    ALL = "all"
    C = "C"
    D = "D"
    SPEED = "speed"


def bench(
    experiment: Annotated[
        Choice,
        typer.Option(
            "--experiment",
            help="C: replies cut in every mode. D: frames a model wrote. speed: the parsers.",
        ),
    ] = Choice.ALL,
    replies: Annotated[int, typer.Option(min=1, help="C: how many replies.")] = 60,
    cuts: Annotated[int, typer.Option(min=0, help="C: places drawn in each reply.")] = 20,
    seed: Annotated[int, typer.Option(help="C: another seed, other replies.")] = 0,
    repeat: Annotated[int, typer.Option(min=1, help="speed: the best of so many.")] = 5,
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes, to see the shape.")] = False,
    recordings: Annotated[
        list[Path] | None,
        typer.Option(help="D: judge this recording, not the packaged ones; repeatable."),
    ] = None,
    plots: Annotated[Path | None, typer.Option(help="Draw PNG plots into this folder.")] = None,
    json_lines: JsonFlag = False,
) -> None:
    """Measure the call protocols: cut replies, a model's frames, parsing speed.

    Tables are Markdown; with --json each row is one object, `table` says of which table.
    """
    from bridge.cst.bench.experiments import QUICK, Experiment, Plan, run
    from bridge.cst.bench.plots import draw, require_library
    from bridge.cst.bench.tables import as_json, printed

    if plots is not None:
        require_library()

    chosen = tuple(Experiment) if experiment is Choice.ALL else (Experiment(experiment.value),)
    plan = QUICK if quick else Plan(replies=replies, cuts=cuts)
    size = plan.size if quick else replace(plan.size, repeat=repeat)
    samples = _samples(recordings or []) if Experiment.D in chosen else ()
    plan = replace(plan, experiments=chosen, seed=seed, size=size, samples=samples)
    _note_missing(plan)
    rows = list(run(plan))
    if json_lines:
        for row in rows:
            print_json(as_json(row))
    else:
        print(printed(rows))
    if plots is not None:
        for path in draw(rows, plots):
            print_note(f"drew {path}")


def _samples(files: list[Path]) -> tuple[Sample, ...]:
    from bridge.cst.bench.correctness import load, packaged

    return tuple(sample for file in files for sample in load(file)) if files else tuple(packaged())


def _note_missing(plan: Plan) -> None:
    from bridge.cst.bench.experiments import Experiment
    from bridge.cst.bench.parsers import missing_parsers

    missing = missing_parsers()
    if missing and set(plan.experiments) & {Experiment.C, Experiment.SPEED}:
        print_note(f"not compared, because not installed: {', '.join(missing)}")
        print_note("  pip install 'bridge-android[bench]'")
