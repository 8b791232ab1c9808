"""The tables of docs/redaction.md: what the patterns find and what they leave alone.

    PYTHONPATH=. python scripts/redaction_tables.py [FOLDER]

The corpus is tests/bridge/store/secret_corpus.py. FOLDER holds otp_positive.jsonl and
otp_negative.jsonl, messages with and without a one-time code; without it that table is left out.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bridge.store.patterns import find_secrets
from tests.bridge.store.secret_corpus import CONTROLS, secrets


def hidden(text: str) -> list[str]:
    return [text[secret.start : secret.end] for secret in find_secrets(text)]


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def table(head: tuple[str, ...], rows: Iterator[tuple[object, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def classes() -> Iterator[tuple[object, ...]]:
    """By class of secret: recall, and precision as the share of what was hidden that is secret."""
    texts: Counter[str] = Counter()
    found: Counter[str] = Counter()
    beside: Counter[str] = Counter()
    for case in secrets():
        texts[case.kind] += 1
        found[case.kind] += case.secret in hidden(case.text)
        beside[case.kind] += sum(each != case.secret for each in hidden(case.text))
    for kind, count in texts.items():
        given = found[kind] + beside[kind]
        yield kind, count, percent(found[kind], count), percent(found[kind], given)


def controls() -> Iterator[tuple[object, ...]]:
    for kind, texts in CONTROLS.items():
        yield kind, len(texts), sum(bool(hidden(text)) for text in texts)


def messages(folder: Path) -> Iterator[tuple[object, ...]]:
    """By language: messages with a code, of these hidden; without a code, of these touched."""
    counts: dict[str, list[int]] = {}
    for place, name in ((0, "otp_positive.jsonl"), (2, "otp_negative.jsonl")):
        for line in (folder / name).read_text("utf-8").split("\n"):
            if not line:
                continue
            message = json.loads(line)
            found = find_secrets(message["text"])
            start = message["spans"][0][0] if message["spans"] else -1
            hit = any(each.start <= start < each.end for each in found) if place == 0 else found
            row = counts.setdefault(message["lang"], [0, 0, 0, 0])
            row[place] += 1
            row[place + 1] += bool(hit)
    for language, row in sorted(counts.items()):
        given = row[1] + row[3]
        yield (language, *row, percent(row[1], given), percent(row[1], row[0]))
    total = [sum(column) for column in zip(*counts.values(), strict=True)]
    given = total[1] + total[3]
    yield ("all", *total, percent(total[1], given), percent(total[1], total[0]))


def page(folder: Path | None) -> str:
    parts = [
        table(("class", "texts", "recall", "precision"), classes()),
        table(("ordinary texts", "texts", "touched"), controls()),
    ]
    if folder:
        head = ("language", "with a code", "hidden", "without", "touched", "precision", "recall")
        parts.append(table(head, messages(folder)))
    return "\n\n".join(parts)


if __name__ == "__main__":
    print(page(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
