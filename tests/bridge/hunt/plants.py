"""Made-up secrets in the texts they come in, and ordinary texts that must stay; seeded."""

from __future__ import annotations

import random
import string
from dataclasses import dataclass, field

from tests.bridge.store.secret_corpus import CODES, PASSWORDS, WIFI

_PREFIXES = (
    "sk-proj-", "sk-ant-api03-", "sk-or-v1-", "gsk_", "xai-", "AIzaSy", "hf_", "ghp_", "glpat-",
    "xoxb-", "sk_live_", "npm_", "pplx-", "nvapi-",
)  # fmt: skip
_LETTERS = string.ascii_letters + string.digits
_AWKWARD = '"\\&<% é'
"""Letters that JSON, XML, URLs and element lists write in another way."""


@dataclass
class Plants:
    """``said``: texts whose words give their secret away. ``typed`` and ``codes`` go into fields
    that are secret; ``arguments`` into sensitive tools; ``wifi`` are keys of saved networks.
    ``controls`` are no secrets at all."""

    said: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    notifications: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    typed: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    wifi: list[str] = field(default_factory=list)
    task: str = ""
    steering: str = ""
    key: str = ""
    secrets: list[str] = field(default_factory=list)
    on_command_lines: list[str] = field(default_factory=list)
    controls: list[str] = field(default_factory=list)


def planted(seed: int, each: int) -> Plants:
    """``each`` of every kind, the kinds of what is said three times as many."""
    chance = random.Random(seed)
    plants = Plants()
    used: set[str] = set()

    def value(length: int, letters: str = _LETTERS) -> str:
        while True:
            made = "".join(chance.choices(letters, k=length))
            if made not in used and (letters != string.digits or made[0] != "0"):
                used.add(made)
                return made

    def kept(secret: str) -> str:
        plants.secrets.append(secret)
        return secret

    def code() -> str:
        return kept(value(8, string.digits))

    def password() -> str:
        return kept(f"{value(9)}{chance.choice(string.digits)}x")

    places = [text for text, _ in PASSWORDS if "PIN" not in text and "Cookie" not in text]
    for number in range(each):
        for texts, make in ((places, password), ([text for text, _ in WIFI], password)):
            plants.said.append(texts[number % len(texts)].format(make()))
        plants.said.append(f"export K={kept(_PREFIXES[number % len(_PREFIXES)] + value(36))}")
        plants.said.append(CODES[number % (len(CODES) - 1)][0].format(code()))
        plants.messages.append(f"Your Alpha{number} verification code is {code()}.")
        plants.notifications.append(f"Beta{number}: use code: {code()} now")
        plants.notes.append(f"wifi password: {password()}")
        plants.typed.append(kept(f"{value(6)}{_AWKWARD}{value(6)}"))
        plants.codes.append(code())
        plants.arguments.append(password())
        plants.wifi.append(password())
    plants.key = kept(f"sk-proj-{value(40)}")
    plants.task = f"log in with password={password()} and tell me"
    plants.steering = f"the token is token={password()}"
    plants.on_command_lines = plants.secrets[-2:]
    plants.controls = _controls(chance, 4 * each)
    return plants


def _controls(chance: random.Random, count: int) -> list[str]:
    """Each one of a kind, so that it can be looked for."""
    made = []
    for number in range(count):
        n = chance.randrange(100_000, 999_999)
        texts = (
            f"order #{n}-{number} has shipped",
            f"Total ${n % 9999}.{number % 90 + 10} for {number}",
            f"paid on 2026-{number % 12 + 1:02}-{number % 28 + 1:02} for {n} EUR",
            f"version 8.{number}.{n}", f"tracking 1Z{n}AA{number:04}",
            f"call +49 30 {n} ext {number}",
            f"exit code {number} of pid {n}", f"{n} steps on day {number}",
        )  # fmt: skip
        made.append(texts[number % len(texts)])
    return made
