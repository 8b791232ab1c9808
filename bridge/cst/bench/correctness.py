"""Experiment D: how often a model writes whole frames, with length prefixes and with heredocs.

Samples are what a model wrote, kept as JSON Lines: a first line that says how they were made,
then one object per reply. They are read by the real carriers, so the same samples can be judged
again after the parser changed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from itertools import groupby
from math import sqrt
from pathlib import Path
from typing import Any, TextIO

from bridge.conversation.frames import CallOpened, CallReady, ContractError, Frame
from bridge.conversation.messages import ModelRequest, ToolCall, UserMessage
from bridge.conversation.stream import Finish, FinishReason, StreamEvent, TextDelta
from bridge.cst.bench.arms import ARMS
from bridge.cst.bench.conversations import BENCH_TOOLS
from bridge.cst.bench.tasks import TASKS, Task
from bridge.cst.carriers import CARRIERS
from bridge.errors import ConfigurationError
from device_tools.errors import InvalidCall
from device_tools.schema import validate

MAX_OUTPUT_TOKENS = 512
PACKAGED = Path(__file__).parent / "samples"

_SYSTEM = "You operate an Android phone through tools. Do the task with one tool call.\n\n"
_TASKS = {task.name: task for task in TASKS}
_SPECS = {spec.name: spec for spec in BENCH_TOOLS}

Ask = Callable[[ModelRequest], AbstractContextManager[Iterable[StreamEvent]]]
"""``bridge.agent.ports.Provider.stream``."""


@dataclass(frozen=True)
class Sample:
    """One reply: ``arm`` is one of ``ARMS``, ``finish`` the neutral reason, ``text`` all that the
    model wrote."""

    source: str
    arm: str
    task: str
    finish: str
    text: str


@dataclass(frozen=True)
class Score:
    """``well_formed``: at least one call was confirmed and the grammar never broken. ``valid``: the
    first confirmed call passes its tool's schema. ``as_asked``: it is the call of the task.
    ``fault``: the kind of contract error, "no_call", "unfinished", "unknown_tool", "schema",
    "other_call" or ""."""

    well_formed: bool
    valid: bool
    as_asked: bool
    fault: str


@dataclass(frozen=True)
class CorrectnessRow:
    """``low`` and ``high``: Wilson interval (95 %) of the well-formed share, in %."""

    source: str
    arm: str
    kind: str
    replies: int
    well_formed: int
    low: float
    high: float
    valid: int
    as_asked: int
    faults: Mapping[str, int]


def score(sample: Sample) -> Score:
    """Judge one reply by the real carrier."""
    reader = CARRIERS[ARMS[sample.arm].mode].reader(BENCH_TOOLS, None)
    frames = [*reader.feed(TextDelta(sample.text))]
    frames += reader.close(Finish(FinishReason(sample.finish)))
    fault = next((f.kind.value for f in frames if isinstance(f, ContractError)), "")
    calls = [frame.call for frame in frames if isinstance(frame, CallReady)]
    if not calls:
        return Score(False, False, False, fault or _without_call(frames))
    # a confirmed call has run, whatever broke behind it
    refused = _refused(calls[0])
    asked = not refused and _TASKS[sample.task].is_done_by(calls[0])
    fault = fault or refused or ("" if asked else "other_call")
    return Score(not any(isinstance(f, ContractError) for f in frames), not refused, asked, fault)


def _without_call(frames: Iterable[Frame]) -> str:
    opened = any(isinstance(frame, CallOpened) for frame in frames)
    return "unfinished" if opened else "no_call"


def _refused(call: ToolCall) -> str:
    if call.name not in _SPECS:
        return "unknown_tool"
    try:
        validate(_SPECS[call.name], call.id, call.arguments)
    except InvalidCall:
        return "schema"
    return ""


def correctness(samples: Iterable[Sample]) -> list[CorrectnessRow]:
    """One row per source, arm and kind of task, in the samples' order."""

    def group(sample: Sample) -> tuple[str, str, str]:
        return sample.source, sample.arm, _TASKS[sample.task].kind

    ordered = sorted(samples, key=group)
    return [_row(*key, [score(each) for each in some]) for key, some in groupby(ordered, group)]


def _row(source: str, arm: str, kind: str, scores: Sequence[Score]) -> CorrectnessRow:
    well = sum(each.well_formed for each in scores)
    low, high = wilson(well, len(scores))
    return CorrectnessRow(
        source,
        arm,
        kind,
        len(scores),
        well,
        round(100 * low, 1),
        round(100 * high, 1),
        sum(each.valid for each in scores),
        sum(each.as_asked for each in scores),
        dict(Counter(each.fault for each in scores if each.fault).most_common()),
    )


def wilson(hits: int, count: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson score interval of a share, 95 % by default."""
    if not count:
        return 0.0, 1.0
    share, square = hits / count, z * z
    middle = share + square / (2 * count)
    spread = z * sqrt(share * (1 - share) / count + square / (4 * count * count))
    low, high = ((middle + sign * spread) / (1 + square / count) for sign in (-1, 1))
    return max(low, 0.0), min(high, 1.0)


def ask_model(
    ask: Ask, source: str, tasks: Sequence[Task] = TASKS, arms: Sequence[str] = tuple(ARMS)
) -> Iterator[Sample]:
    """One reply per arm and task, the arms one after another so that a server can keep the
    prompt. Raises ProviderError."""
    for arm in arms:
        system = _SYSTEM + ARMS[arm].prompt()
        for task in tasks:
            message = UserMessage(task.prompt)
            request = ModelRequest(system, (message,), max_output_tokens=MAX_OUTPUT_TOKENS)
            with ask(request) as events:
                text, finish = _read(events)
            yield Sample(source, arm, task.name, finish, text)


def _read(events: Iterable[StreamEvent]) -> tuple[str, str]:
    text, finish = "", FinishReason.UNKNOWN
    for event in events:
        if isinstance(event, TextDelta):
            text += event.text
        elif isinstance(event, Finish):
            finish = event.reason
    return text, finish.value


def save(path: Path, made: str, samples: Iterable[Sample]) -> list[Sample]:
    """Write the samples as they come. ``made``: how, for whoever reads the file.

    Raises ConfigurationError: the file cannot be written.
    """
    kept = []
    try:
        file = path.open("w", encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}") from error
    with file:
        _write(file, {"samples": 1, "made": made})
        for sample in samples:
            _write(file, asdict(sample))
            kept.append(sample)
    return kept


def _write(file: TextIO, value: Mapping[str, Any]) -> None:
    file.write(json.dumps(value, ensure_ascii=False) + "\n")
    file.flush()


def load(path: Path) -> list[Sample]:
    """Saved samples. Raises ConfigurationError: the file cannot be read or holds none."""
    try:
        head, *lines = path.read_text(encoding="utf-8").split("\n")
        if json.loads(head).get("samples") != 1:
            raise ValueError("its first line does not say so")
        samples = [Sample(**json.loads(line)) for line in lines if line]
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise ConfigurationError(
            f"{path} holds no samples: {error}", advice="make some with --save FILE"
        ) from error
    for sample in samples:
        if sample.task not in _TASKS or sample.arm not in ARMS:
            raise ConfigurationError(f"{path}: no task {sample.task!r} in arm {sample.arm!r}")
    return samples


def packaged() -> list[Sample]:
    """All samples that come with the package."""
    return [sample for path in sorted(PACKAGED.glob("*.jsonl")) for sample in load(path)]
