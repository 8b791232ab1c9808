"""The native carriers against the deviations of real servers and an independent reader."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.conversation.frames import (
    ArgumentConfirmed,
    CallOpened,
    CallReady,
    CallRefused,
    ContractError,
    Frame,
    TextConfirmed,
)
from bridge.conversation.messages import CallResult, ToolAnswers, ToolCall
from bridge.conversation.stream import (
    CallDelta,
    Citation,
    Finish,
    FinishReason,
    HostedTool,
    OpaqueItem,
    ReasoningDelta,
    TextDelta,
)
from bridge.cst.carriers import CARRIERS
from bridge.cst.ctl_events import Limits
from bridge.cst.native import NativeReader
from device_tools.catalog import PHONE_TOOLS
from device_tools.result import Image, done
from tests.bridge.cst import native_reference as reference
from tests.bridge.cst.native_corpus import (
    CASES,
    CORPUS,
    F1,
    G2,
    Case,
    close,
    entry,
    neutral,
)

MODES = ("native-eos", "native-inc")
TOOL_END = Finish(FinishReason.TOOL_CALLS, "tool_calls")


def reader(mode: str) -> Any:
    return CARRIERS[mode].reader(PHONE_TOOLS, None)


def played(mode: str, entries: list[dict[str, Any]], finish: Finish | None) -> list[Frame]:
    one = reader(mode)
    frames = [frame for each in neutral(entries) for frame in one.feed(each)]
    return [*frames, *one.close(finish)]


def said(frames: list[Frame]) -> list[str]:
    return [
        f"{frame.call.name} {json.dumps(frame.call.arguments)}"
        for frame in frames
        if isinstance(frame, CallReady)
    ]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_deviations_of_servers(case: Case, mode: str) -> None:
    """Each known deviation runs exactly what it should; every other call is answered."""
    frames = played(mode, case.entries, TOOL_END)
    assert said(frames) == case.runs(mode)
    faults = [frame.kind.value for frame in frames if isinstance(frame, ContractError)]
    # to native-eos a late fragment is only a call that is broken, unless the wire closed it
    expected = [] if case.fault == "bad_arg" and mode == "native-eos" else case.fault.split()[-1:]
    assert faults == expected
    ended = [f.call.id for f in frames if isinstance(f, CallReady | CallRefused)]
    slots, _ = reference.attributed(case.entries)
    assert len(ended) == len(set(ended)) == len(slots)


def test_a_closed_call_is_confirmed_at_its_close() -> None:
    """In native-inc with the close itself, before any reason; in native-eos never before."""
    events = neutral([entry(0, "a", "f", '{"p":1}'), close(0)])
    for mode, count in (("native-inc", 1), ("native-eos", 0)):
        one = reader(mode)
        assert said(one.feed(events[0])) == []
        assert said(one.feed(events[1])) == [F1][:count]
        assert said(one.close(None)) == []


def test_a_call_without_arguments_waits_for_the_reason_though_it_is_closed() -> None:
    """An explicit close is no evidence that nothing was lost; only the reason makes it {}."""
    events = neutral([entry(0, "a", "f"), close(0), entry(1, "b", "g", '{"q":2}'), close(1)])
    one = reader("native-inc")
    assert [frame for event in events for frame in one.feed(event) if said([frame])] == []
    assert said(one.close(TOOL_END)) == ["f {}", G2]


@pytest.mark.parametrize("mode", MODES)
def test_other_events_confirm_nothing(mode: str) -> None:
    """Reasoning, opaque items, hosted tools and citations leave an open call as it is."""
    one = reader(mode)
    one.feed(CallDelta("0", "a", "f", '{"p":1}'))
    for event in (
        ReasoningDelta('{"p":2}'),
        OpaqueItem({"type": "function_call", "arguments": "{}"}),
        HostedTool("s", "web_search", ended=True),
        Citation("https://example.com"),
    ):
        assert one.feed(event) == []
    assert said(one.close(TOOL_END)) == [F1]


# --- the three properties, on every prefix, against the independent reader -----------------


ENDS = ("tool_calls", "stop", "length", "content_filter", "unknown", None)


@pytest.mark.parametrize("mode", MODES)
def test_every_prefix_keeps_the_three_properties(mode: str) -> None:
    """S1: nothing incomplete is executable. S2: what is executable is the whole stream's call.
    S3: their number never falls. And each end adds only what the independent reader adds."""
    for entries in CORPUS:
        one = reader(mode)
        live: list[tuple[str, dict[str, Any]]] = []
        prefixes = []
        for position, delta in enumerate(neutral(entries)):
            for frame in one.feed(delta):
                if isinstance(frame, CallReady):
                    live.append((frame.call.name, dict(frame.call.arguments)))
            prefixes.append(list(live))
            assert live == reference.executed(entries[: position + 1], mode, None), entries
        for end in ENDS:
            whole = reference.executed(entries, mode, end)
            finish = Finish(FinishReason(end)) if end else None
            got = [
                (frame.call.name, dict(frame.call.arguments))
                for frame in played(mode, entries, finish)
                if isinstance(frame, CallReady)
            ]
            assert got == whole, (entries, end)
            for prefix in prefixes:
                assert prefix == whole[: len(prefix)], entries


# --- bounds, ids, answers ---------------------------------------------------------------------


def test_an_open_call_is_shown_as_it_grows() -> None:
    """Name and id first, then pieces of the JSON text, then the call with its exact text."""
    assert played("native-inc", CASES[0].entries, TOOL_END) == [
        CallOpened("a", "f"),
        ArgumentConfirmed("a", "", '{"p"'),
        ArgumentConfirmed("a", "", ":1}"),
        CallReady(ToolCall("a", "f", {"p": 1}, '{"p":1}')),
    ]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("size", "fits"), [(8, True), (9, False)])
def test_the_bound_of_arguments_holds_to_the_byte(mode: str, size: int, fits: bool) -> None:
    """One byte over the bound is a contract error, and the call is answered."""
    text = '{"a":' + "1" * (size - 6) + "}"
    one = NativeReader(mode, mode == "native-inc", None, Limits(argument=8))
    frames = [frame for char in text for frame in one.feed(CallDelta("0", "a", "f", char))]
    frames += one.close(TOOL_END)
    assert bool(said(frames)) == fits
    assert isinstance(frames[-1], CallReady if fits else ContractError)
    assert any(isinstance(frame, CallRefused) for frame in frames) != fits


def test_calls_over_the_bound_are_a_contract_error() -> None:
    """The 65th call of a reply breaks it; the 64 before it have run but the last."""
    entries = [entry(n, f"i{n}", "f", "{}") for n in range(65)]
    frames = played("native-inc", entries, TOOL_END)
    assert len(said(frames)) == 63
    assert isinstance(frames[-1], ContractError) and frames[-1].kind.value == "limit"


def test_odd_and_missing_ids_become_local_ones() -> None:
    """Each call has an id of its own that is safe to show, and no two share one."""
    entries = [
        entry(0, "call_2", "f", "{}"),
        entry(1, None, "f", "{}"),
        entry(2, "a\nb", "f", "{}"),
        entry(3, "call_2", "f", "{}"),
    ]
    frames = played("native-inc", entries, TOOL_END)
    ids = [f.call.id for f in frames if isinstance(f, CallReady | CallRefused)]
    assert ids[0] == "call_2" and len(set(ids)) == 4
    assert all(each.isprintable() and " " not in each for each in ids)


def test_a_character_split_over_two_chunks_is_whole_in_the_call() -> None:
    """JSON escapes can part the halves of a surrogate pair; in the arguments they meet again."""
    entries = [entry(0, "a", "f", '{"p":"\ud83d'), entry(0, None, None, '\ude00"}')]
    assert said(played("native-eos", entries, TOOL_END)) == ['f {"p": "\\ud83d\\ude00"}']


def test_answers_carry_exit_codes_pictures_and_the_note() -> None:
    """One answer per call in order, cut like result frames; the reply is replayed with calls."""
    carrier = CARRIERS["native-eos"]
    call = ToolCall("a", "f", {"p": 1})
    picture = Image(b"x", "image/jpeg", 1, 1, "screenshot")
    answers = carrier.results(
        [CallResult(call, done("long" * 20_000)), CallResult(call, done("ok", images=(picture,)))],
        "note",
    )
    assert isinstance(answers, ToolAnswers)
    assert answers.note == "note"
    assert answers.answers[0].text.startswith("exit=0\nlonglong")
    assert len(answers.answers[0].text) < 33_000
    assert answers.answers[1].images == (picture,)
    assert carrier.reply("", [call]).calls == (call,)
    assert carrier.reply("", []).text


def test_text_beside_calls_is_text() -> None:
    """Frames written as text are not calls in a native mode."""
    one = reader("native-inc")
    text = "call c1 observe_screen\nend\n"
    assert one.feed(TextDelta(text)) == [TextConfirmed(text)]
    assert one.close(Finish(FinishReason.STOP)) == []
    assert one.replay_text == text
