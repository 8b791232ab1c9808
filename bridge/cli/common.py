"""What several commands share: printing, and the options with one meaning everywhere."""

from __future__ import annotations

import json
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


def print_json(value: Mapping[str, Any]) -> None:
    """One JSON object on one line."""
    print(json.dumps(value, ensure_ascii=False), flush=True)


def print_error(message: str, advice: str = "") -> None:
    """One line what happened, one line what to do next."""
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    if advice:
        print(f"  {' '.join(advice.split())}", file=sys.stderr)
