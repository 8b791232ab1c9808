"""Result frames: exact counts, cuts between characters."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.conversation.messages import CallResult, ToolAnswers, ToolCall, UserMessage
from bridge.cst.carriers import CARRIERS
from bridge.cst.results import CST_TOOL_OUT_CAP, cut, result_frame, results_message
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


def read_frames(message: bytes) -> list[tuple[str, int, bytes]]:
    """Id, exit code and body of each frame, by the declared counts alone."""
    found, at = [], 0
    while at < len(message):
        head = re.compile(rb"result (\S+) exit=(\d+) (\d+)\n").match(message, at)
        assert head is not None
        stop = head.end() + int(head[3])
        found.append((head[1].decode(), int(head[2]), message[head.end() : stop]))
        assert message[stop : stop + 5] == b"\nend\n"
        at = stop + 5
    return found


OUTPUTS = st.builds(
    lambda part, times, end: part * times + end,
    st.text(min_size=1, max_size=8),
    st.integers(0, 9000),
    st.text(max_size=3),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(OUTPUTS, min_size=1, max_size=3))
def test_frames_are_read_back_by_their_counts_whatever_was_cut(outputs: list[str]) -> None:
    """Each declared count is exact after the cut, and what is kept is head and tail of the
    output in the ratio of 60 to 40, whole characters only, with the true size in between."""
    results = [CallResult(ToolCall(f"c{n}", "t", {}), done(text)) for n, text in enumerate(outputs)]
    read = read_frames(results_message(results).text.encode())
    assert [id_ for id_, _, _ in read] == [f"c{n}" for n in range(len(outputs))]
    for text, (_, _, body) in zip(outputs, read, strict=True):
        data = text.encode("utf-8", "replace")
        if len(data) <= CST_TOOL_OUT_CAP:
            assert body == data
            continue
        body.decode()
        notice = b"\n[... about %d of %d bytes left out here ...]\n"
        shown = notice % (len(data) - CST_TOOL_OUT_CAP, len(data))
        head, tail = body.split(shown)
        room = CST_TOOL_OUT_CAP - len(shown)
        assert data.startswith(head) and data.endswith(tail)
        assert 0 <= room * 6 // 10 - len(head) < 4
        assert 0 <= room - room * 6 // 10 - len(tail) < 4
