"""Experiment C on a small seed: what the five modes promise holds at every cut."""

from __future__ import annotations

import pytest

from bridge.conversation.frames import CallReady, Frame
from bridge.conversation.stream import Finish, FinishReason, TextDelta
from bridge.cst.bench.baselines import baselines
from bridge.cst.bench.conversations import Call, Reply, replies
from bridge.cst.bench.encodings import CLOSING, encode
from bridge.cst.bench.positions import curves, first_calls
from bridge.cst.bench.subjects import BROKEN, ENDINGS, executed, subjects
from bridge.cst.bench.truncation import PendingRow, TruncationRow, truncate
from bridge.cst.carriers import CARRIERS

OURS = {*CARRIERS, CLOSING}
MODES = {subject.name: subject for subject in subjects()}
EXAMPLE = Reply(
    "I type.\n", (Call("type_text", {"text": "a\nb\n", "index": 3}), Call("tap", {"x": 1, "y": 2}))
)


Rows = list[TruncationRow | PendingRow]


@pytest.fixture(scope="module")
def rows() -> Rows:
    return truncate(replies(10), 3)


@pytest.fixture
def executed_rows(rows: Rows) -> list[TruncationRow]:
    return [row for row in rows if isinstance(row, TruncationRow)]


def test_nothing_wrong_executes_under_any_honest_cut(
    executed_rows: list[TruncationRow],
) -> None:
    """S1 and S2 measured: with a truthful end, no mode of ours runs a call the reply has not."""
    honest = [r for r in executed_rows if r.mode in OURS and r.ending != "lying"]
    assert len(honest) == len(OURS) * 2 * 2
    assert {(row.wrong, row.wrong_valid) for row in honest} == {(0, 0)}


def test_text_modes_execute_nothing_wrong_when_the_reason_lies(
    executed_rows: list[TruncationRow],
) -> None:
    """Their own syntax is the evidence, so a false stop forges nothing."""
    lying = [
        r for r in executed_rows if r.mode in {"ctl", "ctl-heredoc", "xml"} and r.ending == "lying"
    ]
    assert {(row.wrong, row.wrong_valid) for row in lying} == {(0, 0)}


def test_a_lying_reason_can_forge_only_a_native_call_without_arguments() -> None:
    """The known limit of native modes: a tool reason behind a bare name is read as {}."""
    for mode in ("native-eos", "native-inc", CLOSING):
        encoding = encode(EXAMPLE, mode)
        forged = {
            (call.name, tuple(call.arguments))
            for at in range(encoding.size)
            for number, call in enumerate(executed(MODES[mode], encoding, at, ENDINGS["lying"]))
            if dict(call.arguments) != dict(EXAMPLE.calls[number].arguments)
        }
        assert forged == {("type_text", ()), ("tap", ())}


@pytest.mark.parametrize("mode", sorted(OURS))
def test_executable_calls_are_a_prefix_that_never_shrinks(mode: str) -> None:
    """S3 at every byte of one reply when the connection breaks."""
    encoding = encode(EXAMPLE, mode)
    counts = [len(executed(MODES[mode], encoding, at, BROKEN)) for at in range(encoding.size + 1)]
    assert counts == sorted(counts)


def test_modes_that_wait_for_the_end_lose_every_call_of_a_cut_reply(
    executed_rows: list[TruncationRow],
) -> None:
    """The price of native-eos and xml, and of json-whole; frames that closed are not lost."""
    executable = {
        row.mode: row.executable
        for row in executed_rows
        if (row.cuts, row.ending) == ("content", "length")
    }
    assert {executable[mode] for mode in ("native-eos", "xml", "json-whole")} == {0}
    assert 0 < executable["native-inc"] < executable["ctl-heredoc"] == executable["ctl"]
    assert executable["native-inc"] < executable[CLOSING] == executable["ctl"]


def test_sums_agree_and_all_modes_saw_the_same_content(executed_rows: list[TruncationRow]) -> None:
    """At cuts of the content the number of whole calls does not depend on the mode."""
    content = [row for row in executed_rows if row.cuts == "content"]
    assert len({row.whole for row in content}) == 1
    assert all(row.executable + row.lost >= row.whole for row in executed_rows)
    assert all(row.wrong_valid <= row.wrong for row in executed_rows)


def test_pending_of_frames_is_bounded_by_a_line(rows: Rows) -> None:
    """Text modes that close their calls hold back no more than one header line."""
    held = {
        row.mode: row.held_max
        for row in rows
        if isinstance(row, PendingRow) and row.cuts == "content"
    }
    assert max(held["ctl"], held["ctl-heredoc"]) < 200 < held["json-whole"]


def test_the_first_of_ten_calls() -> None:
    """Frames and json-object execute early; whatever waits for the end needs 100 %."""
    first = {row.mode: row.mean for row in first_calls(replies(10))}
    assert {first[mode] for mode in ("native-eos", "xml", "json-whole")} == {100.0}
    assert max(first[mode] for mode in ("ctl", "ctl-heredoc", "native-inc", "json-object")) < 50


def test_curves_end_with_all_ten_calls() -> None:
    """A whole reply with its normal end executes everything in every mode."""
    rows = curves(replies(10), step=25)
    assert {row.mode for row in rows} == set(MODES)
    assert {(row.percent[-1], row.executable[-1]) for row in rows} == {(100, 10)}


def ready(frames: list[Frame]) -> list[str]:
    return [frame.call.name for frame in frames if isinstance(frame, CallReady)]


def test_json_object_executes_on_the_closing_brace() -> None:
    """Braces inside strings and split deltas do not confuse it; half an object stays."""
    reader = baselines()["json-object"]()
    assert ready(reader.feed(TextDelta('{"name": "tap", "arguments": {"x": "}"'))) == []
    assert ready(reader.feed(TextDelta("}"))) == []
    assert ready(reader.feed(TextDelta("}"))) == ["tap"]
    assert ready(reader.feed(TextDelta('\n{"name": "tap", "arguments": {}}\n{"na'))) == ["tap"]
    assert ready(reader.close(Finish(FinishReason.STOP))) == []


def test_json_whole_needs_the_whole_array_and_a_normal_end() -> None:
    """Nothing in the stream, nothing after a cut, all at a clean end."""
    for text, reason, names in (
        ('[{"name": "tap", "arguments": {}}]', FinishReason.STOP, ["tap"]),
        ('[{"name": "tap", "arguments": {}}]', FinishReason.LENGTH, []),
        ('[{"name": "tap", "arguments": {}}', FinishReason.STOP, []),
    ):
        reader = baselines()["json-whole"]()
        assert ready(reader.feed(TextDelta(text))) == []
        assert ready(reader.close(Finish(reason))) == names
