"""Result frames: exact counts, cuts between characters."""

from __future__ import annotations

import re

import pytest

from bridge.conversation.messages import CallResult, ToolAnswers, ToolCall, UserMessage
from bridge.cst.carriers import CARRIERS
from bridge.cst.results import CST_TOOL_OUT_CAP, cut, result_frame
from device_tools.result import done


@pytest.mark.parametrize("text", ["", "ok", "two\nlines\n", "é😀", "x" * 40_000, "result a\nend\n"])
def test_the_byte_count_is_exact(text: str) -> None:
    """nbytes is the length of what follows, also after a cut and for any characters."""
    data = result_frame("c1", 75, text).encode()
    head = re.match(rb"result c1 exit=75 (\d+)\n", data)
    assert head
    assert data[head.end() + int(head[1]) :] == b"\nend\n"


def test_output_at_the_cap_is_whole_and_above_it_is_cut() -> None:
    """The cap is a bound on what is sent, the notice included."""
    assert cut("x" * CST_TOOL_OUT_CAP) == b"x" * CST_TOOL_OUT_CAP
    data = cut("x" * (CST_TOOL_OUT_CAP + 1))
    assert b"bytes left out here" in data
    assert len(data) <= CST_TOOL_OUT_CAP


def test_head_and_tail_stand_in_the_ratio_of_60_to_40() -> None:
    """What a reader needs most: the beginning, and the end with the error message."""
    head, _, tail = cut("a" * 50_000 + "z" * 50_000).partition(b"\n[...")
    assert len(head) / CST_TOOL_OUT_CAP == pytest.approx(0.6, abs=0.01)
    assert tail.count(b"z") / CST_TOOL_OUT_CAP == pytest.approx(0.4, abs=0.01)


@pytest.mark.parametrize("shift", range(4))
@pytest.mark.parametrize("character", ["é", "你", "😀"])
def test_a_cut_never_splits_a_character(character: str, shift: int) -> None:
    """At any alignment both parts are valid UTF-8 made of the text's own characters."""
    text = cut("x" * shift + character * 20_000).decode()
    head, _, rest = text.partition("\n[...")
    _, _, tail = rest.partition("...]\n")
    assert head == "x" * shift + character * (len(head) - shift)
    assert tail == character * len(tail)


@pytest.mark.parametrize("mode", CARRIERS)
def test_calls_with_lost_characters_are_flagged_and_unchanged(mode: str) -> None:
    """U+FFFD anywhere in the arguments is told beside the results, the runtime's note behind it."""
    damaged = ToolCall("c1", "shapes", {"a": [{"k": "caf\ufffd"}]})
    results = [CallResult(damaged, done("ok")), CallResult(ToolCall("c2", "tap", {}), done("ok"))]
    message = CARRIERS[mode].results(results, "Last.")
    assert isinstance(message, ToolAnswers | UserMessage)
    told = message.note if isinstance(message, ToolAnswers) else message.text
    assert told.endswith(
        "The arguments of c1 held U+FFFD, which stands for a character that was lost.\nLast."
        + ("" if isinstance(message, ToolAnswers) else "\n")
    )
    assert damaged.arguments == {"a": [{"k": "caf\ufffd"}]}
    assert "U+FFFD" not in str(CARRIERS[mode].results(results[1:]))
