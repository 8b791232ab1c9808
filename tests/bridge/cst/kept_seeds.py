"""The kept inputs of the fuzzer: one Python bytes literal a line, a file for each target."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).with_name("seeds")


def read_seeds(target: str) -> list[bytes]:
    """Empty when none are kept yet."""
    file = FOLDER / f"{target}.txt"
    lines = file.read_text("ascii").splitlines() if file.exists() else []
    return [ast.literal_eval(line) for line in lines]


def write_seeds(target: str, seeds: Sequence[bytes]) -> None:
    FOLDER.mkdir(exist_ok=True)
    text = "".join(f"{seed!r}\n" for seed in seeds)
    (FOLDER / f"{target}.txt").write_text(text, "ascii")
