"""The examples of the protocol pages say what the carriers say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bridge.conversation.frames import (
    ArgumentConfirmed,
    CallOpened,
    CallReady,
    CallRefused,
    ContractError,
    Frame,
    StopReading,
    TextConfirmed,
)
from bridge.conversation.stream import Finish, FinishReason, StreamEvent, TextDelta
from bridge.cst.carriers import CARRIERS
from bridge.cst.ctl_events import Limits
from device_tools.catalog import PHONE_TOOLS
from tests.bridge.cst.corpus import HANDWRITTEN
from tests.bridge.cst.feeding import joined
from tests.bridge.cst.native_corpus import neutral

DOCS = Path(__file__).parents[3] / "docs"
PAGES = {
    name: (DOCS / f"protocol-{name}.md").read_text("utf-8") for name in ("ctl", "xml", "native")
}
FOUND = re.compile(
    r"^(`{3,})(ctl|ctl-heredoc|xml|native-eos|native-inc)\n(.*?)^\1\n```events\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
EXAMPLES = [
    pytest.param(mode, source, wanted, id=f"{name} {number}")
    for name, page in PAGES.items()
    for number, (_, mode, source, wanted) in enumerate(FOUND.findall(page))
]


def told(frame: Frame) -> str:
    """One event as the pages write it."""
    match frame:
        case TextConfirmed(text):
            return f"text {json.dumps(text)}"
        case CallOpened(id_, name):
            return f"opened {id_} {name}"
        case ArgumentConfirmed(_, key, text):
            return " ".join(part for part in ("argument", key, json.dumps(text)) if part)
        case CallReady(call):
            return f"ready {call.id} {call.name}"
        case CallRefused(call, error):
            return f"refused {call.id} {call.name} {error}"
        case ContractError(kind):
            return f"error {kind.value}"
        case StopReading():
            return "stop"


def played(mode: str, source: str) -> tuple[list[StreamEvent], Finish | None]:
    """The events of an example, and its end."""
    if not mode.startswith("native"):
        return [TextDelta(source)], Finish(FinishReason.STOP)
    *entries, end = source.splitlines()
    word = end.removeprefix("end ")
    finish = None if word == "missing" else Finish(FinishReason(word))
    return neutral([json.loads(each) for each in entries]), finish


@pytest.mark.parametrize(("name", "count"), [("ctl", 11), ("xml", 6), ("native", 7)])
def test_the_pages_have_examples(name: str, count: int) -> None:
    """None of them is lost to a typing error in its fence."""
    assert len(FOUND.findall(PAGES[name])) == PAGES[name].count("```events\n") == count


@pytest.mark.parametrize(("mode", "source", "wanted"), EXAMPLES)
def test_an_example_means_what_the_page_says(mode: str, source: str, wanted: str) -> None:
    """The events under each example are those of the carrier."""
    reader = CARRIERS[mode].reader(PHONE_TOOLS, None)
    events, finish = played(mode, source)
    frames = joined([f for event in events for f in reader.feed(event)] + reader.close(finish))
    assert "".join(f"{told(frame)}\n" for frame in frames) == wanted


def test_the_odd_replies_of_the_page_are_streams_of_the_corpus() -> None:
    """Each row's stream exists and is said to end as it is tested to end."""
    rows = re.findall(r"^\|.*\| `([^`]+)`: (\d+), (\S+) \|$", PAGES["ctl"], re.MULTILINE)
    known = {each.name: (str(each.calls), each.end or "-") for each in HANDWRITTEN}
    assert len(rows) == 26
    for name, calls, end in rows:
        assert known.get(name) == (calls, end), name


def test_the_bounds_of_the_page_are_those_of_the_parser() -> None:
    """Line, argument and counts."""
    row = r"^\| (?:a `call`|the value|arguments|calls)[^|]*\| ([^|]+) \|$"
    assert re.findall(row, PAGES["ctl"], re.M) == ["8 KiB", "1 MiB", "64", "64"]
    assert Limits() == Limits(8 * 1024, 1024 * 1024, 64, 64)
