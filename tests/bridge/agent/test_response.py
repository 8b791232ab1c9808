"""What a response brings besides text and calls: reasoning, hosted tools, sources, items, usage."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.agent.limits import REASONING_CHARS, RunLimits
from bridge.conversation.messages import AssistantMessage, ToolAnswers
from bridge.conversation.stream import (
    CallDelta,
    Citation,
    Finish,
    FinishReason,
    HostedTool,
    OpaqueItem,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    Usage,
)
from bridge.errors import ContractBroken, ProviderError
from tests.bridge.agent.bench import FINISH, OBSERVE, STOP, TAP, Bench, Reply, reply

TOOLS = Finish(FinishReason.TOOL_CALLS, "tool_use")
PAUSE = Finish(FinishReason.PAUSE, "pause_turn")
ITEM = {"type": "thinking", "signature": "c2lnbmVk", "thinking": "secret thought"}
NATIVE_LOOK = CallDelta("0", "c1", "observe_screen", "{}")
NATIVE_END = [
    CallDelta("0", "f", "finish", '{"success": true, "summary": "Done."}'),
    TOOLS,
    Usage(10, 1),
]
PAUSED: Reply = [TextDelta("Searching. "), OpaqueItem(ITEM), PAUSE, Usage(10, 1)]


def replayed(bench: Bench, request: int = 1) -> AssistantMessage:
    """The assistant's first reply as that request carries it."""
    message = bench.model.requests[request].messages[1]
    assert isinstance(message, AssistantMessage)
    return message


def test_the_request_names_the_cap_and_a_reply_that_reaches_it_is_cut(tmp_path: Path) -> None:
    """Usage behind the finish reason still counts: a stop at the cap is no answer."""
    cut: Reply = [TextDelta("It is 2"), STOP, Usage(100, 50)]
    bench = Bench(tmp_path, [cut, reply(FINISH)], limits=RunLimits(output_tokens=50))
    bench.run()
    assert bench.model.requests[0].max_output_tokens == 50
    assert bench.of_type("response_finished")[0]["reason"] == "length"
    assert "incomplete_reply" in bench.last_message()


@pytest.mark.parametrize("mode", ["native-eos", "native-inc"])
def test_a_native_call_at_the_cap_does_not_run(mode: str, tmp_path: Path) -> None:
    """The server says tool_calls, the tokens say that it was cut: the call is refused."""
    cut: Reply = [NATIVE_LOOK, TOOLS, Usage(100, 49), Usage(None, 50)]
    limits = RunLimits(output_tokens=50)
    bench = Bench(tmp_path, [cut, NATIVE_END], limits=limits, mode=mode)
    bench.run()
    assert bench.phone.executed == []
    assert bench.of_type("call_finished")[0]["error"] == "truncated"


def test_reasoning_is_one_bounded_event_and_never_part_of_the_answer(tmp_path: Path) -> None:
    """Pieces join; what is too long says so; secrets go; a summary is marked."""
    thought = "The code is 739104. " + "x" * REASONING_CHARS
    thinking = [ReasoningDelta(thought[:50]), ReasoningDelta(thought[50:])]
    first: Reply = [*thinking, *reply(OBSERVE)]
    second: Reply = [ReasoningDelta("Short.", summary=True), *reply("It is on.")]
    bench = Bench(tmp_path, [first, second])
    assert bench.run().summary == "It is on."
    one, two = bench.of_type("reasoning_text")
    assert "739104" not in one["text"] and one["text"].endswith("characters of reasoning left out]")
    assert len(one["text"]) < REASONING_CHARS + 100
    assert (one["summary"], two["summary"], two["text"]) == (False, True, "Short.")


def test_hosted_tools_are_events_of_their_own_and_never_calls(tmp_path: Path) -> None:
    """The provider's search starts and ends in the record; nothing runs, nothing is answered."""
    search = [HostedTool("w1", "web_search"), HostedTool("w1", "web_search", ended=True)]
    failed = HostedTool("w2", "web_search", ended=True, failed=True)
    bench = Bench(tmp_path, [[*search, failed, *reply("It rains.")]])
    bench.run()
    kinds = [r["type"] for r in bench.records if "tool" in r["type"] or "call" in r["type"]]
    assert kinds == ["hosted_tool_started", "hosted_tool_ended"] * 2
    assert [r["failed"] for r in bench.of_type("hosted_tool_ended")] == [False, True]


def test_sources_become_links_of_the_answer_and_of_the_record(tmp_path: Path) -> None:
    """The final text, its record and the answer have the same links; places are of the raw text."""
    source = Citation("https://met.example/", "Met", 0, 9)
    bench = Bench(tmp_path, [[*reply("It rains. Yes."), source]])
    linked = "It rains. ([Met](https://met.example/)) Yes."
    assert bench.run().summary == linked
    assert bench.of_type("assistant_text")[0]["text"] == linked
    assert bench.of_type("response_finished")[0]["text"] == linked


def test_places_in_a_text_with_calls_fall_back_to_the_list(tmp_path: Path) -> None:
    """A frame is part of the raw text but not of what is shown: offsets would be wrong."""
    source = Citation("https://met.example/", "Met", 0, 9)
    bench = Bench(tmp_path, [[source, *reply(f"It rains.\n{OBSERVE}")], reply(FINISH)])
    bench.run()
    text = bench.of_type("response_finished")[0]["text"]
    assert text == "It rains.\n\nSources:\n- [Met](https://met.example/)"


@pytest.mark.parametrize("mode", ["native-eos", "ctl-heredoc"])
def test_items_of_a_whole_reply_are_replayed_and_stay_in_memory(mode: str, tmp_path: Path) -> None:
    """The provider's own items go back unchanged, and no byte of them is on disk."""
    native: list[StreamEvent] = [OpaqueItem(ITEM), NATIVE_LOOK, TOOLS]
    text: Reply = [OpaqueItem(ITEM), *reply(OBSERVE)]
    replies = [native, NATIVE_END] if mode == "native-eos" else [text, reply(FINISH)]
    bench = Bench(tmp_path, replies, mode=mode)
    bench.run()
    assert replayed(bench).items == (ITEM,)
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"c2lnbmVk" not in stored and b"secret thought" not in stored


@pytest.mark.parametrize(
    ("mode", "first"),
    [
        ("ctl-heredoc", [OpaqueItem(ITEM), *reply(f"{OBSERVE}It shows Wi-Fi.\n")]),
        ("ctl-heredoc", [OpaqueItem(ITEM), *reply("call c1 tap\narg x 1\n")]),
        ("ctl-heredoc", [OpaqueItem(ITEM), *reply("It is", Finish(FinishReason.LENGTH))]),
        ("native-eos", [OpaqueItem(ITEM), NATIVE_LOOK, STOP]),
        ("native-eos", [OpaqueItem(ITEM), NATIVE_LOOK, Finish(FinishReason.LENGTH)]),
    ],
)
def test_items_of_a_reply_that_was_stopped_cut_or_broken_are_not(
    mode: str, first: Reply, tmp_path: Path
) -> None:
    """Half a reply is replayed as plain text and calls, never as the provider's items."""
    bench = Bench(tmp_path, [first, NATIVE_END if mode == "native-eos" else reply(FINISH)])
    bench.mode = mode
    bench.run()
    assert replayed(bench).items == ()


@pytest.mark.parametrize("mode", ["native-eos", "ctl-heredoc"])
def test_a_pause_sends_the_same_content_again(mode: str, tmp_path: Path) -> None:
    """The next request ends with the paused reply; no word of the runtime follows it."""
    end = NATIVE_END if mode == "native-eos" else reply("It rains.")
    bench = Bench(tmp_path, [PAUSED, PAUSED, end], mode=mode)
    assert bench.run().success
    messages = bench.model.requests[2].messages
    assert [type(message) for message in messages[1:]] == [AssistantMessage] * 2
    assert replayed(bench, 2).items == (ITEM,)
    assert bench.of_type("contract_fault") == []


def test_the_fourth_pause_in_a_row_is_a_fault(tmp_path: Path) -> None:
    """Three pauses are obeyed, each further one counts as an unreadable reply."""
    bench = Bench(tmp_path, [PAUSED] * 9)
    with pytest.raises(ContractBroken, match="pause"):
        bench.run()
    assert len(bench.model.requests) == 6


def test_a_pause_behind_calls_is_an_ordinary_turn(tmp_path: Path) -> None:
    """Confirmed frames have run: their results are sent, and the pause is over."""
    paused: Reply = [OpaqueItem(ITEM), *reply(OBSERVE, PAUSE)]
    bench = Bench(tmp_path, [paused, reply(FINISH)])
    bench.run()
    assert "result c1 exit=0" in bench.last_message()


def test_a_refused_native_call_of_a_pause_is_answered(tmp_path: Path) -> None:
    """A call that waited for the end never runs on a pause, and gets its answer."""
    bench = Bench(tmp_path, [[OpaqueItem(ITEM), NATIVE_LOOK, PAUSE], NATIVE_END], mode="native-eos")
    bench.run()
    answers = bench.model.requests[1].messages[2]
    assert isinstance(answers, ToolAnswers) and "paused" in answers.answers[0].text
    assert bench.phone.executed == []


def test_usage_of_a_stopped_or_broken_reply_is_unknown(tmp_path: Path) -> None:
    """Counters seen half-way are not the reply's: the output is None, the input stays."""
    early = Usage(100, 1)
    stopped: Reply = [early, *reply(f"{OBSERVE}It shows Wi-Fi.\n")]
    broken: Reply = [early, TextDelta(TAP), ProviderError("hung up")]
    bench = Bench(tmp_path, [stopped, broken])
    with pytest.raises(ProviderError):
        bench.run()
    finished = bench.of_type("response_finished")
    assert [r["reason"] for r in finished] == ["client_stop", "broken"]
    assert [(r["input_tokens"], r["output_tokens"]) for r in finished] == [(100, None)] * 2
    assert bench.loop.totals.unreported == 2
