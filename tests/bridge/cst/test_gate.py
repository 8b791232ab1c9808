"""The finish-reason gate: its table, the carriers that obey it, and the page that shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.conversation.frames import CallReady, CallRefused, ContractError, Frame
from bridge.conversation.stream import (
    CallClosed,
    CallDelta,
    Finish,
    FinishReason,
    StreamEvent,
    TextDelta,
    Usage,
)
from bridge.cst.carriers import CARRIERS
from bridge.cst.gate import ERRORS, TABLE, CallState, Ending, ending
from device_tools.catalog import PHONE_TOOLS

PAGE = (Path(__file__).parents[3] / "docs" / "finish-reasons.md").read_text("utf-8")
CAP = 100

# what the design allows, written out by hand; everything else must not run
RUNS = {
    ("native-eos", "whole", "tool_calls"),
    ("native-eos", "empty", "tool_calls"),
    ("native-inc", "whole", "tool_calls"),
    ("native-inc", "empty", "tool_calls"),
    ("ctl", "bare_end", "stop"),
    ("ctl-heredoc", "bare_end", "stop"),
    ("xml", "whole", "stop"),
    *(
        (mode, "whole", word)
        for mode in ("ctl", "ctl-heredoc")
        for word in (
            "tool_calls",
            "stop",
            "length",
            "content_filter",
            "pause",
            "unknown",
            "missing",
        )
    ),
}
CELLS = [(mode, state, end) for mode, states in TABLE.items() for state in states for end in Ending]
NATIVE_LAST = {
    CallState.WHOLE: '{"x":1,"y":2}',
    CallState.EMPTY: "",
    CallState.BROKEN: '{"x":1,"y":',
}
TEXT_LAST = {CallState.WHOLE: "end\n", CallState.BARE_END: "end", CallState.BROKEN: "arg y 2"}


def test_the_table_is_complete_and_allows_only_what_the_design_allows() -> None:
    """Every mode has every end for each of its states; the cells that run are the known ones."""
    assert set(TABLE) == {"native-eos", "native-inc", "ctl", "ctl-heredoc", "xml"}
    assert {(m, s.value, e.value) for m, s, e in CELLS if TABLE[m][s][e].runs} == RUNS
    assert len(CELLS) == 5 * 3 * 7 - 7  # xml has two states
    for mode, state, end in CELLS:
        verdict = TABLE[mode][state][end]
        assert verdict.runs == (verdict.error == "")
        assert verdict.runs or verdict.error in {*ERRORS, "unexpected_line"}


def stream(mode: str, state: CallState) -> list[StreamEvent]:
    """Two calls: the first whole and followed by the last one, which is in ``state``."""
    if mode.startswith("native"):
        return [
            CallDelta("0", "a", "observe_screen", "{}"),
            CallDelta("1", "b", "tap", NATIVE_LAST[state]),
        ]
    first = "call a observe_screen\nend\n"
    return [TextDelta(f"{first}call b tap\narg x <<E\n1\nE\narg y <<E\n2\nE\n{TEXT_LAST[state]}")]


def closing(end: Ending) -> tuple[Finish | None, int]:
    """The server's word and the output tokens; a LENGTH that was disguised comes in its test."""
    return (None if end is Ending.MISSING else Finish(FinishReason(end.value))), CAP - 1


def outcome(mode: str, events: list[StreamEvent], finish: Finish | None, used: int) -> list[Frame]:
    reader = CARRIERS[mode].reader(PHONE_TOOLS, CAP)
    frames = [frame for event in events for frame in reader.feed(event)]
    frames += reader.feed(Usage(1, used))
    return frames + reader.close(finish)


@pytest.mark.parametrize(
    ("mode", "state", "end"), [cell for cell in CELLS if cell[0] in CARRIERS and cell[0] != "xml"]
)
def test_each_carrier_does_what_the_table_says(mode: str, state: CallState, end: Ending) -> None:
    """Cell by cell: what runs, and which error each other call gets."""
    frames = outcome(mode, stream(mode, state), *closing(end))
    ready = [frame.call.id for frame in frames if isinstance(frame, CallReady)]
    refused = {f.call.id: f.error for f in frames if isinstance(f, CallRefused)}
    faults = [frame.kind.value for frame in frames if isinstance(frame, ContractError)]
    verdict = TABLE[mode][state][end]
    waiting = ["a", "b"] if mode == "native-eos" else ["b"]
    confirmed = [name for name in ("a", "b") if name not in waiting]
    assert ready == confirmed + (waiting if verdict.runs else [])
    if mode.startswith("native"):
        assert refused == ({} if verdict.runs else dict.fromkeys(waiting, verdict.error))
    else:
        assert faults == ([] if verdict.runs else [verdict.error])


@pytest.mark.parametrize(
    ("mode", "state", "end"), [cell for cell in CELLS if cell[0].startswith("native")]
)
def test_a_close_of_the_wire_confirms_a_whole_call_of_native_inc_and_nothing_else(
    mode: str, state: CallState, end: Ending
) -> None:
    """A closed whole call has run before the end; an empty or broken one, and all of native-eos,
    still wait for it."""
    events = [*stream(mode, state), CallClosed("1")]
    frames = outcome(mode, events, *closing(end))
    ready = [frame.call.id for frame in frames if isinstance(frame, CallReady)]
    refused = {f.call.id: f.error for f in frames if isinstance(f, CallRefused)}
    verdict = TABLE[mode][state][end]
    waiting = ["a", "b"] if mode == "native-eos" else ["b"] if state is not CallState.WHOLE else []
    confirmed = [name for name in ("a", "b") if name not in waiting]
    assert ready == confirmed + (waiting if verdict.runs else [])
    assert refused == ({} if verdict.runs else dict.fromkeys(waiting, verdict.error))


@pytest.mark.parametrize("mode", ["native-eos", "native-inc", "ctl", "ctl-heredoc"])
@pytest.mark.parametrize("reason", [FinishReason.STOP, FinishReason.TOOL_CALLS])
def test_output_tokens_at_the_cap_count_as_length(mode: str, reason: FinishReason) -> None:
    """Whatever the server says: the last call of a reply that used all its tokens is cut."""
    state = CallState.WHOLE if mode.startswith("native") else CallState.BARE_END
    frames = outcome(mode, stream(mode, state), Finish(reason), CAP)
    assert "b" not in [frame.call.id for frame in frames if isinstance(frame, CallReady)]


@pytest.mark.parametrize("reason", [FinishReason.CONTENT_FILTER, FinishReason.UNKNOWN])
def test_the_cap_does_not_hide_a_worse_end(reason: FinishReason) -> None:
    """A filter or an unknown word stays what it is; without a count nothing is inferred."""
    assert ending(Finish(reason), CAP, CAP) is Ending(reason.value)
    assert ending(Finish(FinishReason.STOP), None, CAP) is Ending.STOP
    assert ending(Finish(FinishReason.STOP), CAP, None) is Ending.STOP
    assert ending(None, CAP, CAP) is Ending.MISSING


def rendered() -> str:
    head = ["mode", "last call", *(f"`{end.value}`" for end in Ending)]
    rows = [head, ["---"] * len(head)]
    for mode, states in TABLE.items():
        for state, verdicts in states.items():
            cells = [verdicts[end].error or "**runs**" for end in Ending]
            rows.append([f"`{mode}`", f"`{state.value}`", *cells])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def test_the_page_shows_the_table() -> None:
    """docs/finish-reasons.md holds the table of the code and every error word with its text."""
    assert rendered() in PAGE, f"put this into the page:\n{rendered()}"
    for word, text in ERRORS.items():
        assert f"| `{word}` | {text} |" in PAGE
