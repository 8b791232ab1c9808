"""Peak memory of a run of 64 turns that looks at the screen in each, picture included.

Run: python scripts/bench/memory.py [turns]. Linux only (reads VmHWM of the run's process).
The model is a local server that asks for observe_screen until the last turn.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from measure import python, table

LOOK = "call c1 observe_screen\nend\n"
FINISH = "call c1 finish\narg success true\narg summary looked around\nend\n"


class Model(BaseHTTPRequestHandler):
    """Chat Completions over SSE: looks at the screen ``turns`` - 1 times, then finishes."""

    turns = 64
    asked = 0
    request_bytes: tuple[int, ...] = ()
    pictures = 0

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        Model.pictures = self.rfile.read(size).count(b'"image_url": {')
        Model.asked += 1
        Model.request_bytes += (size,)
        text = LOOK if Model.asked < Model.turns else FINISH
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for delta, reason in (({"content": text}, None), ({}, "stop")):
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            self.wfile.write(b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_: object) -> None:
        """Keep the benchmark's output to its table."""


def peak_kib(pid: int) -> int:
    try:
        found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) if found else 0


def run(base_url: str, turns: int) -> tuple[int, float]:
    """Peak memory in KiB and seconds of one run."""
    with tempfile.TemporaryDirectory() as home:
        argv = ["-m", "bridge", "run", "--device", "virtual", "--provider", "custom", "--model"]
        argv += ["bench", "--base-url", base_url, "--max-turns", str(turns), "look around"]
        start = time.perf_counter()
        process = subprocess.Popen(
            python(*argv), env={**os.environ, "BRIDGE_HOME": home}, stdout=subprocess.DEVNULL
        )
        peak = 0
        while process.poll() is None:
            peak = max(peak, peak_kib(process.pid))
            time.sleep(0.05)
        if process.returncode:
            raise SystemExit(f"the run ended with {process.returncode}")
        return peak, time.perf_counter() - start


def main(turns: int) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    rows = []
    for count in (2, turns):
        Model.turns, Model.asked, Model.request_bytes = count, 0, ()
        peak, seconds = run(f"http://127.0.0.1:{server.server_port}/v1", count)
        sizes = Model.request_bytes
        rows.append(
            [count, f"{peak / 1024:.1f}", f"{seconds:.1f}", sizes[1], sizes[-1], Model.pictures]
        )
    server.shutdown()
    head = ["turns", "peak memory, MiB", "seconds", "bytes of request 2", "bytes of the last"]
    print(table([*head, "pictures in the last"], rows))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 64)
