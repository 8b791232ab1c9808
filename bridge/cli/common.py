"""What several commands share: printing, and the options with one meaning everywhere."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Annotated, Any

import typer

DEBUG: ContextVar[bool] = ContextVar("debug", default=False)

JsonFlag = Annotated[bool, typer.Option("--json", help="JSON Lines on stdout, nothing else.")]
DeviceOption = Annotated[
    str | None,
    typer.Option("--device", help="Serial, name of a running virtual phone, or 'virtual'."),
]


_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What steers a terminal, reorders a line, or cannot be encoded."""


def printable(text: str) -> str:
    """``text`` for a terminal: what a screen or a model said must not steer it."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def print_json(value: Mapping[str, Any]) -> None:
    """One JSON object on one line."""
    # inside JSON these characters stand in strings only, where the escape means the same
    print(printable(json.dumps(value, ensure_ascii=False)), flush=True)


def print_note(text: str) -> None:
    """For a person, where the answer on stdout is empty."""
    print(text, file=sys.stderr)


def print_error(message: str, advice: str = "") -> None:
    """One line what happened, one line what to do next."""
    print(printable(f"error: {' '.join(message.split())}"), file=sys.stderr)
    if advice:
        print(printable(f"  {' '.join(advice.split())}"), file=sys.stderr)
