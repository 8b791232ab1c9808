"""The xml carrier: MiniMax blocks by strict rules, executed only at a clean end of the reply."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.conversation.frames import (
    ArgumentConfirmed,
    CallOpened,
    CallReady,
    CallRefused,
    ContractError,
    ContractErrorKind,
    Frame,
    TextConfirmed,
)
from bridge.conversation.messages import CallResult, ToolCall, UserMessage
from bridge.conversation.stream import Finish, FinishReason, ReasoningDelta, TextDelta, Usage
from bridge.cst.gate import TABLE, CallState, Ending
from bridge.cst.xml import MAX_BLOCKS, XmlCarrier, XmlReader
from device_tools.result import done
from tests.bridge.cst.feeding import joined
from tests.bridge.cst.xml_corpus import (
    APP,
    BAD,
    CORPUS,
    GOOD,
    PIECES,
    STOP,
    TAP,
    TOOLS,
    block,
    value,
)
from tests.bridge.cst.xml_reference import read as reference


def run(pieces: list[str], finish: Finish | None = STOP, tokens: int | None = None) -> list[Frame]:
    """The frames of a reply that came in these pieces."""
    one = XmlCarrier().reader(TOOLS, 100)
    frames = [frame for piece in pieces for frame in one.feed(TextDelta(piece))]
    if tokens is not None:
        frames += one.feed(Usage(1, tokens))
    return frames + one.close(finish)


def calls(frames: list[Frame]) -> list[ToolCall]:
    return [frame.call for frame in frames if isinstance(frame, CallReady)]


def test_a_reply_becomes_text_and_typed_calls_at_its_end() -> None:
    """Two invokes of one block are two calls, numbered, each with its own source."""
    frames = run(["I tap.\n" + block(TAP, APP)])
    assert frames == [
        TextConfirmed("I tap.\n"),
        CallOpened("x1", "tap"),
        ArgumentConfirmed("x1", "x", "12"),
        ArgumentConfirmed("x1", "y", "3"),
        CallReady(ToolCall("x1", "tap", {"x": 12, "y": 3}, TAP)),
        CallOpened("x2", "open_app"),
        ArgumentConfirmed("x2", "app", "Notes"),
        CallReady(ToolCall("x2", "open_app", {"app": "Notes"}, APP)),
    ]


@pytest.mark.parametrize(
    ("key", "raw", "meant"),
    [
        ("s", "null", "null"), ("u", "null", "null"), ("s", "12", "12"), ("s", '"q"', '"q"'),
        ("s", "\n\n a \n\n", "\n a \n"), ("s", "\n", ""), ("s", "", ""), ("s", "\n\n", ""),
        ("s", "a\r\n", "a\r"), ("s", "&lt;b&gt; <b>x</b> </param>", "&lt;b&gt; <b>x</b> </param>"),
        ("i", "\n7\n", 7), ("i", "7.0", "7.0"), ("i", "07", "07"), ("i", "null", "null"),
        ("b", "true", True), ("b", "True", "True"), ("b", "1", "1"),
        ("a", '["x", 1]', ["x", 1]), ("a", "[1,]", "[1,]"),
    ],
)  # fmt: skip
def test_values_are_raw_for_strings_and_strict_json_for_the_rest(
    key: str, raw: str, meant: object
) -> None:
    """One newline at either end is layout; null is no magic word; nothing is repaired."""
    (call,) = calls(run([value(raw, key)]))
    assert call.arguments == {key: meant}
    assert type(call.arguments[key]) is type(meant)


@pytest.mark.parametrize("name", GOOD)
def test_these_replies_mean_calls(name: str) -> None:
    """Layout, quotes, fences, thoughts and guesses behind the block each mean one thing."""
    reply, count = GOOD[name]
    frames = run([reply])
    assert not [frame for frame in frames if isinstance(frame, ContractError)]
    assert len(calls(frames)) == count


@pytest.mark.parametrize("name", BAD)
def test_these_replies_are_refused_as_a_whole(name: str) -> None:
    """One fault, nothing executes, and the message says what and shows a right block."""
    reply, kind, says = BAD[name]
    frames = run([reply])
    assert calls(frames) == []
    error = frames[-1]
    assert isinstance(error, ContractError)
    assert error.kind is ContractErrorKind(kind)
    assert says in error.message
    assert error.message.endswith("</minimax:tool_call>")


def test_a_value_of_exactly_the_bound_passes() -> None:
    """The bound is held to the byte, counted in UTF-8."""
    (call,) = calls(run([value("é" * 524288)]))
    assert len(call.arguments["s"]) == 524288
    assert isinstance(run([value("é" * 524288 + "x")])[-1], ContractError)


def test_an_endless_block_is_stopped_while_it_streams() -> None:
    """The held text has a bound of its own."""
    one = XmlCarrier().reader(TOOLS, None)
    assert one.feed(TextDelta("<minimax:tool_call>" + " " * (MAX_BLOCKS - 19))) == []
    (error,) = one.feed(TextDelta(" "))
    assert isinstance(error, ContractError)
    assert error.kind is ContractErrorKind.LIMIT
    assert one.feed(TextDelta(" ")) == one.close(STOP) == []


@pytest.mark.parametrize("end", Ending)
def test_the_gate_decides_on_whole_and_broken_blocks(end: Ending) -> None:
    """Cell by cell of the table: what runs, and the error word of every whole call."""
    finish = None if end is Ending.MISSING else Finish(FinishReason(end.value))
    for state, reply in (
        (CallState.WHOLE, block(TAP, APP)),
        (CallState.BROKEN, block(TAP, APP, "x")),
    ):
        frames = run([reply], finish, 99)
        verdict = TABLE["xml"][state][end]
        refused = {each.call.id: each.error for each in frames if isinstance(each, CallRefused)}
        faults = [each for each in frames if isinstance(each, ContractError)]
        assert [call.id for call in calls(frames)] == (["x1", "x2"] if verdict.runs else [])
        assert refused == ({} if verdict.runs else dict.fromkeys(["x1", "x2"], verdict.error))
        assert len(faults) == (state is CallState.BROKEN)


def test_a_reply_that_used_all_its_tokens_counts_as_cut() -> None:
    """Whatever the server says."""
    frames = run([block(TAP)], STOP, 100)
    (refused,) = [each for each in frames if isinstance(each, CallRefused)]
    assert (refused.error, calls(frames)) == ("truncated", [])


def test_the_replay_ends_with_the_last_block() -> None:
    """Guesses behind it and what could not be read do not enter the history."""
    for reply, kept in (
        ("A.\n" + block(APP) + "\nDone!", "A.\n" + block(APP)),
        ("A.\n" + block(TAP, "x"), "A.\n" + block(TAP, "x").split("\nx")[0]),
        ("A.\n" + block("x"), "A.\n"),
        ("Plain <b>", "Plain <b>"),
    ):
        one = XmlCarrier().reader(TOOLS, None)
        one.feed(TextDelta(reply))
        one.close(STOP)
        assert one.replay_text == kept


def test_reasoning_events_are_never_read() -> None:
    """A block in the provider's own reasoning channel is no call."""
    one = XmlCarrier().reader(TOOLS, None)
    assert one.feed(ReasoningDelta(block(APP))) == one.close(STOP) == []


def test_a_pair_of_surrogates_split_over_deltas_is_one_character() -> None:
    """Some servers cut inside a character; a lone half becomes U+FFFD."""
    reply = value("\ud83d\ude00\ud83d")
    at = reply.index("\ude00")
    (call,) = calls(run([reply[:at], reply[at:]]))
    assert call.arguments == {"s": "😀\ufffd"}


# --- S1 to S3, and the independent reader --------------------------------------------------------


def agrees(reply: str) -> bool:
    """Whether the carrier and the reference read the same calls, or both a broken block."""
    frames = run([reply])
    broken = any(isinstance(frame, ContractError) for frame in frames)
    raw: dict[str, tuple[str, dict[str, str]]] = {}
    for frame in frames:
        if isinstance(frame, CallOpened):
            raw[frame.id] = (frame.name, {})
        elif isinstance(frame, ArgumentConfirmed):
            raw[frame.id][1][frame.key] = frame.text
    found = [raw[call.id] for call in calls(frames)]
    wanted = reference(reply.removeprefix("\ufeff"))
    return found == [] and wanted is None if broken else found == wanted


def test_every_reply_of_the_corpus_means_what_the_reference_reads() -> None:
    """S2 against an independent reading of the whole stream, and of every prefix of it."""
    assert sum(len(reference(reply) or []) > 0 for reply in CORPUS) > 40
    for reply in CORPUS:
        for stop in range(len(reply) + 1):
            assert agrees(reply[:stop]), reply[:stop]


def test_no_prefix_executes_anything_while_the_stream_is_open() -> None:
    """S1 and S3: nothing is executable before the end, so nothing can be wrong or withdrawn."""
    for reply in CORPUS:
        one = XmlCarrier().reader(TOOLS, 100)
        frames = [frame for byte in reply for frame in one.feed(TextDelta(byte))]
        assert all(isinstance(frame, TextConfirmed) for frame in frames)
        assert run(list(reply), None) == [*frames, *one.close(None)]
        assert calls(run([reply], None)) == []


def test_whole_and_any_chunking_give_the_same_events() -> None:
    """Character by character and 50 random cuts."""
    pick = random.Random(2)
    for reply in CORPUS:
        whole = joined(run([reply]))
        assert joined(run(list(reply))) == whole
        for _ in range(50):
            cuts = sorted(pick.randint(0, len(reply)) for _ in range(pick.randint(1, 6)))
            pieces = [reply[a:b] for a, b in zip([0, *cuts], [*cuts, len(reply)], strict=True)]
            assert joined(run(pieces)) == whole


def test_every_flipped_lost_or_added_character_of_a_block_is_judged_as_the_reference_does() -> None:
    """Delimiter strictness: nothing is accepted that the grammar does not allow."""
    reply = block(TAP, APP)
    for at in range(len(reply)):
        for changed in (
            reply[:at] + reply[at + 1 :],
            reply[:at] + chr(ord(reply[at]) ^ 1) + reply[at + 1 :],
            *(reply[:at] + extra + reply[at:] for extra in 'x <>/"'),
        ):
            assert agrees(changed), changed


@settings(max_examples=120, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=12))
def test_any_reply_agrees_with_the_reference(pieces: list[str]) -> None:
    """Whatever a model writes: the same calls, or a contract error on both sides."""
    reply = "".join(pieces)
    assert agrees(reply)
    assert joined(run(pieces)) == joined(run([reply]))


# --- prompt and results --------------------------------------------------------------------------


def test_the_example_of_the_prompt_is_a_valid_block() -> None:
    """What the prompt shows is what the reader executes, for the tools on offer."""
    prompt = XmlCarrier().system_prompt(TOOLS)
    start = prompt.index("<minimax:tool_call>")
    stop = prompt.index("</minimax:tool_call>") + len("</minimax:tool_call>")
    (call,) = calls(run([prompt[start:stop]]))
    spec = next(tool for tool in TOOLS if tool.name == call.name)
    assert set(call.arguments) == set(spec.parameters["required"])
    assert all(f"\n{tool.name}: " in prompt for tool in TOOLS)
    assert XmlCarrier().request_tools(TOOLS) == ()


def test_results_are_frames_with_the_numbers_of_the_calls() -> None:
    """The same result frames as in the other text modes."""
    call = ToolCall("x1", "tap", {})
    message = XmlCarrier().results([CallResult(call, done("tapped"))], "note")
    assert message == UserMessage("result x1 exit=0 6\ntapped\nend\nnote\n")


def test_the_error_position_counts_bytes() -> None:
    """Text before the block counts in UTF-8."""
    error = run(["é\n" + block("x")])[-1]
    assert isinstance(error, ContractError)
    assert error.position == len("é\n<minimax:tool_call>\n".encode())
    assert isinstance(XmlCarrier().reader(TOOLS, None), XmlReader)
