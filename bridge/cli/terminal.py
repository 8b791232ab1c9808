"""The terminal of a run: lines typed while it goes on, and the question before a call.

One thread reads standard input, line by line, for as long as the run goes on, and nobody else
does: a line is the answer to an open question, an order, or a message for the model.
"""

from __future__ import annotations

import json
import os
import select
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from bridge.cli.common import print_error, print_note, printable
from bridge.policy import Answer
from device_tools.errors import BridgeError

if TYPE_CHECKING:
    from bridge.control.session import RunSession
    from device_tools.cancel import CancelScope
    from device_tools.schema import ToolSpec

HELP = "  a line and Enter tells the model; /pause, /resume, /cancel; Ctrl-C cancels, twice at once"
_ANSWERS = {
    "y": Answer.YES, "yes": Answer.YES, "n": Answer.NO, "no": Answer.NO,
    "a": Answer.ALWAYS, "always": Answer.ALWAYS,
}  # fmt: skip
_BACKGROUND_SECONDS = 0.5
"""Between two looks whether the shell has put the run into the foreground again."""


class Terminal:
    """Listens only where standard input is a terminal; without one every question means no."""

    def __init__(self, cancel: CancelScope) -> None:
        self._cancel = cancel
        self._lock = threading.Lock()
        self._question = ""
        self._answer: SimpleQueue[Answer] | None = None
        self._listening = False

    @contextmanager
    def attached(self, session: RunSession) -> Iterator[None]:
        """Lines go to the run while the body runs."""
        if not sys.stdin.isatty():
            yield
            return
        if sys.stderr.isatty():
            print_note(HELP)
        closing, wake = os.pipe()
        self._listening = True
        reader = threading.Thread(
            target=self._read, args=(sys.stdin.fileno(), closing, session), daemon=True
        )
        reader.start()
        try:
            yield
        finally:
            os.close(wake)
            reader.join()
            os.close(closing)

    def approve(self, spec: ToolSpec, arguments: Mapping[str, Any]) -> Answer:
        """Yes, no or always for this run. What is typed and is no such word goes to the model as
        ever. The wait ends with the run: by an answer, by cancel or by its time limit.

        Raises:
            Cancelled: while the question was open.
        """
        answers: SimpleQueue[Answer] = SimpleQueue()
        shown = json.dumps(dict(arguments), ensure_ascii=False)
        with self._lock:
            if not self._listening or not sys.stderr.isatty():
                return Answer.NO
            self._question = printable(f"allow {spec.name} {shown}? [y]es, [n]o, [a]lways: ")
            self._answer = answers
            self._ask()
        with self._cancel.closing(partial(answers.put, Answer.NO)):
            answer = answers.get()
        self._cancel.check()
        return answer

    def _ask(self) -> None:
        print(self._question, end="", file=sys.stderr, flush=True)

    def _read(self, terminal: int, closing: int, session: RunSession) -> None:
        pending = b""
        while data := _typed(terminal, closing):
            pending += data
            *lines, pending = pending.split(b"\n")
            for line in lines:
                self._take(line.decode("utf-8", "replace").strip(), session)
        with self._lock:
            self._listening = False
            if self._answer is not None:
                self._answer.put(Answer.NO)
                self._answer = None

    def _take(self, line: str, session: RunSession) -> None:
        with self._lock:
            if self._answer is not None and line.lower() in _ANSWERS:
                self._answer.put(_ANSWERS[line.lower()])
                self._answer = None
                return
        try:
            note = _obey(line, session)
        except BridgeError as error:
            print_error(error.message, error.advice)
        else:
            if note and sys.stderr.isatty():
                print_note(f"  {note}")
        with self._lock:
            if self._answer is not None:
                self._ask()


def _obey(line: str, session: RunSession) -> str:
    """Carry out one typed line; what to tell about it, "" where an event tells it."""
    from bridge.store.run_state import Ender

    match line:
        case "":
            return ""
        case "/pause":
            return "pausing before the next step" if session.control.pause() else "paused already"
        case "/resume":
            return "" if session.control.resume() else "the run was not paused"
        case "/cancel":
            return "cancelled" if session.end(Ender.CANCEL) else "the run is ending already"
    if line.startswith("/") and not line.startswith("//"):
        return f"there is no order {printable(line)}; /pause, /resume, /cancel, or // for a slash"
    session.control.steer(line[1:] if line.startswith("//") else line, "terminal")
    return ""


def _typed(terminal: int, closing: int) -> bytes:
    """What was typed, as soon as a line is whole; empty at the end of input or of the run."""
    while True:
        if _in_background(terminal):
            # reading now would stop the process; whatever is typed belongs to the shell
            if select.select([closing], [], [], _BACKGROUND_SECONDS)[0]:
                return b""
            continue
        ready, _, _ = select.select([terminal, closing], [], [])
        if closing in ready:
            return b""
        if _in_background(terminal):
            continue
        try:
            return os.read(terminal, 4096)
        except OSError:
            return b""  # the terminal is gone


def _in_background(terminal: int) -> bool:
    try:
        return os.tcgetpgrp(terminal) != os.getpgrp()
    except OSError:
        return False  # not the terminal of this session: nobody stops its readers
