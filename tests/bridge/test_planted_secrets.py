"""Secrets that went through whole runs are in nothing that the runs left (reduced: the full hunt is
``scripts/proof/planted_secrets.py``), and the search would have found them."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from tests.bridge.hunt.judge import judge
from tests.bridge.hunt.plants import planted
from tests.bridge.hunt.runs import hunted
from tests.bridge.hunt.search import Searcher

SECRET = 'Ab1"\\&<% éZq9x'
AT = {offset: base64.b64encode(b"xyz"[:offset] + SECRET.encode() + b"w") for offset in range(3)}


@pytest.mark.parametrize(
    "written",
    [
        SECRET.encode(),
        json.dumps({"a": SECRET}).encode(),
        json.dumps({"a": SECRET}, ensure_ascii=False).encode(),
        json.dumps(json.dumps({"a": SECRET})).encode(),
        json.dumps(json.dumps({"a": SECRET}, ensure_ascii=False), ensure_ascii=False).encode(),
        quote(SECRET, safe="").encode(),
        quote_plus(SECRET).encode(),
        SECRET.encode().hex().encode(),
        SECRET.encode().hex().upper().encode(),
        SECRET.encode("utf-16-le"),
        SECRET.encode("utf-16-be"),
        AT[0],
        AT[1],
        AT[2],
        base64.urlsafe_b64encode(SECRET.encode()),
        b"junk" + gzip.compress(b"text " + SECRET.encode()) + b"junk",
        b"junk" + zlib.compress(json.dumps(SECRET).encode(), 9),
        gzip.compress(SECRET.encode("utf-16-le")),
    ],
    # no bytes in the names: a packed form holds the time of packing
    ids=range(18),
)
def test_the_search_finds_every_form(written: bytes, tmp_path: Path) -> None:
    """In the middle of other bytes, in a file below a folder."""
    searcher = Searcher(["another", SECRET])
    assert {found.secret for found in searcher.in_bytes(b"a" + written + b"b", "x")} == {SECRET}
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "file").write_bytes(written)
    assert {found.secret for found in searcher.in_files([tmp_path])} == {SECRET}


def test_the_search_finds_names_of_files_and_nothing_where_there_is_nothing(tmp_path: Path) -> None:
    """A secret in a file's name counts; other bytes do not."""
    searcher = Searcher(["topsecret"])
    (tmp_path / "a").write_bytes(b"top secret, " + gzip.compress(b"nothing"))
    assert searcher.in_files([tmp_path]) == []
    (tmp_path / "topsecret.txt").touch()
    assert [found.where for found in searcher.in_files([tmp_path])] != []


def test_no_planted_secret_is_left_anywhere(tmp_path: Path) -> None:
    """47 secrets through screens, messages, notifications, typed text, every sensitive tool, the
    task, a steering message and the provider's key; runs that succeed, fail, are cancelled, killed
    and continued. Ordinary texts stay."""
    prey = hunted(tmp_path, planted(7, 4))
    verdict = judge(prey)
    assert verdict.found == []
    assert verdict.clean, verdict.missing
    assert verdict.reached >= 40
    assert prey.exits == {
        "told": 0, "typed0": 0, "native": 0, "shell": 0, "refused": 4, "cancelled": 130,
        "killed": -9, "continued": 0,
    }  # fmt: skip
