"""An open session against `adb shell`, and 50 MB of output against adb's own throughput.

Run: python scripts/bench/terminal.py [repetitions]. adb is the one that adbutils carries. Targets:
`true` in a session at least 5 times faster than `adb shell true`; at least half of adb's throughput
with flat memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

from measure import command, figures, interleaved, table

from alpine.identity import USER
from alpine.running import Output, run_command
from alpine.sessions import Session
from alpine.supervisor import Command, ShellProcessSupervisor
from device_tools.adb import AdbPhone, find_adb
from device_tools.adb_server import AdbAddress
from device_tools.cancel import CancelScope
from device_tools.virtual import launcher

MEGABYTES = 50
STREAM = f"yes {'0123456789abcdef' * 4} | head -c {MEGABYTES}000000"


def main(repeat: int) -> None:
    with tempfile.TemporaryDirectory() as folder, launcher.start(Path(folder), name="b") as virtual:
        handle = virtual.handle
        os.environ["ANDROID_ADB_SERVER_PORT"] = str(handle.adb_port)
        phone = AdbPhone(handle.serial, AdbAddress("127.0.0.1", handle.adb_port), CancelScope())
        supervisor = ShellProcessSupervisor(phone)
        adb = [find_adb(), "-s", handle.serial, "shell"]
        short(supervisor, adb, repeat)
        long(supervisor, adb)
        supervisor.close()


def short(supervisor: ShellProcessSupervisor, adb: list[str], repeat: int) -> None:
    session = Session("s", supervisor, USER)
    taken = interleaved(
        {
            "session, exec `true`": lambda: session.run("true", 10, Output()),
            "adb shell true": command([*adb, "true"]),
        },
        repeat,
    )
    session.close()
    # apart: what it leaves to be looked for afterwards would slow the others down
    alone = lambda: run_command(supervisor, Command("true"), USER, 10, Output())  # noqa: E731
    taken |= interleaved({"run_command `true`, on its own": alone}, repeat // 4)
    found = {name: figures(seconds) for name, seconds in taken.items()}
    print(table(["operation", "ms: median (lowest to highest)"], [*found.items()]))
    ratio = found["adb shell true"].median / found["session, exec `true`"].median
    print(f"\nthe session is {ratio:.1f} times faster (target: 5)\n")


def long(supervisor: ShellProcessSupervisor, adb: list[str], repeat: int = 5) -> None:
    def ours() -> None:
        output = Output()
        run_command(supervisor, Command(STREAM), USER, 60, output)
        assert (output.code, output.stdout.total) == (0, MEGABYTES * 1_000_000)

    def adbs() -> None:
        with open(os.devnull, "wb") as sink:
            subprocess.run([*adb, STREAM], check=True, stdout=sink)

    taken = interleaved({"run_command": ours, "adb shell": adbs}, repeat)
    rates = {name: MEGABYTES / figures(each).median * 1000 for name, each in taken.items()}
    tracemalloc.start()
    start = time.perf_counter()
    ours()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    rows = [[name, f"{rate:.0f}"] for name, rate in rates.items()]
    print(table([f"{MEGABYTES} MB of output", "MB/s"], rows))
    print(
        f"\n{rates['run_command'] / rates['adb shell']:.2f} of adb's throughput (target: 0.5); "
        f"allocated at most {peak:.1f} MB while it was read ({time.perf_counter() - start:.1f} s "
        "with tracing)"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
