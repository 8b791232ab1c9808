"""Printing what a screen, a model or a server said."""

from __future__ import annotations

import json

import pytest

from bridge.cli.common import print_error, print_json

HOSTILE = "a\x1b[2J\x9b31m\u202eb\ud800\u2028 \\\x07设"


def test_an_error_is_shown_with_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    """Control and direction characters in an error become visible escapes; text stays text."""
    print_error(HOSTILE, HOSTILE)
    shown = capsys.readouterr().err
    assert shown.startswith("error: a\\u001b[2J\\u009b31m\\u202eb\\ud800 \\\\u0007设\n")
    assert not set(HOSTILE) & {*"\x1b\x9b\u202e\ud800\x07"} & set(shown)


def test_a_json_line_is_safe_and_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """A JSON line holds no such character and still decodes to the very same value."""
    print_json({"text": HOSTILE})
    shown = capsys.readouterr().out
    assert not {*"\x1b\x9b\u202e\ud800\u2028"} & set(shown)
    assert json.loads(shown) == {"text": HOSTILE}
