"""The element list on real hierarchy dumps: its size against raw XML and indented JSON, its time.

Run: python scripts/bench/elements.py FOLDER [repetitions], a folder of uiautomator dumps. Tokens
are those of o200k. Targets: median at most 4 %, 90th percentile at most 8 % of the raw XML's
characters; at most 5 ms per dump in the median.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bpe_openai import get_encoding
from measure import table

from device_tools.errors import ScreenUnreadable
from device_tools.hierarchy import Node, parse_hierarchy
from device_tools.observation import as_text, observation_of_dump

_PIECE = 20_000
"""Characters given to the tokenizer at once; a cut costs a token at most."""


def as_indented_json(node: Node) -> dict[str, object]:
    """A view as peers send it: every attribute, children inside."""
    box = node.bounds
    return {
        "class": node.class_name,
        "package": node.package,
        "resource_id": node.resource_id,
        "text": node.text,
        "content_desc": node.description,
        "bounds": [box.left, box.top, box.right, box.bottom],
        **{flag: True for flag in sorted(node.flags)},
        "children": [as_indented_json(child) for child in node.children],
    }


def tokens(tokenizer: Any, text: str) -> int:
    pieces = (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))
    return sum(len(tokenizer.encode(piece)) for piece in pieces)


def percent(ours: Sequence[int], theirs: Sequence[int]) -> str:
    ratios = sorted(100 * a / b for a, b in zip(ours, theirs, strict=True))
    high = statistics.quantiles(ratios, n=10)[8]
    return f"{statistics.median(ratios):.1f} % ({high:.1f} %)"


def main(folder: Path, repeat: int) -> None:
    tokenizer = get_encoding("o200k_base")
    sizes: dict[str, tuple[list[int], list[int]]] = {n: ([], []) for n in ("ours", "xml", "json")}
    times, unread = [], 0
    for file in sorted(folder.iterdir()):
        raw = file.read_bytes()
        try:
            seen = observation_of_dump(raw)
        except ScreenUnreadable:
            unread += 1
            continue
        windows = [as_indented_json(window) for window in parse_hierarchy(raw).windows]
        forms = {
            "ours": as_text(seen),
            "xml": raw.decode("utf-8", "replace"),
            "json": json.dumps(windows, indent=2, ensure_ascii=False),
        }
        for name, text in forms.items():
            sizes[name][0].append(len(text))
            sizes[name][1].append(tokens(tokenizer, text))
        times.append(min(timed(lambda raw=raw: observation_of_dump(raw)) for _ in range(repeat)))
    rows = [
        [
            f"of {name}",
            percent(sizes["ours"][0], sizes[key][0]),
            percent(sizes["ours"][1], sizes[key][1]),
        ]
        for name, key in (("the raw XML", "xml"), ("indented JSON", "json"))
    ]
    print(f"{len(times)} dumps, {unread} refused with a reason\n")
    print(table(["our list", "characters: median (p90)", "o200k tokens: median (p90)"], rows))
    milliseconds = sorted(seconds * 1000 for seconds in times)
    high = statistics.quantiles(milliseconds, n=10)[8]
    print(f"\nms per dump: median {statistics.median(milliseconds):.1f}, p90 {high:.1f}")
    print(f"tokens of a list: median {statistics.median(sizes['ours'][1]):.0f}")


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5)
