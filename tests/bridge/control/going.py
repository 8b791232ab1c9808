"""Runs that go on while a test steers them: the program in its own process, one virtual phone for
all, and a model server whose replies wait at gates."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.doubles.provider_server import Answer, Do, ScriptedServer, chat_answer, chat_chunk

PHONE = "steered"
OBSERVE = "call c1 observe_screen\nend\n"
WAIT = "call w wait_for\narg text never there\narg timeout_ms 30000\nend\n"
FINISH = "call f finish\narg success true\narg summary Done.\nend\n"
SECONDS = 60.0
"""For anything a test waits for; the machine may be busy."""


class Gate:
    """A reply waits at it; the test sees that it is reached and opens it."""

    def __init__(self) -> None:
        self._reached = threading.Event()
        self._opened = threading.Event()

    def wait(self) -> None:
        self._reached.set()
        self._opened.wait(SECONDS)

    def await_reached(self) -> None:
        assert self._reached.wait(SECONDS), "the model was not asked"

    def open(self) -> None:
        self._opened.set()


def gated(text: str) -> tuple[Gate, Answer]:
    """A reply that begins with a word of prose, waits, and goes on with ``text``."""
    gate = Gate()
    steps = chat_answer(text).steps
    return gate, Answer([chat_chunk({"content": "I look.\n"}), Do(gate.wait), *steps])


@dataclass
class Going:
    """A run of ``bridge`` in another process; ``records`` are its --json lines so far."""

    process: subprocess.Popen[str]
    records: list[dict[str, Any]] = field(default_factory=list)
    stderr: str = ""

    def __post_init__(self) -> None:
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._read), threading.Thread(target=self._errors)]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def _errors(self) -> None:
        assert self.process.stderr is not None
        self.stderr = self.process.stderr.read()

    def await_event(self, kind: str, **fields: Any) -> dict[str, Any]:
        """The next event of this type with these fields."""
        while True:
            line = self._lines.get(timeout=SECONDS)
            assert line, f"the run ended before {kind}: {self.records[-2:]} {self.stderr}"
            record = json.loads(line)
            self.records.append(record)
            if record["type"] == kind and fields.items() <= record.items():
                return dict(record)

    def end(self) -> int:
        """Wait for the end; the exit code."""
        code = self.process.wait(SECONDS)
        while line := self._lines.get(timeout=SECONDS):
            self.records.append(json.loads(line))
        for thread in self._threads:
            thread.join(SECONDS)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return code

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        return [record for record in self.records if record["type"] == kind]


@dataclass
class Home:
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("BRIDGE_")}
        return {**kept, "BRIDGE_HOME": str(self.folder)}

    def argv(self, server: ScriptedServer, *more: str, verb: Sequence[str] = ("run",)) -> list[str]:
        """A run against ``server``, or with ``verb`` another command with the same model."""
        model = ("--provider", "openai", "--base-url", server.base_url, "--model", "m")
        return [sys.executable, "-m", "bridge", *verb, *model, "--device", PHONE, *more]

    @contextmanager
    def going(self, argv: Sequence[str]) -> Iterator[Going]:
        """A process that is killed when the test leaves it behind."""
        process = subprocess.Popen(
            [*argv, "--json"],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        run = Going(process)
        try:
            yield run
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()

    def bridge(self, *argv: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "bridge", *argv],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )


def await_true(holds: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end, f"not in time: {what}"
        time.sleep(0.02)


def said(server: ScriptedServer, number: int) -> str:
    """The last message of a request."""
    content = server.requests[number].json["messages"][-1]["content"]
    return content if isinstance(content, str) else str(content[0]["text"])
