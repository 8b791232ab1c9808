"""Whole runs as a user starts them: the program, a model server over HTTP, a virtual phone."""

from __future__ import annotations

import base64
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Pictures

from bridge.providers.profiles import PROVIDERS
from tests.doubles.provider_server import (
    Answer,
    Delay,
    Do,
    HangUp,
    ScriptedServer,
    chat_answer,
    chat_chunk,
)

OBSERVE = "call c1 observe_screen\nend\n"
HOME_KEY = "call c2 press_key\narg key home\nend\n"
FINISH = "call f finish\narg success true\narg summary Done.\nend\n"
CODE = "482913"


@dataclass
class Home:
    """A home folder of its own and the program run in it."""

    folder: Path

    def command(self, *argv: str) -> list[str]:
        return [sys.executable, "-m", "bridge", *argv]

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("BRIDGE_")}
        return {**kept, "BRIDGE_HOME": str(self.folder)}

    def bridge(self, *argv: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*argv),
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=90,
        )

    def start(self, *argv: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*argv),
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run_on_server(self, server: ScriptedServer) -> subprocess.CompletedProcess[str]:
        return self.bridge(*server_run(server))

    def states(self) -> list[dict[str, Any]]:
        """The final state of each run's virtual phone."""
        files = sorted(self.folder.glob("runs/*/state.json"))
        return [json.loads(file.read_text(encoding="utf-8")) for file in files]

    def records(self) -> list[dict[str, Any]]:
        shown = self.bridge("sessions", "show", "s-", "--json")
        return [json.loads(line) for line in shown.stdout.splitlines()]

    def processes(self) -> list[str]:
        """Command lines of living processes that mention this home."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue  # it ended while we looked
            if str(self.folder) in line:
                found.append(line)
        return found


def server_run(server: ScriptedServer) -> list[str]:
    model = ("--provider", "openai", "--base-url", server.base_url, "--model", "m")
    return ["run", *model, "--device", "virtual", "do it"]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path / "home")
    yield made
    wait_until(lambda: not made.processes(), "no process is left")


def wait_until(holds: Callable[[], bool], what: str, seconds: float = 15.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not in time: {what}"
        time.sleep(0.05)


def test_the_demo_switches_wifi_off(home: Home) -> None:
    """The newcomer's command ends with 0, the phone's state has changed, the story is told."""
    ran = home.bridge("run", "--provider", "demo", "--device", "virtual", "turn off Wi-Fi")
    assert ran.returncode == 0, ran.stderr
    assert [state["wifi"] for state in home.states()] == [False]
    story = home.bridge("sessions", "show").stdout
    assert "turn off Wi-Fi" in story and "observe_screen" in story and "done:" in story


def test_a_code_is_answered_but_not_recorded(home: Home) -> None:
    """The code reaches the user's terminal and no byte of the record."""
    task = "what is the verification code in my messages"
    ran = home.bridge("run", "--provider", "demo", "--device", "virtual", task)
    assert ran.returncode == 0, ran.stderr
    assert CODE in ran.stdout
    assert CODE not in home.bridge("sessions", "show", "s-").stdout
    for path in home.folder.glob("bridge.db*"):
        assert CODE.encode() not in path.read_bytes()


def test_bad_replies_are_reported_and_touch_nothing(home: Home) -> None:
    """Truncated frames, unknown tools and wrong types are in the record; no action ran."""
    replies = [
        chat_answer("call c2 press_key\narg key home\n"),
        chat_answer(HOME_KEY[:-1], finish="length"),
        chat_answer("call c1 fly\nend\n"),
        chat_answer("call c1 tap\narg x twelve\narg y 3\nend\n"),
        chat_answer(FINISH),
    ]
    with ScriptedServer(replies) as server:
        ran = home.run_on_server(server)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "Done.\n"
    records = home.records()
    faults = [record["kind"] for record in records if record["type"] == "contract_fault"]
    refused = [r["error"] for r in records if r["type"] == "call_finished" and r["error"]]
    assert faults == ["unexpected_line", "unexpected_line"]
    assert refused == ["unknown_tool", "invalid_call"]
    assert [r["name"] for r in records if r["type"] == "call_intended"] == ["finish"]


def test_a_server_that_hangs_up_ends_the_run_with_exit_4(home: Home) -> None:
    """What was confirmed before the hang-up ran and is recorded; the open call did not."""
    text = OBSERVE + "call c2 press_key\narg key home\n"
    with ScriptedServer([Answer([chat_chunk({"content": text}), HangUp()])]) as server:
        ran = home.run_on_server(server)
    assert ran.returncode == 4, ran.stderr
    assert len(ran.stderr.splitlines()) <= 2
    records = home.records()
    assert [r["name"] for r in records if r["type"] == "call_finished"] == ["observe_screen"]
    assert records[-1]["type"] == "run_finished" and records[-1]["status"] == "failed"


def test_json_lines_only_on_stdout(home: Home) -> None:
    """With --json every line of stdout is one object with v, type and run; stderr is silent."""
    with ScriptedServer([chat_answer(FINISH)]) as server:
        ran = home.bridge(*server_run(server), "--json")
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert ran.stderr == ""
    assert lines[0]["type"] == "run_started"
    assert lines[-1]["type"] == "answer" and lines[-1]["summary"] == "Done."
    assert all({"v", "type", "run"} <= line.keys() for line in lines)


def hanging_reply(reached: Callable[[], object]) -> Answer:
    return Answer([chat_chunk({"content": OBSERVE + "call c2 "}), Do(reached), Delay(60)])


def test_ctrl_c_cancels_and_leaves_nothing(home: Home, tmp_path: Path) -> None:
    """SIGINT while the model is silent ends the run with 130 within seconds, recorded as such."""
    mark = tmp_path / "reached"
    with ScriptedServer([hanging_reply(mark.touch)]) as server:
        with home.start(*server_run(server)) as process:
            wait_until(mark.exists, "the model is asked", 40)
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=15)
        assert process.returncode == 130
    assert home.records()[-1]["status"] == "cancelled"


def test_kill_9_leaves_a_record_and_no_process(home: Home, tmp_path: Path) -> None:
    """After kill -9 the phone ends, the record parses, and the run counts as interrupted."""
    mark = tmp_path / "reached"
    with ScriptedServer([hanging_reply(mark.touch)]) as server:
        with home.start(*server_run(server)) as process:
            wait_until(mark.exists, "the model is asked", 40)
            process.kill()
            process.communicate()
        wait_until(lambda: not home.processes(), "the phone ended with its owner")
    assert home.records()[0]["type"] == "run_started"
    listed = json.loads(home.bridge("sessions", "list", "--json").stdout)
    assert listed["status"] == "interrupted"


def test_two_runs_at_once_do_not_disturb_each_other(home: Home) -> None:
    """Each run changes its own phone and reports its own result."""
    tasks = "turn off Wi-Fi", "turn on airplane mode"
    common = "run", "--provider", "demo", "--device", "virtual"
    started = [home.start(*common, task) for task in tasks]
    outputs = [process.communicate(timeout=90) for process in started]
    assert [process.returncode for process in started] == [0, 0], outputs
    states = home.states()
    assert sorted(state["airplane"] for state in states) == [False, True]
    assert len(states) == 2


def test_ceilings_and_contract_end_a_run_in_a_named_state(home: Home) -> None:
    """The token ceiling ends with 5 and the totals, three unreadable replies with their name."""
    bad = chat_answer("call c2 press_key\narg key home\n")
    with ScriptedServer([chat_answer(OBSERVE, usage=(90, 20))]) as server:
        ran = home.bridge(*server_run(server), "--max-tokens", "100")
    assert ran.returncode == 5, ran.stderr
    assert "--max-tokens" in ran.stderr
    ended = home.records()[-1]
    assert (ended["status"], ended["error"]) == ("limit", "LimitReached")
    assert (ended["totals"]["input_tokens"], ended["totals"]["output_tokens"]) == (90, 20)
    with ScriptedServer([bad] * 4) as server:
        ran = home.bridge(*server_run(server), "--json")
    assert ran.returncode == 1
    ended = json.loads(ran.stdout.splitlines()[-2])
    assert (ended["type"], ended["error"]) == ("run_finished", "ContractBroken")


def test_the_users_image_goes_with_the_task(home: Home, tmp_path: Path) -> None:
    """It is in the first request beside the task, small; the record has its note only."""
    Pictures.new("RGB", (3000, 1500)).save(tmp_path / "receipt.png")
    with ScriptedServer([chat_answer(FINISH)]) as server:
        ran = home.bridge(*server_run(server), "--image", str(tmp_path / "receipt.png"))
    assert ran.returncode == 0, ran.stderr
    text, image = server.requests[0].json["messages"][1]["content"]
    assert text["text"] == "do it"
    data = base64.b64decode(image["image_url"]["url"].partition("base64,")[2])
    width, height = PROVIDERS["openai"].image.fit((3000, 1500))
    assert width < 3000 and Pictures.open(io.BytesIO(data)).size == (width, height)
    assert home.records()[0]["images"] == [f"the user's image {width}x{height}"]
    assert server.requests[0].json["max_completion_tokens"] == 8192
