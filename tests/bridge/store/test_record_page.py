"""docs/record.md describes every event with every field, and nothing else."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import get_args

from bridge.conversation.events import RunEvent

PAGE = Path(__file__).parents[3] / "docs" / "record.md"


def test_the_page_lists_every_event_and_field() -> None:
    """The table of the page and the event types agree."""
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    documented = {kind: set(re.findall(r"`(\w+)`", text)) for kind, text in rows if kind != "type"}
    for event in get_args(RunEvent):
        kind = re.sub(r"(?<!^)(?=[A-Z])", "_", event.__name__).lower()
        assert {field.name for field in dataclasses.fields(event)} <= documented.pop(kind), kind
    assert documented == {}
