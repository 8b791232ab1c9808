"""docs/events.md describes every event with every field, and nothing else."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path
from typing import get_args

from jsonschema import Draft202012Validator

from bridge.conversation.events import RunEvent, recorded_fields
from bridge.store.event_schema import event_schema
from bridge.store.transcripts import Transcripts
from tests.bridge.store.stories import begin, intended, whole_run

PAGE = Path(__file__).parents[3] / "docs" / "events.md"


def test_the_page_lists_every_event_and_field() -> None:
    """The table of the page and the event types agree."""
    page = PAGE.read_text(encoding="utf-8").partition("## Lines that are no events")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", page, re.MULTILINE)
    documented = {kind: set(re.findall(r"`(\w+)`", text)) for kind, text in rows if kind != "type"}
    for event in get_args(RunEvent):
        kind = re.sub(r"(?<!^)(?=[A-Z])", "_", event.__name__).lower()
        assert {field.name for field in recorded_fields(event)} <= documented.pop(kind), kind
    assert documented == {}


def test_the_schema_is_made_from_the_events() -> None:
    """A changed event needs: python scripts/events_schema.py > docs/events.schema.json."""
    stored = json.loads(PAGE.with_name("events.schema.json").read_text(encoding="utf-8"))
    assert stored == event_schema()


def test_whole_runs_are_valid_by_the_schema(tmp_path: Path) -> None:
    """Every record of runs that end in each way matches exactly one event of the schema, and a
    record with a field of another type matches none."""
    validator = Draft202012Validator(event_schema())
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        whole_run(transcripts, "r-1", "s-1", turns=2)
        begin(transcripts, "r-2", "s-1").record(intended(1))
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        records = [*transcripts.events("r-1"), *transcripts.events("r-2")]
    assert len({record["type"] for record in records}) == 7
    for record in records:
        validator.validate(record)
        assert not validator.is_valid(record | {"run": 5})
        assert validator.is_valid(record | {"added_later": 5})
