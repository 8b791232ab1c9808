"""What the search for secrets costs: screens of a phone, long outputs, texts made to be slow, and
the search for values that a run knows.

    PYTHONPATH=. python scripts/bench/redaction.py

"growth" is the time for a text of 1,000,000 characters by that for a quarter of it: 4 is linear, 16
quadratic.
"""

from __future__ import annotations

import random
import string
import time

from measure import figures, interleaved, table

from bridge.store.patterns import find_secrets
from bridge.store.redaction import Redactor

LINE = '[12] button "Network & internet, Mobile, Wi-Fi, hotspot" selected\n'
LONG = 1_000_000
SLOW = (
    "eyJ-", "sk-a", "WIFI:", "-----BEGIN PRIVATE KEY-----", "a://b:", "Bearer a", 'password="',
    "password is ", '<string name="password', "--password ", "otp 1234 ", "your a ", "1 2 ",
    "code ",
)  # fmt: skip


def seconds(text: str) -> float:
    start = time.perf_counter()
    find_secrets(text)
    return time.perf_counter() - start


def ordinary() -> str:
    screen = LINE * 60
    texts = {
        "a screen of 60 elements": screen,
        "the same with a code on it": f'{screen}[61] "Your code is 482913"\n',
        "32 KiB of output": (LINE * 600)[: 32 * 1024],
    }
    taken = interleaved({name: lambda t=text: find_secrets(t) for name, text in texts.items()}, 50)
    rows = [(name, len(texts[name]), figures(times)) for name, times in taken.items()]
    return table(("text", "characters", "ms: median (lowest to highest)"), rows)


def known() -> str:
    chance, rows = random.Random(1), []
    text = (LINE * 600)[: 32 * 1024]
    for count in (0, 10, 200, 1000):
        redactor = Redactor(
            ["1" + "".join(chance.choices(string.ascii_letters, k=14)) for _ in range(count)]
        )
        taken = interleaved({"": lambda r=redactor: r.text(text)}, 10)
        rows.append((count, figures(taken[""])))
    return table(("values the run knows", "ms for 32 KiB"), rows)


def slow() -> str:
    rows = []
    for piece in SLOW:
        text = (piece * (LONG // len(piece) + 1))[:LONG]
        part, whole = seconds(text[: LONG // 4]), seconds(text)
        rows.append((whole, whole / part, piece))
    shown = [(f"`{p}` again and again", f"{w:.2f}", f"{g:.1f}") for w, g, p in sorted(rows)[::-1]]
    return table(("1,000,000 characters of", "s", "growth"), shown)


if __name__ == "__main__":
    print(f"{ordinary()}\n\n{known()}\n\n{slow()}")
