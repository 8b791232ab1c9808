"""Secrets are found by pattern and ordinary numbers stay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bridge.store.patterns import find_secrets
from tests.bridge.store.secret_corpus import CONTROLS, secrets
from tests.shared_data import shared_data


def secrets_of(text: str) -> list[str]:
    return [text[secret.start : secret.end] for secret in find_secrets(text)]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('[4] "Your verification code is 482913. It expires in 10 minutes."', "482913"),
        ('[3] "Acme Bank"\n[4] "Your code: 7731"', "7731"),
        ('[4] "【甲云】您的验证码为：482913，请于5分钟内"', "482913"),
        (r'[4] "Verification code\n482913"', "482913"),
        ("curl -H 'Authorization: Bearer abcdefghijklmnop123'", "abcdefghijklmnop123"),
        ("OPENAI_API_KEY=sk-proj-abcdefghijklmnop1234567890", "sk-proj-abcdefghijklmnop1234567890"),
        ("https://me:hunter2@example.com/x", "hunter2"),
        ("psk=correct-horse", "correct-horse"),
        ("WIFI:S:home;T:WPA;P:s3cr3t pass;;", "s3cr3t pass"),
    ],
)
def test_finds_one_secret(text: str, secret: str) -> None:
    """Each kind of secret is found, and only its value."""
    assert secrets_of(text) == [secret]


def test_finds_a_private_key_block_whole() -> None:
    """A PEM block is one secret from its first to its last line."""
    block = "-----BEGIN RSA PRIVATE KEY-----\nMIIB\nabc\n-----END RSA PRIVATE KEY-----"
    assert secrets_of(f"key:\n{block}\nafter") == [block]


@pytest.mark.parametrize(
    "text",
    [
        "Total $1,204.77, paid 06/18 10:22, order 482913",
        'tapped [2] switch "Wi-Fi"',
        '[7] button "Use promo code SAVE20"',
        "Screen o3: Settings (com.android.settings/.Settings) 1080x2400 rotation 0",
        '[5] field "Password" focused password',
        "error code 4041 in build 231005",
        "Never share your verification code with anyone.",
        "max_tokens=4096",
    ],
)
def test_leaves_ordinary_text_alone(text: str) -> None:
    """Prices, dates, order numbers, versions and labels are no secrets."""
    assert secrets_of(text) == []


def test_recall_and_precision_on_the_message_collection() -> None:
    """Every collected code is found where it stands first; no other message is touched."""
    folder = shared_data("phone/otp")
    positive = _rows(folder / "otp_positive.jsonl")
    negative = _rows(folder / "otp_negative.jsonl")
    missed = [row for row in positive if not _covered(row)]
    false_alarms = [row for row in negative if secrets_of(row["text"])]
    assert missed == []
    assert false_alarms == []


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def _covered(row: dict[str, Any]) -> bool:
    start, _end = row["spans"][0]
    return any(secret.start <= start < secret.end for secret in find_secrets(row["text"]))


def test_every_secret_of_the_corpus_is_found_whole() -> None:
    """Keys of all providers, bearer tokens, key blocks, passwords, Wi-Fi keys and codes, in each
    form that screens, files, terminals and URLs give them; nothing beside them is hidden."""
    missed = [case for case in secrets() if secrets_of(case.text) != [case.secret]]
    assert missed == []


def test_ordinary_texts_of_the_corpus_stay() -> None:
    """Prices, dates, order, tracking and phone numbers, versions, labels and command output."""
    hidden = [text for texts in CONTROLS.values() for text in texts if secrets_of(text)]
    assert hidden == []


@pytest.mark.parametrize(
    "piece",
    ["eyJ-", "sk-", "WIFI:", "-----BEGIN PRIVATE KEY-----", "a://b:", "otp 1234 ", 'name="pass',
     '"password":"\\', "password is ", "your a ", "1 2 ", "a-a:", "Bearer ", "\n"],
)  # fmt: skip
def test_no_text_makes_the_search_quadratic(piece: str) -> None:
    """A text of 100,000 characters made to trip it up is searched at once (quadratic steps would
    take minutes and run into the time limit of the test)."""
    assert find_secrets(piece * (100_000 // len(piece))) is not None
