"""Searches what the runs left, and tells what is there that should not be and the other way."""

from __future__ import annotations

from dataclasses import dataclass

from tests.bridge.hunt.prey import Prey
from tests.bridge.hunt.search import Found, Searcher

CONTROLS_KEPT = 0.99


@dataclass(frozen=True)
class Verdict:
    """``missing``: ordinary texts that no record has. ``reached``: secrets that passed through a
    request of a run, so that they could have been recorded."""

    found: list[Found]
    missing: list[str]
    controls: int
    reached: int
    searched_bytes: int

    @property
    def clean(self) -> bool:
        return not self.found and len(self.missing) <= (1 - CONTROLS_KEPT) * self.controls


def judge(prey: Prey) -> Verdict:
    plants = prey.plants
    searcher = Searcher(plants.secrets)
    found = searcher.in_files(prey.searched)
    for path in prey.database():
        found += searcher.in_bytes(path.read_bytes(), str(path))
    for name, text in prey.outputs.items():
        found += searcher.in_bytes(text.encode("utf-8", "replace"), f"output of {name}")
    for body in prey.later:
        found += searcher.in_bytes(body, "request of a continuation")
    hidden = Searcher(set(plants.secrets) - set(plants.on_command_lines))
    for line in prey.commands:
        found += hidden.in_bytes(line.encode(), f"command line {line[:60]!r}")
    shown = "\n".join(prey.outputs.values())
    missing = [text for text in plants.controls if text not in shown]
    size = sum(path.stat().st_size for folder in prey.searched for path in folder.rglob("*"))
    size += sum(path.stat().st_size for path in prey.database())
    return Verdict(found, missing, len(plants.controls), prey.reached, size)
