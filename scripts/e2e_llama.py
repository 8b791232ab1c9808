"""Runs of a real model on the virtual phone: every wire, two carriers, a few tasks, one table.

What is looked at is the protocol: did the server's answers become calls, did each call get one
result, how did the run end. A small model fails at most tasks; that is no error of this script.
It exits with 1 only when a run ended in a way that no model's words can explain: the provider
failed, the phone was lost, or a call was left without its result.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

WIRES = ("chat", "responses", "anthropic")
CARRIERS = ("native-eos", "ctl-heredoc")
TASKS = (
    "Open the app Settings, then finish.",
    "Press the key home, then finish.",
    "Look at the screen, then finish with the name of one app that you see.",
)
NOT_THE_MODEL = (3, 4)
"""Exit codes of a lost phone and of a provider that failed."""


@dataclass(frozen=True)
class Run:
    wire: str
    carrier: str
    task: str


@dataclass(frozen=True)
class Report:
    """What the event lines of one run say."""

    run: Run
    ended: str
    exit_code: int
    turns: int
    done: int
    not_run: int
    faults: int
    seconds: float
    tokens: str
    unanswered: int
    stderr: str

    @property
    def sound(self) -> bool:
        return self.exit_code not in NOT_THE_MODEL and not self.unanswered


def carry_out(run: Run, options: argparse.Namespace, home: str) -> Report:
    """One run to its end or to the limit of seconds, in a home folder of its own."""
    argv = [sys.executable, "-m", "bridge", "run", "--json", "--device", "virtual"]
    argv += ["--provider", "custom", "--model", options.model, "--base-url", options.base_url]
    argv += ["--protocol", run.carrier, "--max-turns", str(options.max_turns), run.task]
    environment = {
        **os.environ,
        "BRIDGE_HOME": home,
        "BRIDGE_WIRE": run.wire,
        "BRIDGE_PICTURES": "true" if options.pictures else "false",
        "BRIDGE_MAX_OUTPUT_TOKENS": str(options.max_output_tokens),
    }
    start = time.monotonic()
    with subprocess.Popen(
        argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            out, err = process.communicate(timeout=options.seconds)
        except subprocess.TimeoutExpired:
            # an interrupt is how a user ends a run: the record is closed, the phone tidied up
            process.send_signal(2)
            out, err = process.communicate(timeout=60)
    return report(run, _events(out), process.returncode, time.monotonic() - start, err)


def report(
    run: Run, events: Sequence[dict[str, Any]], code: int, seconds: float, stderr: str
) -> Report:
    kinds = Counter(event["type"] for event in events)
    finished = [event for event in events if event["type"] == "call_finished"]
    ran = sum(event["outcome"] == "DONE" for event in finished)
    ends = [event for event in events if event["type"] == "run_finished"]
    ended = ends[-1]["error"] or ends[-1]["status"] if ends else "no end"
    intended = {(event["turn"], event["call_id"]) for event in events
                if event["type"] == "call_intended"}  # fmt: skip
    answered = {(event["turn"], event["call_id"]) for event in finished}
    return Report(
        run,
        ended,
        code,
        kinds["response_started"],
        ran,
        len(finished) - ran,
        kinds["contract_fault"],
        seconds,
        f"{_sum(events, 'input_tokens')} / {_sum(events, 'output_tokens')}",
        len(intended - answered),
        stderr,
    )


def _events(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines() if line.strip()]


def _sum(events: Sequence[dict[str, Any]], name: str) -> int:
    """Of the responses that said it; a reply that is not read to its end says nothing."""
    finished = (event for event in events if event["type"] == "response_finished")
    return sum(event[name] or 0 for event in finished)


HEAD = (
    "wire", "carrier", "task", "ended", "exit", "turns", "calls done", "calls not run",
    "contract errors", "seconds", "tokens in / out",
)  # fmt: skip


def row(one: Report) -> str:
    cells = [
        one.run.wire, one.run.carrier, TASKS.index(one.run.task) + 1, one.ended, one.exit_code,
        one.turns, one.done, one.not_run, one.faults, f"{one.seconds:.0f}", one.tokens,
    ]  # fmt: skip
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def runs(options: argparse.Namespace) -> Iterator[Run]:
    for wire, carrier, task in product(options.wires, options.carriers, TASKS[: options.tasks]):
        yield Run(wire, carrier, task)


def parsed(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base-url", required=True, help="http://127.0.0.1:PORT of llama-server")
    parser.add_argument("--model", default="default")
    parser.add_argument("--wires", nargs="+", default=WIRES, choices=WIRES)
    parser.add_argument("--carriers", nargs="+", default=CARRIERS)
    parser.add_argument("--tasks", type=int, default=len(TASKS), help="only the first N tasks")
    parser.add_argument("--max-turns", type=int, default=6)
    parser.add_argument("--max-output-tokens", type=int, default=512)
    parser.add_argument("--seconds", type=float, default=600, help="limit of one run")
    parser.add_argument("--pictures", action="store_true", help="the model reads pictures")
    return parser.parse_args(argv)


def main(argv: Sequence[str]) -> int:
    """Prints the tasks, then a Markdown table; exit code 1 when a run was unsound."""
    options = parsed(argv)
    for number, task in enumerate(TASKS[: options.tasks], 1):
        print(f"{number}. {task}")
    print("\n| " + " | ".join(HEAD) + " |\n|" + " --- |" * len(HEAD))
    unsound = []
    for run in runs(options):
        with tempfile.TemporaryDirectory() as home:
            one = carry_out(run, options, str(Path(home)))
        print(row(one), flush=True)
        if not one.sound:
            unsound.append(one)
    for one in unsound:
        print(f"\nunsound: {one.run}: {one.stderr.strip()[-500:]}", file=sys.stderr)
    return 1 if unsound else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
