"""The examples of docs/protocol-ctl.md say what the parser says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bridge.cst.ctl import CtlParser
from bridge.cst.ctl_events import (
    ArgumentPiece,
    CallEnd,
    CallStart,
    Event,
    Fault,
    Limits,
    Stop,
    Text,
)
from device_tools.catalog import PHONE_TOOLS

PAGE = (Path(__file__).parents[3] / "docs" / "protocol-ctl.md").read_text("utf-8")
EXAMPLES = re.findall(
    r"^(`{3,})(ctl|ctl-heredoc)\n(.*?)^\1\n```events\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL
)
NAMES = [tool.name for tool in PHONE_TOOLS]


def told(event: Event) -> str:
    """One event as the page writes it."""
    match event:
        case Text(data):
            return f"text {json.dumps(data.decode())}"
        case CallStart(id_, name):
            return f"opened {id_} {name}"
        case ArgumentPiece(_, key, data):
            return f"argument {key} {json.dumps(data.decode())}"
        case CallEnd(id_, name):
            return f"ready {id_} {name}"
        case Fault(kind):
            return f"error {kind.value}"
        case Stop():
            return "stop"


def test_the_page_has_examples() -> None:
    """None of them is lost to a typing error in its fence."""
    assert len(EXAMPLES) == PAGE.count("```events\n") == 9


@pytest.mark.parametrize(("mode", "source", "wanted"), [example[1:] for example in EXAMPLES])
def test_an_example_means_what_the_page_says(mode: str, source: str, wanted: str) -> None:
    """The events under each example are those of the parser."""
    parser = CtlParser(NAMES, length_prefix=mode == "ctl")
    events = parser.feed(source.encode()) + parser.close(clean=True)
    assert "".join(f"{told(event)}\n" for event in events) == wanted


def test_the_bounds_of_the_page_are_those_of_the_parser() -> None:
    """Line, argument and counts."""
    table = re.findall(r"^\| (?:a `call`|the value|arguments|calls)[^|]*\| ([^|]+) \|$", PAGE, re.M)
    assert table == ["8 KiB", "1 MiB", "64", "64"]
    assert Limits() == Limits(8 * 1024, 1024 * 1024, 64, 64)
