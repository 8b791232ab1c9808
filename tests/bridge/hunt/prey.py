"""Runs that leave traces: how they are started and watched, and where they leave them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from device_tools.adb import open_device
from device_tools.adb_server import AdbAddress
from device_tools.cancel import CancelScope
from device_tools.virtual import launcher
from tests.bridge.hunt.plants import Plants
from tests.doubles.provider_server import (
    Answer,
    ScriptedServer,
)

PHONE = "prey"
SECONDS = 120.0
MODEL = ("--model", "m")


@dataclass
class Prey:
    """Where the runs leave traces. ``outputs``: what they printed, but for a run's own answer;
    ``commands``: command lines seen meanwhile; ``later``: requests of a continuation."""

    folder: Path
    plants: Plants
    outputs: dict[str, str] = field(default_factory=dict)
    commands: set[str] = field(default_factory=set)
    later: list[bytes] = field(default_factory=list)
    exits: dict[str, int] = field(default_factory=dict)
    password: int = 0
    requests: list[bytes] = field(default_factory=list)
    """All that the model was told: what has not been there was not planted well."""

    @property
    def reached(self) -> int:
        """How many secrets the runs met: in a request, or in what the model said."""
        told = b"\n".join(self.requests).decode("utf-8", "replace")
        return sum(_in_json(secret) in told or secret in told for secret in self.plants.secrets)

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def searched(self) -> list[Path]:
        """All but the virtual phone's own storage; its /data/local/tmp is copied here."""
        inside = [path for path in self.home.iterdir() if path.name != "virtual" and path.is_dir()]
        return [*inside, self.folder / "tmp", self.folder / "files", self.folder / "pulled"]

    def database(self) -> list[Path]:
        return [path for path in self.home.iterdir() if path.is_file()]


def newest(prey: Prey) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        bridge(prey, "sessions", "list", "--json").stdout.split("\n")[0]
    )
    return found


def run_program(
    prey: Prey, name: str, answers: Sequence[Answer], task: str = "do it", more: Sequence[str] = ()
) -> None:
    with ScriptedServer(answers) as server, started(prey, name, server, task, more) as process:
        finish(prey, name, process)
        prey.requests += [request.body for request in server.requests]


@contextmanager
def started(
    prey: Prey, name: str, server: ScriptedServer, task: str = "do it", more: Sequence[str] = ()
) -> Iterator[subprocess.Popen[str]]:
    files = prey.folder / "files"
    argv = [
        sys.executable, "-m", "bridge", "run", "--json", "--device", PHONE, "--provider", "openai",
        "--base-url", server.base_url, *MODEL, "--record", str(files / f"{name}.jsonl"),
        "--debug-http", str(files / f"{name}.log"), *more, task,
    ]  # fmt: skip
    pipe = subprocess.PIPE
    with subprocess.Popen(
        argv, env=environment(prey), stdout=pipe, stderr=pipe, text=True, encoding="utf-8"
    ) as process:
        yield process


def finish(prey: Prey, name: str, process: subprocess.Popen[str]) -> None:
    stdout, stderr = process.communicate(timeout=SECONDS)
    # the answer of a run is raw on its own terminal
    kept = [
        line for line in stdout.splitlines() if not line.startswith('{"v": 1, "type": "answer"')
    ]
    prey.outputs[name] = "\n".join([*kept, stderr])
    prey.exits[name] = process.returncode


def bridge(prey: Prey, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bridge", *argv], env=environment(prey), capture_output=True,
        text=True, encoding="utf-8", check=False, timeout=SECONDS,
    )  # fmt: skip


def environment(prey: Prey) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("BRIDGE_")}
    return {
        **kept, "BRIDGE_HOME": str(prey.home), "TMPDIR": str(prey.folder / "tmp"),
        "OPENAI_API_KEY": prey.plants.key,
    }  # fmt: skip


@contextmanager
def planted_phone(prey: Prey) -> Iterator[tuple[str, int]]:
    plants = {**asdict(prey.plants), "setting": prey.plants.arguments[0]}
    folder = prey.home / "virtual" / PHONE
    argv = [sys.executable, "-m", "tests.bridge.hunt.phone", str(folder), PHONE]
    (prey.home / "virtual").mkdir()
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps(plants).encode() + b"\n")
        process.stdin.flush()
        facts: dict[str, Any] = json.loads(process.stdout.readline())
        try:
            assert launcher.list_running(prey.home)
            yield facts["serial"], facts["adb_port"]
        finally:
            process.stdin.close()
            process.wait(20)


@contextmanager
def watched(prey: Prey) -> Iterator[None]:
    """Collects the command lines of all processes, every tenth of a second."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.1):
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    prey.commands.add(path.read_bytes().decode("utf-8", "replace"))
                except OSError:
                    continue  # it ended while we looked

    thread = threading.Thread(target=watch, name="process list", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def pull_work_folder(prey: Prey, serial: str, port: int) -> None:
    """The phone's work folder as it is while the phone still runs."""
    phone = open_device(serial, AdbAddress("127.0.0.1", port), CancelScope())
    names = phone.shell(["ls", "-laR", "/data/local/tmp"]).text
    (prey.folder / "pulled" / "names.txt").write_text(names, encoding="utf-8")
    work = prey.home / "virtual" / PHONE / "work"
    for number, path in enumerate(sorted(work.rglob("data/local/tmp/**/*"))):
        if path.is_file():
            (prey.folder / "pulled" / f"{number}").write_bytes(path.read_bytes())


def _in_json(secret: str) -> str:
    return json.dumps(secret, ensure_ascii=False)[1:-1]


def wait_until(holds: Any) -> None:
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
