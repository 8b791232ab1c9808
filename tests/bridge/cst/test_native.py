"""The native carriers against the deviations of real servers and an independent reader."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from dataclasses import dataclass, field
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
    CallClosed,
    CallDelta,
    Citation,
    Finish,
    FinishReason,
    HostedTool,
    OpaqueItem,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
)
from bridge.cst.carriers import CARRIERS
from bridge.cst.ctl_events import Limits
from bridge.cst.native import NativeReader
from bridge.errors import ProviderError
from bridge.providers.chat_answer import ChatAnswer
from bridge.providers.chat_calls import call_deltas
from bridge.providers.sse import SseDecoder
from bridge.providers.wire import Peer
from device_tools.catalog import PHONE_TOOLS
from device_tools.result import Image, done
from tests.bridge.cst import native_reference as reference
from tests.doubles.provider_server import DONE, chat_chunk
from tests.shared_data import shared_data

MODES = ("native-eos", "native-inc")
TOOL_END = Finish(FinishReason.TOOL_CALLS, "tool_calls")


def entry(index: Any = None, id: Any = None, name: Any = None, arguments: Any = None) -> Any:
    """One wire entry; None leaves the field out."""
    function = {"name": name, "arguments": arguments}
    whole = {
        "index": index,
        "id": id,
        "function": {key: value for key, value in function.items() if value is not None},
    }
    return {key: value for key, value in whole.items() if value is not None}


def close(index: Any, arguments: str | None = None) -> Any:
    """The wire ends the call at the index; ``arguments`` where it repeats them."""
    return {"close": index} | ({} if arguments is None else {"arguments": arguments})


def neutral(entries: list[dict[str, Any]]) -> list[StreamEvent]:
    """One neutral event per entry."""
    events: list[StreamEvent] = []
    for each in entries:
        if "close" in each:
            key = "" if each["close"] is None else str(each["close"])
            events.append(CallClosed(key, each.get("arguments")))
        else:
            events += call_deltas([each], null_words=True)
    return events


@dataclass(frozen=True)
class Case:
    """``eos`` and ``inc``: what runs as "name arguments"; ``fault``: kind of a contract error."""

    what: str
    entries: list[dict[str, Any]]
    eos: list[str] = field(default_factory=list)
    inc: list[str] | None = None
    fault: str = ""

    def runs(self, mode: str) -> list[str]:
        return self.eos if mode == "native-eos" or self.inc is None else self.inc


F1, G2 = 'f {"p": 1}', 'g {"q": 2}'
CASES = [
    Case("one call", [entry(0, "a", "f", '{"p"'), entry(0, None, None, ":1}")], [F1]),
    Case(
        "no index, ids",
        [entry(None, "a", "f", '{"p":1}'), entry(None, "b", "g", '{"q":2}')],
        [F1, G2],
    ),
    Case(
        "no index, continued without id",
        [
            entry(None, "a", "f", ""),
            entry(None, None, None, '{"p":1}'),
            entry(None, "b", "g"),
            entry(None, None, None, '{"q":2}'),
        ],
        [F1, G2],
    ),
    Case(
        "no index, two open calls, no id",
        [entry(None, "a", "f"), entry(None, "b", "g"), entry(None, None, None, "{}")],
        fault="bad_call",
    ),
    Case(
        "index always 0, new ids",
        [
            entry(0, "a", "f", '{"p":'),
            entry(0, None, None, "1}"),
            entry(0, "b", "g", '{"q":'),
            entry(0, None, None, "2}"),
        ],
        [F1, G2],
    ),
    Case(
        "index from 1, and with gaps",
        [entry(1, "a", "f", '{"p":1}'), entry(7, "b", "g", '{"q":2}')],
        [F1, G2],
    ),
    Case("index twice in a chunk", [entry(0, "a", "f"), entry(0, None, None, '{"p":1}')], [F1]),
    Case(
        "orphan fragment", [entry(0, "a", "f"), entry(1, None, None, '{"p":1}')], fault="bad_call"
    ),
    Case("fragment before any call", [entry(None, None, None, "{}")], fault="bad_call"),
    Case(
        "interleaved",
        [
            entry(0, "a", "f", '{"p"'),
            entry(1, "b", "g", '{"q"'),
            entry(0, None, None, ":1}"),
            entry(1, None, None, ":2}"),
        ],
        [F1, G2],
    ),
    Case(
        "late fragment for a closed index",
        [entry(0, "a", "f", '{"p":1}'), entry(1, "b", "g", '{"q":2}'), entry(0, None, None, " 2")],
        [],
        [F1],
        fault="bad_arg",
    ),
    Case(
        "late fragment that says nothing",
        [entry(0, "a", "f", '{"p":1}'), entry(1, "b", "g", '{"q":2}'), entry(0, "a", "f", "")],
        [F1, G2],
    ),
    Case("arguments as an object", [entry(0, "a", "f", {"p": 1})], [F1]),
    Case("object behind text", [entry(0, "a", "f", "{"), entry(0, None, None, {"p": 1})]),
    Case("text behind an object", [entry(0, "a", "f", {}), entry(0, None, None, '{"p":1}')]),
    Case("empty arguments", [entry(0, "a", "f", "")], ["f {}"]),
    Case("no arguments at all", [entry(0, "a", "f")], ["f {}"]),
    Case(
        "empty arguments, then a call: both wait for the end",
        [entry(0, "a", "f", ""), entry(1, "b", "g", '{"q":2}')],
        ["f {}", G2],
    ),
    Case("{} and the real object", [entry(0, "a", "f", "{}"), entry(0, None, None, '{"p":1}')]),
    Case("leading bytes lost", [entry(0, "a", "f", 'p":1}')]),
    Case("duplicated arguments", [entry(0, "a", "f", '{"p":1'), entry(0, "a", "f", '{"p":1}')]),
    Case("trailing text", [entry(0, "a", "f", '{"p":1} ok')]),
    Case("white space around", [entry(0, "a", "f", ' {"p":1}\n')], [F1]),
    Case("key twice", [entry(0, "a", "f", '{"p":1,"p":1}')]),
    Case("key twice inside", [entry(0, "a", "f", '{"p":{"a":1,"a":2}}')]),
    Case("NaN", [entry(0, "a", "f", '{"p":NaN}')]),
    Case("an array", [entry(0, "a", "f", "[1]")]),
    Case("a JSON text in a JSON text", [entry(0, "a", "f", '"{}"')]),
    Case("truncated", [entry(0, "a", "f", '{"p":1')]),
    Case("half a character", [entry(0, "a", "f", '{"p":"\\ud83d"}')]),
    Case(
        "id in every chunk",
        [entry(0, "a", "f", '{"p"'), entry(0, "a", None, ":"), entry(0, "a", None, "1}")],
        [F1],
    ),
    Case(
        "empty id and name", [entry(0, "a", "f", '{"p":'), entry(0, "", "", "1}")], [F1]
    ),
    Case(
        'the word "null" as id and name',
        [entry(0, "a", "f", '{"p":'), entry(0, "null", "null", "1}")],
        [F1],
    ),
    Case("name in every chunk", [entry(0, "a", "f", '{"p":'), entry(0, "a", "f", "1}")], [F1]),
    Case("name in pieces", [entry(0, "a", "f"), entry(0, None, "g", '{"p":1}')], ['fg {"p": 1}']),
    Case("name changes", [entry(0, "a", "f", '{"p":1'), entry(0, None, "g", "}")]),
    Case("no name", [entry(0, "a", None, '{"p":1}')]),
    Case("no id to the end", [entry(0, None, "f", '{"p":1}')], [F1]),
    Case("nothing but a name", [entry(None, None, "f", '{"p":1}')], [F1]),
    Case(
        "no ids, two indexes",
        [entry(0, None, "f", '{"p":1}'), entry(1, None, "g", '{"q":2}')],
        [F1, G2],
    ),
    Case(
        "the same id twice",
        [entry(0, "a", "f", '{"p":1}'), entry(1, "a", "g", '{"q":2}')],
        [],
        [F1],
    ),
    Case(
        "a broken call in the middle",
        [
            entry(0, "a", "f", '{"p":1}'),
            entry(1, "b", "f", '{"p"'),
            entry(2, "c", "g", '{"q":2}'),
        ],
        [],
        [F1, G2],
    ),
    Case("closed", [entry(0, "a", "f", '{"p":1}'), close(0)], [F1]),
    Case("closed with the arguments", [entry(0, "a", "f", '{"p":1}'), close(0, '{"p":1}')], [F1]),
    Case("arguments only with the close", [entry(0, "a", "f"), close(0, '{"p":1}')], [F1]),
    Case("arguments of the close differ", [entry(0, "a", "f", '{"p":1}'), close(0, '{"p":2}')]),
    Case("cut, but closed whole", [entry(0, "a", "f", '{"p":'), close(0, '{"p":1}')]),
    Case("closed broken", [entry(0, "a", "f", '{"p":'), close(0)]),
    Case("closed empty", [entry(0, "a", "f", ""), close(0)], ["f {}"]),
    Case("closed empty with empty arguments", [entry(0, "a", "f"), close(0, "")], ["f {}"]),
    Case(
        "closed twice", [entry(0, "a", "f", '{"p":1}'), close(0), close(0)], [], [F1], "bad_call"
    ),
    Case("closed where none began", [entry(0, "a", "f", "{}"), close(1)], fault="bad_call"),
    Case(
        "a fragment behind the close",
        [entry(0, "a", "f", "{}"), close(0), entry(0, None, None, '{"p":1}')],
        [],
        ["f {}"],
        "closed bad_arg",
    ),
    Case(
        "a fragment behind the close of an empty call",
        [entry(0, "a", "f"), close(0), entry(0, None, None, '{"p":1}')],
        fault="closed bad_arg",
    ),
    Case(
        "nothing new behind the close",
        [entry(0, "a", "f", '{"p":1}'), close(0), entry(0, "a", "f", "")],
        [F1],
    ),
    Case(
        "index 0 again behind the close",
        [entry(0, "a", "f", '{"p":1}'), close(0), entry(0, "b", "g", '{"q":2}'), close(0)],
        [F1, G2],
    ),
    Case(
        "one of two open calls at one index closes",
        [entry(0, "a", "f", '{"p"'), entry(0, "b", "g", '{"q":2}'), close(0)],
        fault="bad_call",
    ),
    Case(
        "interleaved and closed: everything waits",
        [
            entry(0, "a", "f", '{"p":'),
            entry(1, "b", "g", '{"q":2}'),
            close(1),
            entry(0, None, None, "1}"),
            close(0),
        ],
        [F1, G2],
    ),
    Case(
        "closed after the next began, with other arguments",
        [entry(0, "a", "f", '{"p":1}'), entry(1, "b", "g", '{"q":2}'), close(0, "{}")],
        [],
        [F1],
        "bad_arg",
    ),
    Case(
        "closed after the next began",
        [entry(0, "a", "f", '{"p":1}'), entry(1, "b", "g", '{"q":2}'), close(0), close(1)],
        [F1, G2],
    ),
]  # fmt: skip


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


def generated(count: int, seed: int) -> list[list[dict[str, Any]]]:
    pick = random.Random(seed)
    pieces = [
        "",
        "{",
        "}",
        "{}",
        '{"p":1}',
        '{"p":',
        "1}",
        '"p":',
        ',"p":2}',
        " ",
        "x",
        {"q": 2},
        {},
    ]
    return [
        [
            entry(
                pick.choice([None, 0, 0, 1, 2]),
                pick.choice([None, None, "a", "b", ""]),
                pick.choice([None, None, "f", "g", "null"]),
                pick.choice([None, *pieces]),
            )
            if pick.random() < 0.8
            else close(pick.choice([None, 0, 0, 1]), pick.choice([None, None, "{}", '{"p":1}']))
            for _ in range(pick.randint(1, 7))
        ]
        for _ in range(count)
    ]


def likely(count: int, seed: int) -> list[list[dict[str, Any]]]:
    """Mostly sane calls, cut into pieces, sometimes shuffled together."""
    pick = random.Random(seed)
    streams = []
    for _ in range(count):
        streams.append([])
        for number in range(pick.randint(1, 4)):
            index = pick.choice([number, number, 0, None])
            id_ = pick.choice([f"i{number}", f"i{number}", None, "i0"])
            text = json.dumps({"n": number, "t": "é" * pick.randint(0, 3)})
            text = pick.choice([text, text, text, text[:-1], "", "{}" + text])
            size = pick.randint(1, 9)
            parts = [text[at : at + size] for at in range(0, len(text), size)] or [""]
            entries = [entry(index, id_, pick.choice("fg"), parts[0])]
            entries += [entry(index, pick.choice([None, id_]), None, part) for part in parts[1:]]
            if pick.random() < 0.5:
                entries.append(close(index, pick.choice([None, None, text, "{}"])))
            at = len(streams[-1]) - pick.choice([0, 0, 0, 0, 1])
            streams[-1][max(at, 0) : max(at, 0)] = entries
    return streams


CORPUS = [case.entries for case in CASES] + generated(400, 7) + likely(200, 11)
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


def joined(frames: list[Frame]) -> list[Frame]:
    """Adjacent pieces of one text or one argument as one."""
    out: list[Frame] = []
    for frame in frames:
        last = out[-1] if out else None
        if isinstance(frame, TextConfirmed) and isinstance(last, TextConfirmed):
            out[-1] = TextConfirmed(last.text + frame.text)
        elif isinstance(frame, ArgumentConfirmed) and isinstance(last, ArgumentConfirmed):
            if frame.id == last.id:
                out[-1] = ArgumentConfirmed(last.id, "", last.text + frame.text)
            else:
                out.append(frame)
        else:
            out.append(frame)
    return out


def through_the_wire(stream: bytes, mode: str, cuts: list[int]) -> tuple[list[Frame], list[int]]:
    """The frames of the bytes of a response, cut at ``cuts``; executable calls after each cut."""
    answer = ChatAnswer(Peer("x"), native=True)
    decoder, one = SseDecoder(), reader(mode)
    frames: list[Frame] = []
    counts = []
    for start, stop in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        for event in decoder.feed(stream[start:stop]):
            for neutral in answer.feed(event):
                frames += one.feed(neutral)
        counts.append(sum(isinstance(frame, CallReady) for frame in frames))
    finish = None
    with suppress(ProviderError):
        *_, finish = answer.close()
    return joined([*frames, *one.close(finish)]), counts


WIRE = [
    b"".join(
        [
            chat_chunk({"role": "assistant", "content": "I look."}),
            chat_chunk({"tool_calls": entries[:2]}),
            *(chat_chunk({"tool_calls": [each]}) for each in entries[2:]),
            chat_chunk(finish="tool_calls"),
            DONE,
        ]
    )
    for entries in [
        CASES[0].entries,
        CASES[4].entries,
        # the chat wire closes no call
        *([each for each in entries if "close" not in each] for entries in likely(4, 3)),
    ]
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("number", range(len(WIRE)))
def test_chunking_changes_nothing(number: int, mode: str) -> None:
    """Whole, byte by byte and in random pieces the frames are the same; calls only grow."""
    stream = WIRE[number]
    whole, _ = through_the_wire(stream, mode, [])
    single, counts = through_the_wire(stream, mode, list(range(1, len(stream))))
    assert single == whole
    assert counts == sorted(counts)
    pick = random.Random(number)
    for _ in range(50):
        cuts = sorted(pick.sample(range(1, len(stream)), pick.randint(1, 40)))
        assert through_the_wire(stream, mode, cuts)[0] == whole


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("chat_tools", 1),
        ("chat_tools_truncated", 0),
        ("chat_plain", 0),
        ("q15hermes_par", 0),
    ],
)
def test_recorded_streams(name: str, calls: int, mode: str) -> None:
    """What a real server sent: a whole call runs, a truncated one is refused, text stays text;
    and no byte prefix of it has more or other calls than the whole."""
    stream = shared_data(f"streams/{name}.sse").read_bytes()
    frames, counts = through_the_wire(stream, mode, list(range(1, len(stream))))
    assert len(said(frames)) == calls
    assert counts == sorted(counts) and counts[-1] <= calls
    refused = [frame.error for frame in frames if isinstance(frame, CallRefused)]
    assert refused == (["truncated"] if name == "chat_tools_truncated" else [])


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
