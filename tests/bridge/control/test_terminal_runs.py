"""Runs on a real pseudo-terminal: typed messages, orders, questions and their answers."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.bridge.control.going import FINISH, OBSERVE, SECONDS, Going, Home, gated, said
from tests.doubles.provider_server import ScriptedServer, chat_answer

HOME_KEY = "call k press_key\narg key home\nend\n"


@dataclass
class Keyboard:
    """The other side of a terminal: what is typed, and what the program shows on it."""

    master: int
    shown: str = ""

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with suppress(OSError):  # the program is gone
            while data := os.read(self.master, 4096):
                self.shown += data.decode("utf-8", "replace")

    def type(self, line: str) -> None:
        os.write(self.master, f"{line}\n".encode())

    def await_shown(self, text: str, times: int = 1) -> None:
        end = time.monotonic() + SECONDS
        while self.shown.count(text) < times:
            assert time.monotonic() < end, f"{text!r} is not in {self.shown!r}"
            time.sleep(0.02)


@contextmanager
def on_terminal(home: Home, argv: Sequence[str]) -> Iterator[tuple[Going, Keyboard]]:
    """A run whose stdin and stderr are a terminal; its --json lines go to a pipe."""
    master, slave = pty.openpty()
    with open(os.devnull, encoding="utf-8") as nothing:
        process = subprocess.Popen(
            [*argv, "--json"],
            env=home.environment,
            stdin=slave,
            stdout=subprocess.PIPE,
            stderr=slave,
            start_new_session=True,
            text=True,
        )
        process.stderr = nothing
        os.close(slave)
        keyboard = Keyboard(master)
        try:
            yield Going(process), keyboard
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            os.close(master)


def test_lines_steer_and_orders_pause_and_resume(home: Home) -> None:
    """What may be typed is shown at the start; a line reaches the next turn, a slash doubled is a
    message, an unknown order is told and goes nowhere."""
    gate, reply = gated(OBSERVE)
    with ScriptedServer([reply, chat_answer(OBSERVE), chat_answer(FINISH)]) as server:
        with on_terminal(home, home.argv(server, "the task")) as (run, keyboard):
            gate.await_reached()
            assert "/pause, /resume, /cancel" in keyboard.shown
            keyboard.type("look at the second page")
            keyboard.await_shown("message 1 waits for the next turn")
            keyboard.type("//slash")
            keyboard.type("/explode")
            keyboard.await_shown("there is no order /explode")
            keyboard.type("/pause")
            keyboard.await_shown("pausing before the next step")
            gate.open()
            run.await_event("paused")
            assert len(server.requests) == 1
            keyboard.type("/resume")
            assert run.end() == 0, keyboard.shown
        assert said(server, 1).endswith("The user says now:\nlook at the second page\n")
        assert said(server, 2).endswith("The user says now:\n/slash\n")
    assert [record["source"] for record in run.of_type("steering_queued")] == ["terminal"] * 2


def test_a_question_takes_its_answer_and_no_message(home: Home) -> None:
    """With --ask all a typed message while the question is open still goes to the model, the
    question comes again, and the answers are in the record: yes, always, no."""
    replies = [
        chat_answer(OBSERVE + "call c current_app\nend\n" + OBSERVE.replace("c1", "c2")),
        chat_answer(HOME_KEY),
        chat_answer(FINISH),
    ]
    with ScriptedServer(replies) as server:
        argv = home.argv(server, "the task", "--ask", "all")
        with on_terminal(home, argv) as (run, keyboard):
            keyboard.await_shown("allow observe_screen")
            keyboard.type("be quick please")
            keyboard.await_shown("allow observe_screen", times=2)
            keyboard.type("ALWAYS")
            keyboard.await_shown("allow current_app")
            keyboard.type("y")
            keyboard.await_shown("allow press_key")
            keyboard.type("n")
            assert run.end() == 0, keyboard.shown
        assert "be quick please" in said(server, 1)
    answers = [(record["name"], record["answer"]) for record in run.of_type("approval")]
    assert answers == [
        ("observe_screen", "always"), ("current_app", "yes"), ("press_key", "no"),
    ]  # fmt: skip
    refused = [r["error"] for r in run.of_type("call_finished") if r["name"] == "press_key"]
    assert refused == ["not_approved"]


def test_cancel_ends_an_open_question(home: Home) -> None:
    """/cancel and Ctrl-C need no answer first; the call did not run."""
    for how in ("/cancel", "Ctrl-C"):
        with ScriptedServer([chat_answer(OBSERVE)]) as server:
            argv = home.argv(server, "the task", "--ask", "all")
            with on_terminal(home, argv) as (run, keyboard):
                keyboard.await_shown("allow observe_screen")
                if how == "Ctrl-C":
                    run.process.send_signal(signal.SIGINT)
                else:
                    keyboard.type(how)
                assert run.end() == 130, keyboard.shown
        assert run.of_type("run_finished")[0]["status"] == "cancelled"
        assert run.of_type("call_intended") == []


def test_without_a_terminal_every_question_means_no(home: Home) -> None:
    """Nobody can be asked, so nothing that must be asked for runs."""
    with (
        ScriptedServer([chat_answer(OBSERVE), chat_answer(FINISH)]) as server,
        home.going(home.argv(server, "the task", "--ask", "all")) as run,
    ):
        assert run.end() == 0, run.stderr
    assert [record["answer"] for record in run.of_type("approval")] == ["no"]


BACKGROUND = """
import os, sys, time
from pathlib import Path
from bridge.cli.terminal import Terminal
from tests.bridge.control.test_server import served

# the first terminal that the leader of a session opens becomes its own
terminal = os.open(sys.argv[2], os.O_RDWR)
os.dup2(terminal, 0)
os.dup2(terminal, 2)
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    with served(Path(sys.argv[1])) as run, Terminal(run.cancel).attached(run.session):
        Path(sys.argv[1], "ready").touch()
        time.sleep(2)
    os._exit(7)
while True:
    _, status = os.waitpid(child, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        os.kill(child, 9)
    else:
        os._exit(os.waitstatus_to_exitcode(status) % 256)
"""


def test_a_run_in_the_background_leaves_the_terminal_alone(tmp_path: Path) -> None:
    """Where reading would stop the process (SIGTTIN), nothing is read and the run goes on."""
    master, slave = pty.openpty()
    argv = [sys.executable, "-c", BACKGROUND, str(tmp_path), os.ttyname(slave)]
    leader = subprocess.Popen(argv, start_new_session=True)
    os.close(slave)
    keyboard = Keyboard(master)
    end = time.monotonic() + SECONDS
    while not (tmp_path / "ready").exists():
        assert time.monotonic() < end, keyboard.shown
        time.sleep(0.02)
    keyboard.type("typed to the shell")
    assert leader.wait(SECONDS) == 7, keyboard.shown
    os.close(master)
