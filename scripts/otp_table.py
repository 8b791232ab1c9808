"""Precision and recall of one-time codes by language. Usage:

python scripts/otp_table.py FOLDER
FOLDER holds otp_positive.jsonl and otp_negative.jsonl.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from device_tools.otp import find_code

HEAD = (
    "| language | messages with a code | found | wrong | precision | recall |\n"
    "|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Score:
    """``wrong`` counts codes given where there is none, or another."""

    messages: int = 0
    found: int = 0
    wrong: int = 0

    def plus(self, wanted: str | None, got: str | None) -> Score:
        return Score(
            self.messages + (wanted is not None),
            self.found + (wanted is not None and got == wanted),
            self.wrong + (got is not None and got != wanted),
        )


def scores(folder: Path) -> dict[str, Score]:
    """By language."""
    found: dict[str, Score] = {}
    for name in ("otp_positive.jsonl", "otp_negative.jsonl"):
        for line in (folder / name).read_text("utf-8").splitlines():
            message = json.loads(line)
            before = found.get(message["lang"], Score())
            found[message["lang"]] = before.plus(_wanted(message), find_code(message["text"]))
    return found


def _wanted(message: Mapping[str, Any]) -> str | None:
    """The first code without separators; one digit per box is one code."""
    codes = ["".join(map(_plain, code)) for code in message["codes"]]
    if codes and all(len(code) == 1 for code in codes):
        return "".join(codes)
    return codes[0] if codes else None


def _plain(character: str) -> str:
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    return character if character.isalnum() else ""


def table(found: Mapping[str, Score]) -> str:
    """As Markdown."""
    lines = [HEAD]
    for language, score in sorted(found.items()):
        given = score.found + score.wrong
        precision = f"{100 * score.found / given:.0f} %" if given else "-"
        recall = f"{100 * score.found / score.messages:.0f} %" if score.messages else "-"
        lines.append(
            f"| {language} | {score.messages} | {score.found} | {score.wrong} | {precision} | "
            f"{recall} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(scores(Path(sys.argv[1]))))
