"""Throughput of the CTL parser on one heredoc value, in 64 KiB chunks and in 20-byte deltas.

python scripts/bench/ctl.py
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bridge.cst.ctl import CtlParser
from bridge.cst.ctl_events import CallEnd, Limits

LINE = b"a line of forty bytes, LF counted as one\n"
DELTA = 20


def parse(stream: bytes, size: int) -> float:
    """Seconds to parse ``stream`` in chunks of ``size`` bytes; the call must come out whole."""
    chunks = [stream[at : at + size] for at in range(0, len(stream), size)]
    parser = CtlParser({"type_text"}, length_prefix=False, limits=Limits(argument=len(stream)))
    begun = time.perf_counter()
    for chunk in chunks:
        events = parser.feed(chunk)
    seconds = time.perf_counter() - begun
    if not isinstance(events[-1], CallEnd):
        raise SystemExit("the call was not confirmed")
    return seconds


def body(size: int) -> bytes:
    return b"call c1 type_text\narg text <<EOF\n" + LINE * (size // len(LINE)) + b"EOF\nend\n"


def main() -> None:
    """Print MB/s for large chunks and µs per delta for streams of growing length."""
    large = body(64 * 1024 * 1024)
    best = min(parse(large, 64 * 1024) for _ in range(3))
    print(f"heredoc body, 64 KiB chunks: {len(large) / best / 1e6:.0f} MB/s")
    for kilobytes in (20, 200, 2000):
        stream = body(kilobytes * 1000)
        deltas = -(-len(stream) // DELTA)
        best = min(parse(stream, DELTA) for _ in range(3))
        print(f"{kilobytes} KB in {DELTA}-byte deltas: {best / deltas * 1e6:.2f} µs per delta")


if __name__ == "__main__":
    main()
