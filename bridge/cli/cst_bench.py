"""``bridge cst bench``: the experiments with the call protocols, for researchers."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
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
    samples: Annotated[
        list[Path] | None,
        typer.Option(help="D: judge this file, not the packaged ones; repeatable."),
    ] = None,
    base_url: Annotated[
        str, typer.Option("--base-url", help="D: ask the model of this server now.")
    ] = "",
    model: Annotated[str, typer.Option("--model", help="D: its name on that server.")] = "",
    save: Annotated[
        Path | None, typer.Option("--save", help="D: keep what the model wrote in this file.")
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
    judged = _judged(samples or [], base_url, model, save) if Experiment.D in chosen else []
    plan = replace(plan, experiments=chosen, seed=seed, size=size, samples=judged)
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


def _judged(files: list[Path], base_url: str, model: str, save: Path | None) -> list[Sample]:
    from bridge.cst.bench.correctness import load, packaged

    if base_url:
        return _asked(base_url, model, save)
    return [sample for file in files for sample in load(file)] if files else packaged()


def _asked(base_url: str, model: str, path: Path | None) -> list[Sample]:
    """Ask the server now, one request after another. Raises ProviderError, Cancelled."""
    from bridge.cst.bench.correctness import ask_model, save
    from bridge.providers.opening import open_provider
    from bridge.providers.settings import ProviderSettings, key_of, resolve
    from bridge.signals import cancel_on_signals
    from device_tools.cancel import CancelScope

    settings = ProviderSettings("custom", base_url, model, request={"temperature": 0})
    chosen = resolve(settings)
    cancel = CancelScope()
    with (
        cancel_on_signals(cancel),
        open_provider(chosen, key_of(chosen, os.environ), cancel, on_retry=print_note) as provider,
    ):
        samples = _told(ask_model(provider.stream, model))
        made = f"bridge cst bench --experiment D, {model} at temperature 0, {date.today()}"
        return list(samples) if path is None else save(path, made, samples)


def _told(samples: Iterable[Sample]) -> Iterator[Sample]:
    for sample in samples:
        if sys.stderr.isatty():
            print_note(f"{sample.arm} {sample.task}: {sample.finish}")
        yield sample


def _note_missing(plan: Plan) -> None:
    from bridge.cst.bench.experiments import Experiment
    from bridge.cst.bench.parsers import missing_parsers

    missing = missing_parsers()
    if missing and set(plan.experiments) & {Experiment.C, Experiment.SPEED}:
        print_note(f"not compared, because not installed: {', '.join(missing)}")
        print_note("  pip install 'bridge-android[bench]'")
