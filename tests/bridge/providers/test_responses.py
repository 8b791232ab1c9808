"""Responses answers over a real socket: what the stream says becomes neutral events, no more."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import pytest

from bridge.conversation.frames import CallReady, CallRefused, ContractError, Frame
from bridge.conversation.messages import ModelRequest, UserMessage
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
    Usage,
)
from bridge.cst.carriers import CARRIERS
from bridge.errors import ProviderError
from bridge.providers.endpoint import HttpLimits, Server
from bridge.providers.opening import open_provider
from bridge.providers.provider import HttpProvider
from bridge.providers.responses import ResponsesWire
from bridge.providers.settings import ProviderSettings, resolve
from bridge.providers.wire import RequestOptions
from device_tools.cancel import CancelScope
from device_tools.schema import ToolSpec, arguments_schema
from tests.doubles.provider_server import DONE, Answer, HangUp, ScriptedServer
from tests.doubles.responses_stream import (
    Json,
    answer,
    call,
    event,
    events,
    joined,
    message,
    reasoning,
    search,
    stream,
    terminal,
)
from tests.shared_data import shared_data

KEY = "sk-verysecretkey"
TAP = ToolSpec("tap", "Tap.", arguments_schema({"x": {"type": "integer"}}, ["x"]))
PLAIN = ModelRequest("be brief", (UserMessage("hello"),))
NATIVE = ModelRequest("be brief", (UserMessage("hello"),), (TAP,))
SIZES = [0, 1, 7, 1000]
ONCE = HttpLimits(attempts=1)
LINK = {"type": "url_citation", "url": "https://a.test/x", "title": "A", "start_index": 0}


def read(
    given: bytes | Sequence[Json] | Answer,
    *,
    request: ModelRequest = NATIVE,
    size: int = 0,
    notes: list[str] | None = None,
) -> list[StreamEvent]:
    served = given if isinstance(given, Answer) else answer(given, size)
    wire = ResponsesWire([].append if notes is None else notes.append)
    with ScriptedServer([served]) as server:
        address = Server(server.base_url, KEY)
        model = HttpProvider("test", wire, RequestOptions("m"), address, CancelScope(), limits=ONCE)
        with model.stream(request) as got:
            return list(got)


def failure(given: bytes | Sequence[Json] | Answer) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        read(given)
    assert KEY not in str(caught.value) + caught.value.advice
    return caught.value


def text_of(got: Sequence[StreamEvent]) -> str:
    return "".join(each.text for each in got if isinstance(each, TextDelta))


def calls_of(got: Sequence[StreamEvent]) -> list[tuple[str, str, str]]:
    found: dict[str, list[str]] = {}
    for each in got:
        if isinstance(each, CallDelta):
            slot = found.setdefault(each.key, ["", "", ""])
            for place, part in enumerate((each.id, each.name, each.arguments)):
                slot[place] += part
    return [(slot[0], slot[1], slot[2]) for slot in found.values()]


def items_of(got: Sequence[StreamEvent]) -> list[Any]:
    return [each.item for each in got if isinstance(each, OpaqueItem)]


def frames(got: Sequence[StreamEvent], mode: str = "native-eos") -> list[Frame]:
    reader = CARRIERS[mode].reader((TAP,), None)
    confirmed: list[Frame] = []
    for each in got:
        confirmed += reader.feed(each)
    finish = got[-1]
    assert isinstance(finish, Finish)
    return confirmed + reader.close(finish)


def verdict(got: Sequence[StreamEvent], mode: str = "native-eos") -> list[str]:
    """The ids of calls that run, "-id" for refused ones, "!" for a contract error."""
    words = []
    for frame in frames(got, mode):
        if isinstance(frame, CallReady):
            words.append(frame.call.id)
        elif isinstance(frame, CallRefused):
            words.append(f"-{frame.call.id}")
        elif isinstance(frame, ContractError):
            words.append("!")
    return words


def finish_of(got: Sequence[StreamEvent]) -> Finish:
    assert isinstance(got[-1], Finish)
    return got[-1]


ALL_KINDS = (
    reasoning("First 思考.", "Second."),
    search(),
    message("你好 \u2028😀!", annotations=[{**LINK, "end_index": 2}], phase="commentary"),
    call("c1", "tap", '{"x": 1}'),
    call("c2", "tap", '{"x": 2}'),
)


@pytest.mark.parametrize("size", SIZES)
def test_an_answer_is_the_same_at_every_chunk_size(size: int) -> None:
    """Reasoning, search, text, citation, calls, usage, items and end, however it is cut."""
    got = read(stream(*ALL_KINDS), size=size)
    assert "".join(e.text for e in got if isinstance(e, ReasoningDelta)) == (
        "First 思考.\n\nSecond."
    )
    assert all(e.summary for e in got if isinstance(e, ReasoningDelta))
    assert [e for e in got if isinstance(e, HostedTool)] == [
        HostedTool("ws_1", "web_search"),
        HostedTool("ws_1", "web_search", ended=True),
    ]
    assert text_of(got) == "你好 \u2028😀!"
    assert [e for e in got if isinstance(e, Citation)] == [Citation("https://a.test/x", "A", 0, 2)]
    assert calls_of(got) == [("c1", "tap", '{"x": 1}'), ("c2", "tap", '{"x": 2}')]
    assert [e for e in got if isinstance(e, CallClosed)] == [
        CallClosed("fc_c1", '{"x": 1}'),
        CallClosed("fc_c2", '{"x": 2}'),
    ]
    assert [e for e in got if isinstance(e, Usage)] == [Usage(100, 30, 40, 7, 11)]
    assert items_of(got) == [each.item for each in ALL_KINDS]
    assert got[-1] == Finish(FinishReason.TOOL_CALLS, "completed")
    assert verdict(got) == verdict(got, "native-inc") == ["c1", "c2"]


def test_encrypted_reasoning_is_taken_from_the_complete_item() -> None:
    """What ``output_item.added`` shows of it is not whole, so it is never kept."""
    got = read(stream(reasoning("r", encrypted="whole-secret"), message("hi")))
    assert items_of(got)[0]["encrypted_content"] == "whole-secret"
    assert "whole-secret" not in repr(got)


@pytest.mark.parametrize(
    ("end", "reason", "raw"),
    [
        ({"kind": "completed"}, FinishReason.TOOL_CALLS, "completed"),
        (
            {"kind": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            FinishReason.LENGTH,
            "incomplete: max_output_tokens",
        ),
        (
            {"kind": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            FinishReason.CONTENT_FILTER,
            "incomplete: content_filter",
        ),
        (
            {"kind": "incomplete", "incomplete_details": {"reason": "steered"}},
            FinishReason.UNKNOWN,
            "incomplete: steered",
        ),
        ({"kind": "incomplete"}, FinishReason.UNKNOWN, "incomplete: no reason"),
        ({"kind": "incomplete", "status": "completed"}, FinishReason.UNKNOWN, "completed"),
        (
            {"kind": "completed", "status": "requires_action"},
            FinishReason.UNKNOWN,
            "requires_action",
        ),
        ({"kind": "completed", "status": "in_progress"}, FinishReason.UNKNOWN, "in_progress"),
        ({"kind": "completed", "status": "cancelled"}, FinishReason.UNKNOWN, "cancelled"),
    ],
)
def test_only_a_completed_answer_runs_its_calls(end: Json, reason: FinishReason, raw: str) -> None:
    """Every other end refuses the calls that wait for it, and keeps none of the items."""
    got = read(stream(call("c1", "tap", '{"x": 1}'), **end))
    assert got[-1] == Finish(reason, raw)
    assert verdict(got) == (["c1"] if reason is FinishReason.TOOL_CALLS else ["-c1"])
    assert bool(items_of(got)) is (reason is FinishReason.TOOL_CALLS)


def test_a_completed_answer_without_status_is_no_clean_end() -> None:
    """The word of the event alone is not enough."""
    odd = terminal([])
    del odd["response"]["status"]
    got = read([*events(call("c1", "tap", '{"x": 1}'))[:-1], odd])
    assert (finish_of(got).reason, finish_of(got).raw) == (FinishReason.UNKNOWN, "no status")
    assert verdict(got) == ["-c1"]


def test_a_plain_reply_stops() -> None:
    """Text without calls ends normally, tools offered or not."""
    for request in (PLAIN, NATIVE):
        got = read(stream(message("21 degrees.")), request=request)
        assert (text_of(got), finish_of(got).reason) == ("21 degrees.", FinishReason.STOP)


def test_a_refusal_is_text_and_a_filtered_end() -> None:
    """What the model says instead of an answer is shown, and permits nothing."""
    got = read(stream(message("I can't.", refusal=True), call("c1", "tap", '{"x":1}')))
    assert text_of(got) == "I can't."
    assert finish_of(got).reason is FinishReason.CONTENT_FILTER
    assert verdict(got) == ["-c1"]


# --- deviations of real servers: numbers of the table in docs/deviations.md -------------------


@pytest.mark.parametrize("size", [1, 13])
@pytest.mark.parametrize(
    "odd",
    [
        event({"type": "error", "code": "server_is_overloaded", "message": f"busy {KEY}"}),
        b'event: error\ndata: {"message":"busy"}\n\n',
        b'data: {"error":{"message":"busy","code":502}}\n\n',
        event({"type": "response.failed", "response": {"status": "failed",
               "error": {"code": "server_error", "message": "busy"}}}),
    ],
)  # fmt: skip
def test_32_an_error_event_fails_the_answer(odd: bytes, size: int) -> None:
    """In mid-stream it ends the answer with the server's words, whatever came before."""
    begun = joined(events(call("c1", "tap", '{"x": 1}'))[:-1])
    error = failure(answer(begun + odd + stream(message("x")), size))
    assert "broke off with an error: busy" in error.message


@pytest.mark.parametrize("size", [1, 13])
@pytest.mark.parametrize("output", [[], None])
def test_39_an_empty_terminal_output_falls_back_to_the_stream(output: Any, size: int) -> None:
    """Complete items of the stream count, usage may be absent."""
    got = read(stream(*ALL_KINDS, output=output or [], usage=None), size=size)
    if output is None:
        end = terminal([], usage=None)
        del end["response"]["output"]
        got = read([*events(*ALL_KINDS)[:-1], end], size=size)
    assert verdict(got) == ["c1", "c2"]
    assert items_of(got) == [each.item for each in ALL_KINDS]
    assert not any(isinstance(each, Usage) for each in got)


def test_39_what_only_deltas_told_is_used_once_and_never_presented_as_the_providers() -> None:
    """Without complete items text and calls count for this turn, and nothing is kept."""
    parts = (reasoning("r"), message("I tap."), call("c1", "tap", '{"x": 1}'))
    told = [e for e in events(*parts, output=[]) if e["type"] != "response.output_item.done"]
    got = read(told)
    assert text_of(got) == "I tap."
    assert verdict(got) == verdict(got, "native-inc") == ["c1"]
    assert items_of(got) == []


def test_39_a_terminal_output_alone_is_enough() -> None:
    """A server that streams nothing but the end is read from the end."""
    got = read([terminal([each.item for each in ALL_KINDS])])
    assert text_of(got) == "你好 \u2028😀!"
    assert "".join(e.text for e in got if isinstance(e, ReasoningDelta)) == "First 思考.\n\nSecond."
    assert verdict(got) == ["c1", "c2"]
    assert items_of(got) == [each.item for each in ALL_KINDS]


@pytest.mark.parametrize("size", [1, 13])
@pytest.mark.parametrize("tail", [b"", DONE, b'event: response.completed\ndata: {"type":'])
def test_40_an_end_without_terminal_event_is_an_error(tail: bytes, size: int) -> None:
    """EOF, [DONE] and half a terminal event are no evidence; whole items do not help."""
    begun = joined(events(call("c1", "tap", '{"x": 1}'))[:-1])
    error = failure(answer(begun + tail, size))
    assert "without saying it was done" in error.message


def test_40_a_hang_up_is_an_error_before_the_terminal_event_only() -> None:
    """Behind it nothing is missed."""
    whole = stream(message("hi"))
    assert "broke off the connection" in failure(Answer([whole[:-40], HangUp()])).message
    assert finish_of(read(Answer([whole, HangUp()]))).reason is FinishReason.STOP


@pytest.mark.parametrize("size", [1, 13])
@pytest.mark.parametrize("left", ["done", "item"])
@pytest.mark.parametrize("delta", ["none", "empty"])
def test_41_arguments_only_at_the_end(left: str, delta: str, size: int) -> None:
    """Without deltas ``arguments.done`` or the complete item tells them."""
    given = events(call("c1", "tap", '{"x": 1}'))
    kinds = {"done": "response.function_call_arguments.done", "item": "response.output_item.done"}
    told: list[Json] = []
    for each in given:
        if each["type"].endswith("arguments.delta"):
            if delta == "none":
                continue
            each = {**each, "delta": ""}
        if each["type"] == kinds["done"] and left == "item":
            continue
        if each["type"] == kinds["item"] and left == "done":
            each = {**each, "item": {**each["item"], "arguments": ""}}
        told.append(each)
    told[-1] = terminal([])
    got = read(told, size=size)
    assert calls_of(got) == [("c1", "tap", '{"x": 1}')]
    assert verdict(got) == ["c1"]


@pytest.mark.parametrize("where", ["arguments.done", "output_item.done", "both"])
@pytest.mark.parametrize("mode", ["native-eos", "native-inc"])
def test_41_arguments_that_differ_from_their_deltas_never_run(where: str, mode: str) -> None:
    """Three tellings of one call must be equal; another text anywhere makes it unrunnable."""
    other = '{"x": 9}'
    told: list[Json] = []
    for each in events(call("c1", "tap", '{"x": 1}'), output=[]):
        if each["type"].endswith("arguments.done") and where in ("arguments.done", "both"):
            each = {**each, "arguments": other}
        if each["type"].endswith("item.done") and where in ("output_item.done", "both"):
            each = {**each, "item": {**each["item"], "arguments": other}}
        told.append(each)
    assert verdict(read(told), mode) == ["-c1"]


def bare(each: Json) -> Json:
    """Without numbers, as llama-server sends it."""
    dropped = ("sequence_number", "output_index", "content_index", "summary_index")
    return {key: value for key, value in each.items() if key not in dropped}


@pytest.mark.parametrize("size", [1, 13])
def test_42_items_are_known_by_their_id_alone(size: int) -> None:
    """Neither numbers nor indexes are needed, also when calls interleave."""
    given = [bare(each) for each in events(*ALL_KINDS)]
    got = read(given, size=size)
    assert text_of(got) == "你好 \u2028😀!"
    assert verdict(got) == ["c1", "c2"]
    assert [e for e in got if isinstance(e, Citation)] == [Citation("https://a.test/x", "A", 0, 2)]
    one, two = call("c1", "tap", '{"x": 1}'), call("c2", "tap", '{"x": 2}')
    first = [e for e in given if "fc_c1" in json.dumps(e) and "output" not in e["type"]]
    second = [e for e in given if "fc_c2" in json.dumps(e) and "output" not in e["type"]]
    mixed = [each for pair in zip(first[:-1], second[:-1], strict=True) for each in pair]
    begun = [{"type": "response.output_item.added", "item": each.begun} for each in (one, two)]
    ended = [{"type": "response.output_item.done", "item": each.item} for each in (one, two)]
    got = read([*begun, *mixed, *ended, terminal([one.item, two.item])], size=size)
    assert calls_of(got) == [("c1", "tap", '{"x": 1}'), ("c2", "tap", '{"x": 2}')]
    assert verdict(got) == ["c1", "c2"]


def test_42_an_item_with_another_id_in_every_event_is_known_by_its_index() -> None:
    """A gateway that makes up ids does not tear an item apart."""
    told: list[Json] = []
    for number, each in enumerate(events(message("Hello there"), call("c1", "tap", '{"x": 1}'))):
        if "item_id" in each:
            each = {**each, "item_id": f"id_{number}"}
        if "item" in each:
            each = {**each, "item": {**each["item"], "id": f"id_{number}"}}
        told.append(each)
    got = read(told)
    assert text_of(got) == "Hello there"
    assert verdict(got) == ["c1"]


def test_42_wrong_event_names_are_ignored() -> None:
    """The type in the data counts; an event without one is known by its name."""
    given = events(message("hi"), call("c1", "tap", '{"x": 1}'))
    named = b"".join(b"event: message\n" + event(each).split(b"\n", 1)[1] for each in given)
    assert verdict(read(named)) == ["c1"]
    untyped = b""
    for each in given:
        data = {key: value for key, value in each.items() if key != "type"}
        untyped += f"event: {each['type']}\ndata: {json.dumps(data)}\n\n".encode()
    assert (text_of(read(untyped)), verdict(read(untyped))) == ("hi", ["c1"])


def test_42_done_is_tolerated_and_nothing_is_read_behind_the_end() -> None:
    """Some servers add [DONE]; some keep the connection open."""
    got = read(stream(message("hi")) + DONE + b"data: not JSON\n\n")
    assert finish_of(got).reason is FinishReason.STOP


def test_43_a_cut_call_in_a_completed_answer_is_refused() -> None:
    """The reason lies, the JSON does not."""
    got = read(stream(call("c1", "tap", '{"x": 1, "y": "ab')))
    assert finish_of(got).reason is FinishReason.TOOL_CALLS
    assert verdict(got) == verdict(got, "native-inc") == ["-c1"]


@pytest.mark.parametrize("mode", ["native-eos", "native-inc"])
def test_a_terminal_output_that_tells_of_other_calls_is_an_error(mode: str) -> None:
    """In native-inc the call that ran stands; nothing runs twice, what waited never runs."""
    ran = call("c1", "tap", '{"x": 1}')
    for other in ([call("c1", "tap", '{"x": 9}').item], [message("no calls").item]):
        got = read(stream(ran, output=other))
        assert verdict(got, mode) == (["-c1", "!"] if mode == "native-eos" else ["c1", "!"])
        assert finish_of(got).reason is FinishReason.UNKNOWN
        assert items_of(got) == []


def test_a_call_that_only_the_terminal_output_tells_runs_once() -> None:
    """It is the authority: what it adds counts."""
    one, two = call("c1", "tap", '{"x": 1}'), call("c2", "tap", '{"x": 2}')
    got = read(stream(one, output=[one.item, two.item]))
    assert verdict(got) == verdict(got, "native-inc") == ["c1", "c2"]
    assert items_of(got) == [one.item, two.item]


@pytest.mark.parametrize("mode", ["native-eos", "native-inc"])
@pytest.mark.parametrize("change", [{"status": "incomplete"}, {"call_id": "c9"}, {"name": "untap"}])
def test_a_complete_item_that_is_no_clean_call_never_runs(change: Json, mode: str) -> None:
    """Not completed, or another id or name than it began with."""
    told = [
        {**each, "item": {**each["item"], **change}} if each["type"].endswith("item.done") else each
        for each in events(call("c1", "tap", '{"x": 1}'), output=[])
    ]
    assert verdict(read(told), mode) == ["-c1"]


@pytest.mark.parametrize("mode", ["native-eos", "native-inc"])
def test_22_a_call_that_is_done_twice_runs_once_at_most(mode: str) -> None:
    """The second end is reported, and never runs the call again."""
    given = events(call("c1", "tap", '{"x": 1}'))
    got = read([*given[:-1], given[-2], given[-1]])
    assert verdict(got, mode) == (["-c1", "!"] if mode == "native-eos" else ["c1", "!"])


@pytest.mark.parametrize("mode", ["native-eos", "native-inc"])
def test_arguments_without_a_call_never_run(mode: str) -> None:
    """An orphan fragment belongs to nobody: the answer has no clean end."""
    given = events(call("c1", "tap", '{"x": 1}'), output=[])
    orphan = {"type": "response.function_call_arguments.delta", "item_id": "fc_9", "delta": "{}"}
    got = read([*given[:2], orphan, *given[2:]])
    assert finish_of(got).reason is FinishReason.UNKNOWN
    assert verdict(got) == ["-c1"]
    del orphan["item_id"]
    assert finish_of(read([orphan, terminal([])])).reason is FinishReason.UNKNOWN


def test_calls_that_nobody_offered_are_a_contradiction() -> None:
    """With a text carrier function calls, and kinds we never offer, are no clean end."""
    got = read(stream(message("hi"), call("c1", "tap", '{"x": 1}')), request=PLAIN)
    assert calls_of(got) == []
    assert finish_of(got).reason is FinishReason.UNKNOWN
    assert "none was offered" in finish_of(got).raw
    custom = call("c1", "shell", "ls")
    odd = [
        {**e, "item": {**e["item"], "type": "custom_tool_call"}} if "item" in e else e
        for e in events(custom, output=[])
        if "arguments" not in e["type"]
    ]
    assert "custom_tool_call" in finish_of(read(odd)).raw
    late = read(stream(message("hi"), output=[message("hi").item, {"type": "shell_call"}]))
    assert "shell_call" in finish_of(late).raw
    assert items_of(late) == []


def test_text_that_differs_from_its_deltas_is_no_clean_end() -> None:
    """In the complete message or in the terminal output; what was shown stays shown."""
    given = events(message("I tap."))
    item = message("I swipe.").item
    told = [{**e, "item": item} if e["type"].endswith("item.done") else e for e in given[:-1]]
    for got in (read([*told, terminal([])]), read([*given[:-1], terminal([item])])):
        assert text_of(got) == "I tap."
        assert finish_of(got).reason is FinishReason.UNKNOWN
        assert "differs" in finish_of(got).raw


def test_text_without_deltas_comes_from_whatever_tells_it_first() -> None:
    """The end of the part, of the item or of the answer; never twice."""
    given = events(message("Hello"))
    silent = [e for e in given if not e["type"].endswith("text.delta")]
    assert text_of(read(silent)) == "Hello"
    quieter = [e for e in silent if not e["type"].endswith("text.done")]
    assert text_of(read(quieter)) == "Hello"
    mute = [e for e in quieter if not e["type"].endswith("item.done")]
    assert text_of(read(mute)) == "Hello"


def test_another_message_begins_on_its_own_line() -> None:
    """Commentary and answer are two messages; places of citations count the line break."""
    link = {**LINK, "end_index": 4}
    final = message("Done now", item_id="msg_2", annotations=[link], phase="final_answer")
    got = read(stream(message("I look.", phase="commentary"), final))
    assert text_of(got) == "I look.\nDone now"
    assert [e for e in got if isinstance(e, Citation)] == [Citation(LINK["url"], "A", 8, 12)]
    assert [item["phase"] for item in items_of(got)] == ["commentary", "final_answer"]


@pytest.mark.parametrize(
    "place",
    [{}, {"end_index": 99}, {"end_index": 0}, {"end_index": "2"}, {"end_index": True}],
)
def test_a_citation_with_bad_offsets_has_no_place(place: Json) -> None:
    """It is kept as a source; one that is no web address is not."""
    other = {"type": "url_citation", "url": "javascript:x", "start_index": 0, "end_index": 1}
    got = read(stream(message("Hello", annotations=[{**LINK, **place}, other])))
    assert [e for e in got if isinstance(e, Citation)] == [Citation(LINK["url"], "A")]


def test_a_failed_search_says_so() -> None:
    """Start and end are events of their own and never calls; one left open ends with the answer."""
    got = read(stream(search(status="failed"), message("hm")))
    assert HostedTool("ws_1", "web_search", ended=True, failed=True) in got
    assert calls_of(got) == []
    cut = [e for e in events(search(), output=[]) if not e["type"].endswith("item.done")]
    assert [e.ended for e in read(cut) if isinstance(e, HostedTool)] == [False, True]


def test_reasoning_text_is_visible_reasoning_and_not_a_summary() -> None:
    """The two kinds stay apart; nothing of either is text."""
    item = {"id": "rs_1", "type": "reasoning", "summary": []}
    told = [
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.reasoning_text.delta", "item_id": "rs_1", "delta": "hm"},
        {"type": "response.output_item.done", "output_index": 0,
         "item": {**item, "content": [{"type": "reasoning_text", "text": "hm"}]}},
    ]  # fmt: skip
    got = read([*told, terminal([])])
    assert [e for e in got if isinstance(e, ReasoningDelta)] == [ReasoningDelta("hm", False)]
    assert text_of(got) == ""


def test_changes_of_the_history_are_told() -> None:
    """A server that leaves replayed reasoning out is named in a note, once per answer."""
    notes: list[str] = []
    changes = [{"item_id": "rs_1", "reason": "model_mismatch"}] * 2
    read(stream(message("hi"), input_transformations=changes), notes=notes)
    assert len(notes) == 1
    assert "changed 2 items of the history (model_mismatch)" in notes[0]


def test_a_character_split_over_two_escapes_is_joined() -> None:
    """Half a surrogate pair per delta gives one character, in text and in arguments."""
    text = message("a😀b").item
    halves = [
        {"type": "response.output_text.delta", "item_id": "msg_1", "delta": half}
        for half in ("a\\ud83d", "\\ude00b")
    ]
    raw = [json.dumps(half).replace("\\\\u", "\\u") for half in halves]
    begun = [b"data: " + each.encode() + b"\n\n" for each in raw]
    got = read(b"".join(begun) + event(terminal([text])))
    assert (text_of(got), finish_of(got).reason) == ("a😀b", FinishReason.STOP)
    assert "inside a character" in failure(begun[0] + event(terminal([]))).message
    assert "half a character" in failure(begun[1] + event(terminal([]))).message


def test_items_with_half_a_character_are_not_kept() -> None:
    """They could not go back unchanged."""
    odd = reasoning("r").item | {"encrypted_content": "\ud83d"}
    data = b"data: " + json.dumps(terminal([odd, message("hi").item])).encode() + b"\n\n"
    got = read(data)
    assert (text_of(got), items_of(got)) == ("hi", [])


@pytest.mark.parametrize(
    ("odd", "words"),
    [
        (b"data: : keep-alive\n\n", "not JSON"),
        (b"data: [1]\n\n", "not an object"),
        (b"data: " + b"[" * 100_000 + b"\n\n", "not JSON"),
        (event({"type": "response.output_item.added", "item": 1}), "output item"),
        (event({"type": "response.output_text.delta", "delta": ["x"]}), "not text"),
        (event({"type": "response.completed"}), "terminal event without its response"),
        (event(terminal([1])), "output item"),  # type: ignore[list-item]
        (
            b"".join(
                event({"type": "response.output_item.added",
                       "item": {"type": "message", "id": f"m{n}"}})
                for n in range(300)
            ),
            "more than 256 output items",
        ),
    ],
)  # fmt: skip
def test_what_is_no_answer_in_the_stream_is_an_error(odd: bytes, words: str) -> None:
    """Anything that is no event of this API ends the turn in words."""
    assert words in failure(odd + stream(message("x"))).message


def test_another_api_behind_the_address_is_named() -> None:
    """Chat Completions chunks are no Responses events, and the advice says where to look."""
    chunk = b'data: {"object":"chat.completion.chunk","choices":[]}\n\n'
    error = failure(chunk + DONE)
    assert "nothing of the Responses API" in error.message
    assert "--wire" in error.advice


def test_the_wire_is_opened_by_its_name() -> None:
    """The setting leads to this API, and what the server changed reaches the notices."""
    notices: list[str] = []
    changed = stream(message("hi"), input_transformations=[{"reason": "turn_boundary"}])
    with ScriptedServer([answer(changed)]) as server:
        chosen = resolve(ProviderSettings("custom", server.base_url, "m", wire="responses"))
        with (
            open_provider(chosen, None, CancelScope(), on_retry=notices.append) as model,
            model.stream(PLAIN) as got,
        ):
            assert text_of(list(got)) == "hi"
        assert server.requests[0].path == "/v1/responses"
    assert "turn_boundary" in notices[0]


def test_the_recorded_text_of_a_real_server() -> None:
    """llama-server: no numbers, no [DONE]; text, usage and item are those of the recording."""
    data = shared_data("streams/resp_plain.sse").read_bytes()
    got = read(data, request=PLAIN, size=random.Random(1).randrange(1, 400))
    assert text_of(got) == "Hello! How can I assist you today?"
    assert Usage(32, 10, 24) in got
    assert [item["type"] for item in items_of(got)] == ["message"]
    assert finish_of(got) == Finish(FinishReason.STOP, "completed")


@pytest.mark.parametrize("mode", ["native-eos", "native-inc"])
def test_the_recorded_call_whose_deltas_and_item_differ_never_runs(mode: str) -> None:
    """The recording's deltas write to /tmp, its complete item to /srv: nobody knows which."""
    data = shared_data("streams/resp_tools.sse").read_bytes()
    got = read(data, size=17)
    assert [word[0] for word in verdict(got, mode)] == ["-"]
    agreeing = data.replace(b'"delta":"tmp"', b'"delta":"srv"')
    got = read(agreeing, size=17)
    assert [word[0] != "-" for word in verdict(got, mode)] == [True]
    [(_, name, arguments)] = calls_of(got)
    assert (name, json.loads(arguments)["path"]) == ("write_file", "/srv/fib.py")
