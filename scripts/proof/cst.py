"""The proofs of the call protocols at full size. Usage: python scripts/proof/cst.py [PART ...]

memory      what the CTL parser holds and allocates for bodies of 1 byte to 8 MiB
delimiters  every bit of every framing byte of 200 frames flipped, the byte lost, another put in
streams     the three properties and the freedom of cutting on thousands of generated streams

Each prints rows of Markdown; a broken promise ends it with exit code 1. Smaller counts of the same
run in the normal tests (tests/bridge/cst).
"""

from __future__ import annotations

import argparse
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bridge.cst.ctl import CtlParser
from bridge.cst.ctl_events import Limits
from tests.bridge.cst import (
    corpus,
    damage,
    native_corpus,
    test_ctl_machine,
    test_properties,
    xml_corpus,
)
from tests.bridge.cst.test_delimiters import disagreements
from tests.bridge.cst.test_properties import Stream

SIZES = (1, 1024, 65_536, 1024 * 1024, 8 * 1024 * 1024)
CHUNK = 4096


def allocated(head: bytes, piece: bytes, length_prefix: bool, size: int) -> int:
    """Peak bytes that reading a body of ``size`` in chunks allocates, the chunks not counted."""
    limits = Limits(argument=size + 64)
    parser = CtlParser({"type_text"}, length_prefix=length_prefix, limits=limits)
    parser.feed(head)
    part = (piece * (CHUNK // len(piece) + 1))[:CHUNK]
    tail = part[: size % CHUNK]
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(size // CHUNK):
        parser.feed(part)
    parser.feed(tail)
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return peak


def memory() -> None:
    print(f"| body (in {CHUNK}-byte chunks) | size | held, bytes | allocated at most, bytes |")
    print("| --- | --- | --- | --- |")
    for number, name in enumerate(test_ctl_machine.NAMES):
        peaks = []
        for size in SIZES:
            _, head, piece, length_prefix = list(test_ctl_machine.streams(size))[number]
            held = test_ctl_machine.largest_held(head, piece, length_prefix, size, CHUNK)
            assert held < test_ctl_machine.HELD, (name, size, held)
            peaks.append(allocated(head, piece, length_prefix, size))
            print(f"| {name} | {size} | {held} | {peaks[-1]} |")
        # what one chunk takes is taken whatever came before it
        assert peaks[-1] < peaks[2] + 1024, (name, peaks)


def delimiters() -> None:
    print("| mode | damaged replies | of them still a call, by both readers |\n| --- | --- | --- |")
    for mode in damage.MODES:
        tried, accepted = disagreements(mode, 200, seed=2, thorough=True)
        print(f"| {mode} | {tried} | {accepted} |", flush=True)


def streams() -> None:
    made = {
        "ctl": [Stream(s.name, "ctl", s.data) for s in corpus.generated(1500, seed=77)],
        "ctl-heredoc": [Stream(s.name, "ctl-heredoc", s.data) for s in corpus.generated(1500, 78)],
        "xml": [
            Stream(f"xml {n}", "xml", reply.encode())
            for n, reply in enumerate(xml_corpus.generated(1500, seed=79))
        ],
        **{
            mode: [
                test_properties.chat_stream(f"{mode} {n}", mode, entries)
                for n, entries in enumerate(native_corpus.likely(300, seed=80))
                if all("close" not in each for each in entries)
            ]
            for mode in ("native-eos", "native-inc")
        },
    }
    print("| mode | streams | bytes (each a prefix) | cuttings |\n| --- | --- | --- | --- |")
    for mode, each_of in made.items():
        for stream in each_of:
            test_properties.test_every_byte_prefix_is_confirmation_faithful(stream)
            test_properties.test_cutting_changes_nothing(stream)
        size = sum(len(stream.data) for stream in each_of)
        print(f"| {mode} | {len(each_of)} | {size} | {51 * len(each_of)} |", flush=True)


PARTS: dict[str, Callable[[], None]] = {
    "memory": memory,
    "delimiters": delimiters,
    "streams": streams,
}


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("parts", nargs="*", metavar="PART", default=list(PARTS))
    for part in options.parse_args().parts:
        print(f"\n{part}\n")
        PARTS[part]()


if __name__ == "__main__":
    main()
