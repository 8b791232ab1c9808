"""Secrets that a run met are found again in whatever form a later text gives them."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest

from bridge.store.known_secrets import KnownSecrets

SECRET = 'pä"ss w<o>rd\\1&2'


def hidden(known: KnownSecrets, text: str) -> str:
    for secret in reversed(list(known.find(text))):
        text = text[: secret.start] + "#" + text[secret.end :]
    return text


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(SECRET, ensure_ascii=False)[1:-1])[1:-1],
        SECRET.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"),
        quote(SECRET, safe=""),
        SECRET.encode().hex(),
    ],
)
def test_a_known_secret_is_found_in_every_form(form: str) -> None:
    """Raw, in JSON once and twice, in XML, in a URL and in hex."""
    known = KnownSecrets()
    known.add(SECRET, "password")
    assert hidden(known, f"x {form} y") == "x # y"


@pytest.mark.parametrize("before", ["", "u", "us"])
def test_a_known_secret_is_found_in_base64_at_every_offset(before: str) -> None:
    """Only letters that depend on the bytes next to it are left."""
    known = KnownSecrets()
    known.add("hunter2!xyz", "password")
    coded = base64.b64encode(f"{before}hunter2!xyz:b".encode()).decode()
    left = hidden(known, coded)
    assert "#" in left
    assert len(left) < len(coded) - 12


def test_a_code_is_found_with_separators_and_not_in_longer_numbers() -> None:
    """482913 is also 482 913 and 482-913, and nothing inside 14829131."""
    known = KnownSecrets()
    known.add("482 913", "code")
    assert (
        hidden(known, "482913, 482 913, 482-913; 14829131, a\\n482913")
        == "#, #, #; 14829131, a\\n#"
    )


def test_the_longer_of_two_secrets_that_begin_alike_is_hidden_whole() -> None:
    """A shorter secret does not leave the rest of a longer one."""
    known = KnownSecrets()
    known.add("abcd1", "password")
    known.add("abcd1-efgh", "password")
    assert hidden(known, "abcd1-efgh abcd1") == "# #"


def test_lines_of_a_key_block_are_secret_too() -> None:
    """A part of a private key that a later text shows is hidden."""
    known = KnownSecrets()
    line = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAAB"
    known.add(
        f"-----BEGIN PRIVATE KEY-----\n{line}\n{line[::-1]}\n-----END PRIVATE KEY-----", "key"
    )
    assert hidden(known, f"| {line[::-1]} |") == "| # |"


def test_common_words_are_not_remembered_for_a_pattern_alone() -> None:
    """ "password=hello" must not take every hello out of the record; a password field may."""
    known = KnownSecrets()
    known.add("hello", "password")
    assert hidden(known, "hello") == "hello"
    known.add("hello", "field")
    assert hidden(known, "hello") == "#"
