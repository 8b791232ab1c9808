"""Kill runs, virtual phones and adb servers with SIGKILL at random moments, and count what is left.

    python scripts/proof/kill.py [--kills 60] [--seed 1] [--jobs 2]

Each trial starts a demo run on a virtual phone and kills one of its processes. Afterwards no
process of the run may be left, its lock is free, the record is whole and can be shown, calls
without an outcome are shown as unknown, and a run that survived ends by itself with a right exit
code. The last line counts the trials by victim and exit code; the exit code is 1 when one failed.
Linux only: the trial adopts whatever its run leaves behind (PR_SET_CHILD_SUBREAPER).
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TASK = "turn off Wi-Fi"
ON_DEMO = ("--device", "virtual", "--provider", "demo")
VICTIMS = ("run", "phone", "adb", "init")
START_SECONDS = 30.0
"""Until the victim exists."""
SPREAD_SECONDS = 3.0
"""The kill comes within this time after the victim appeared: about the length of a run."""
RUN_SECONDS = 90.0
"""Beyond this a run that lost something counts as hung."""
LEFT_SECONDS = 10.0
"""For the rest to go once the run has ended."""
RIGHT_CODES = {"run": {-9}, "phone": {0, 3}, "adb": {0, 3}, "init": {0, 3}}
"""0: the run was over already, or the loss was made good."""
_PR_SET_CHILD_SUBREAPER = 36


@dataclass
class Trial:
    """What one kill led to; ``problems`` is empty when all is well."""

    victim: str
    shell: bool
    delay: float
    code: int | None = None
    seconds: float = 0.0
    intents: int = 0
    unknown: int = 0
    killed: bool = False
    problems: list[str] = field(default_factory=list)


def descendants() -> dict[int, str]:
    """Living processes below this one: pid and command line."""
    parents: dict[int, tuple[int, str]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, tail = path.read_text(errors="replace").rpartition(")")
        except OSError:
            continue  # it ended while we looked
        state, parent = tail.split()[:2]
        parents[int(path.parent.name)] = (int(parent), "Z" if state == "Z" else head)
    found: dict[int, str] = {}
    todo = [os.getpid()]
    while todo:
        above = todo.pop()
        for pid, (parent, state) in parents.items():
            if parent == above:
                todo.append(pid)
                if state != "Z":
                    found[pid] = _command_line(pid) or state
    return found


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def find(victim: str) -> int | None:
    """The pid of the victim among the descendants."""
    marks: dict[str, Callable[[str], bool]] = {
        "run": lambda line: "-m bridge run" in line,
        "phone": lambda line: "-m device_tools.virtual" in line,
        "adb": lambda line: line.endswith("server nodaemon"),
        "init": lambda line: line == "/init",
    }
    # helpers that the phone's first process forks look like it, with a higher number
    return min((pid for pid, line in descendants().items() if marks[victim](line)), default=None)


def reap() -> None:
    """Forget the dead that were adopted. The run itself is waited for by its Popen."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            tail = path.read_text(errors="replace").rpartition(")")[2].split()
            if tail[0] == "Z" and int(tail[1]) == os.getpid():
                os.waitpid(int(path.parent.name), os.WNOHANG)
        except (OSError, ValueError):
            continue


def until(holds: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.03)
    return True


def bridge(home: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bridge", *argv],
        cwd=ROOT,
        env={**os.environ, "BRIDGE_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def attempt(home: Path, victim: str, shell: bool, delay: float) -> Trial:
    """One run, one kill, all checks."""
    trial = Trial(victim, shell, delay)
    log = home.parent / "stderr"
    with open(log, "wb") as stderr:
        run = subprocess.Popen(
            [sys.executable, "-m", "bridge", "run", *ON_DEMO, TASK],
            cwd=ROOT,
            env={**os.environ, "BRIDGE_HOME": str(home)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
        )
    shells = _kill(trial, run, home)
    started = time.monotonic()
    if not until(lambda: run.poll() is not None, RUN_SECONDS):
        trial.problems.append("the run hangs")
        run.kill()
        run.wait()
    trial.code, trial.seconds = run.returncode, round(time.monotonic() - started, 2)
    for client in shells:
        client.kill()
        client.wait()
    _check_left(trial)
    _check_code(trial, log)
    _check_lock(trial, home)
    _check_record(trial, home)
    return trial


def _kill(trial: Trial, run: subprocess.Popen[bytes], home: Path) -> list[subprocess.Popen[bytes]]:
    shells: list[subprocess.Popen[bytes]] = []
    if not until(lambda: find(trial.victim) is not None or run.poll() is not None, START_SECONDS):
        trial.problems.append(f"no process {trial.victim} appeared")
        return shells
    end = time.monotonic() + trial.delay
    while time.monotonic() < end and run.poll() is None:
        if trial.shell and not shells:
            shells = _leave_processes(home)
        time.sleep(0.01)
    pid = run.pid if trial.victim == "run" else find(trial.victim)
    if pid is not None and run.poll() is None:
        os.kill(pid, signal.SIGKILL)
        trial.killed = True
    return shells


def _leave_processes(home: Path) -> list[subprocess.Popen[bytes]]:
    """Shell children inside the phone, one of them in a session of its own."""
    for path in home.glob("runs/*/phone.json"):
        facts = json.loads(path.read_text())
        script = "sleep 999 & setsid sleep 999 & sleep 999"
        argv = ["adb", "-P", str(facts["adb_port"]), "-s", facts["serial"], "shell", script]
        # without its variables a client could not start a server of its own in the user's home
        return [
            subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        ]
    return []


def _check_left(trial: Trial) -> None:
    def none_left() -> bool:
        reap()
        return not descendants()

    if not until(none_left, LEFT_SECONDS):
        left = descendants()
        trial.problems.append(f"left: {sorted(left.values())}")
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        until(none_left, LEFT_SECONDS)


def _check_code(trial: Trial, log: Path) -> None:
    right = RIGHT_CODES[trial.victim] if trial.killed else {0}
    text = log.read_text(errors="replace").strip()
    if trial.code not in right or "Traceback" in text:
        trial.problems.append(f"exit code {trial.code}, stderr: {text[-600:]}")


def _check_lock(trial: Trial, home: Path) -> None:
    for path in home.glob("locks/*.lock"):
        with open(path) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                trial.problems.append(f"{path.name} is held")


def _check_record(trial: Trial, home: Path) -> None:
    database = home / "bridge.db"
    if not database.exists():
        return
    listed = bridge(home, "sessions", "list")  # opens it first: a kill may come before the tables
    if listed.returncode:
        trial.problems.append(f"sessions list: {listed.returncode} {listed.stderr}")
        return
    with closing(sqlite3.connect(database)) as connection:
        (verdict,) = connection.execute("PRAGMA integrity_check").fetchone()
        runs = connection.execute("SELECT id FROM runs ORDER BY started DESC LIMIT 1").fetchall()
        bodies = [
            json.loads(body)
            for (body,) in connection.execute(
                "SELECT body FROM events WHERE run = ? ORDER BY seq", runs[0] if runs else ("",)
            )
        ]
    if verdict != "ok":
        trial.problems.append(f"integrity: {verdict}")
    if not runs:
        return
    answered = Counter((b["turn"], b["call_id"]) for b in bodies if b["type"] == "call_finished")
    intended = Counter((b["turn"], b["call_id"]) for b in bodies if b["type"] == "call_intended")
    trial.intents = intended.total()
    trial.unknown = sum(b.get("error") == "interrupted" for b in bodies if "call_id" in b)
    if left := intended - answered:
        trial.problems.append(f"{left.total()} calls without an outcome after opening")
    shown = bridge(home, "sessions", "show", runs[0][0])
    if shown.returncode:
        trial.problems.append(f"sessions show: {shown.returncode} {shown.stderr}")
    if shown.stdout.count("it is unknown whether") != trial.unknown:
        trial.problems.append(f"{trial.unknown} calls nobody knows of, shown: {shown.stdout}")
    if not bodies or bodies[-1]["type"] != "run_finished":
        trial.problems.append("the end of the run is not recorded")
    elif (bodies[-1]["status"] == "interrupted") != ("interrupted" in shown.stdout):
        trial.problems.append("a run that was killed is not shown as interrupted")
    elif trial.victim != "run" and bodies[-1]["status"] == "interrupted":
        trial.problems.append("the run survived but did not record its end")


def work(kills: int, seed: int, spread: float) -> list[Trial]:
    """Trials one after the other in one home, so that the record grows under the kills."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    chance = random.Random(seed)
    trials = []
    with tempfile.TemporaryDirectory(prefix="bridge-kill-") as folder:
        for number in range(kills):
            victim = VICTIMS[number % len(VICTIMS)]
            shell, delay = chance.random() < 0.4, chance.uniform(0, spread)
            trial = attempt(Path(folder) / "home", victim, shell, round(delay, 3))
            trials.append(trial)
            print(json.dumps(asdict(trial)), flush=True)
            verdict = "; ".join(trial.problems) or "ok"
            print(f"{victim} after {delay:.2f} s: {trial.code}, {verdict}", file=sys.stderr)
    return trials


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--spread", type=float, default=SPREAD_SECONDS, help="seconds in which the kill may fall"
    )
    given = parser.parse_args()
    if given.jobs == 1:
        return report([asdict(trial) for trial in work(given.kills, given.seed, given.spread)])
    share = -(-given.kills // given.jobs)
    argv = [sys.executable, __file__, "--jobs", "1", "--kills", str(share)]
    argv += ["--spread", str(given.spread)]
    workers = [
        subprocess.Popen([*argv, "--seed", str(given.seed + n)], stdout=subprocess.PIPE, text=True)
        for n in range(given.jobs)
    ]
    lines = [line for worker in workers for line in worker.communicate()[0].splitlines()]
    return report([json.loads(line) for line in lines if line.startswith('{"victim"')])


def report(trials: list[dict[str, object]]) -> int:
    """Print failed trials and the counts; 1 when a trial failed."""
    bad = [trial for trial in trials if trial["problems"]]
    for trial in bad:
        print("FAILED", json.dumps(trial, ensure_ascii=False))
    codes = Counter(f"{t['victim']}:{t['code']}" for t in trials if t["killed"])
    counts = {
        "trials": len(trials),
        "kills": codes.total(),
        "by_victim_and_exit_code": dict(sorted(codes.items())),
        "with_shell_children": sum(bool(trial["shell"]) for trial in trials),
        "calls_begun": sum(int(str(trial["intents"])) for trial in trials),
        "calls_left_unknown": sum(int(str(trial["unknown"])) for trial in trials),
        "slowest_end_seconds": max((float(str(t["seconds"])) for t in trials), default=0.0),
        "failed": len(bad),
    }
    print(json.dumps(counts))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
