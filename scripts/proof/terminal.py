"""Proofs of the terminals at full size, on virtual phones with real processes.

Run: PYTHONPATH=. python scripts/proof/terminal.py [matrix|reuse|commands]...; default all.
matrix: every way to end × every kind of process × user and three forms of root. reuse: 10,000
signals for numbers that belong to others. commands: 200 in a row leave nothing.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alpine.identity import USER
from alpine.running import Output, run_command
from alpine.supervisor import Command, ShellProcessSupervisor
from device_tools.virtual import launcher
from device_tools.virtual.launcher import VirtualPhone
from tests.alpine.orphans import ENDS, KINDS, connect, leaves_nothing
from tests.alpine.reuse import INNOCENTS, innocents_left

ROOTS = (("magisk", "user"), ("magisk", "root"), ("kernelsu", "root"), ("aosp", "root"))
ROUNDS = 2000
COMMANDS = 200


@contextmanager
def _phone(root: str = "none") -> Iterator[VirtualPhone]:
    with (
        tempfile.TemporaryDirectory() as folder,
        launcher.start(Path(folder), name="p", root=root) as phone,
    ):
        yield phone


def matrix() -> None:
    failed, count = [], 0
    for profile, identity in ROOTS:
        for end in ENDS:
            # the death of its adb server is a phone's last end
            alone = end == "adb server killed"
            for batch in [[kind] for kind in KINDS] if alone else [list(KINDS)]:
                with _phone(profile) as phone:
                    for kind in batch:
                        count += 1
                        failed += _tried(phone, end, kind, identity, count)
    print(f"matrix: {count} ends, {len(failed)} that left something or told it wrong")
    for line in failed:
        print(f"  {line}")


def _tried(phone: VirtualPhone, end: str, kind: str, identity: str, number: int) -> list[str]:
    try:
        leaves_nothing(phone, end, kind, identity, f"760{number:03}.25")
    except AssertionError as error:
        return [f"{end}, {kind}, {identity}: {error}"]
    return []


def reuse() -> None:
    with _phone() as phone:
        start = time.monotonic()
        left = innocents_left(connect(phone), ROUNDS)
        print(
            f"reuse: {ROUNDS * INNOCENTS} signals for numbers of others, {INNOCENTS - left} "
            f"innocents hit, {time.monotonic() - start:.0f} s"
        )


def commands() -> None:
    with _phone() as phone:
        adb = connect(phone)
        supervisor = ShellProcessSupervisor(adb)

        def processes() -> int:
            return int(adb.shell(["sh", "-c", "ls -d /proc/[0-9]* | wc -l"]).text)

        def one() -> None:
            output = Output()
            text = "sleep 0.01 & (setsid sleep 50 &) ; exit 4"
            run_command(supervisor, Command(text), USER, 20, output)
            assert output.code == 4

        one()
        before = processes(), len(os.listdir("/proc/self/fd"))
        for _ in range(COMMANDS):
            one()
        after = processes(), len(os.listdir("/proc/self/fd"))
        print(f"commands: {COMMANDS}; processes and descriptors {before} before, {after} after")


if __name__ == "__main__":
    for name in sys.argv[1:] or ["matrix", "reuse", "commands"]:
        {"matrix": matrix, "reuse": reuse, "commands": commands}[name]()
