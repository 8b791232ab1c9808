"""Whole runs over the Responses wire: a real HTTP server, provider, carrier, toolbox and record."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bridge.agent.limits import RunLimits
from bridge.agent.loop import AgentLoop
from bridge.conversation.events import RunStarted
from bridge.cst.carriers import CARRIERS
from bridge.errors import ProviderError
from bridge.policy import Policy
from bridge.providers.endpoint import HttpLimits, Server
from bridge.providers.provider import HttpProvider
from bridge.providers.responses import ResponsesWire
from bridge.providers.wire import RequestOptions
from bridge.store.journal import Recorder
from bridge.store.transcripts import Transcripts, unanswered
from bridge.tools import Tools
from device_tools.cancel import CancelScope
from device_tools.catalog import PHONE_TOOLS
from device_tools.result import Image, Secrecy, ToolResult, done
from device_tools.schema import ValidCall
from tests.doubles.provider_server import Answer, Do, HangUp, ScriptedServer
from tests.doubles.responses_stream import (
    Json,
    Output,
    answer,
    call,
    events,
    joined,
    message,
    reasoning,
    search,
    stream,
)

NATIVE = ("native-eos", "native-inc")
MODES = ("ctl", "ctl-heredoc", *NATIVE)
PICTURE = Image(b"jpeg", "image/jpeg", 1, 1, "screenshot o1")
ENCRYPTED = "gAAAA-encrypted-reasoning"
Calls = Sequence[tuple[str, str, Json]]
LOOK_AND_TAP: Calls = [("c1", "observe_screen", {}), ("c2", "tap_element", {"index": 12})]
END: Calls = [("c3", "finish", {"success": True, "summary": "Done."})]


@dataclass
class TinyPhone:
    executed: list[str] = field(default_factory=list)

    def secrecy(self, name: str, arguments: Mapping[str, Any]) -> Secrecy:
        return Secrecy()

    def begin_turn(self) -> None:
        pass

    def execute(self, call: ValidCall) -> ToolResult:
        self.executed.append(f"{call.spec.name} {dict(call.arguments)}")
        if call.spec.name == "observe_screen":
            return done("Screen o1", images=(PICTURE,))
        return done("did it")


class Clock:
    def monotonic(self) -> float:
        return time.monotonic()


@dataclass
class Bench:
    folder: Path
    mode: str
    answers: list[Answer]
    options: RequestOptions = field(default_factory=lambda: RequestOptions("m"))
    phone: TinyPhone = field(default_factory=TinyPhone)
    records: list[Json] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    requests: list[Any] = field(default_factory=list)

    def run(self) -> Any:
        cancel = CancelScope()
        with (
            ScriptedServer(self.answers) as server,
            closing(Transcripts(self.folder / "record.db")) as transcripts,
        ):
            recorder = Recorder(transcripts, "r-1", "s-1", [lambda r: self.records.append(dict(r))])
            recorder.record(RunStarted("the task", "phone", "scripted", "m", self.mode))
            model = HttpProvider(
                "test",
                ResponsesWire(),
                self.options,
                Server(server.base_url),
                cancel,
                limits=HttpLimits(attempts=1),
            )
            tools = Tools(self.phone, PHONE_TOOLS, Policy(dict), lambda _call, _answer: None)
            carrier = CARRIERS[self.mode]
            loop = AgentLoop(model, carrier, tools, recorder, Clock(), cancel, RunLimits(turns=9))
            try:
                return loop.run("the task")
            finally:
                self.paths = [request.path for request in server.requests]
                self.requests = [request.json for request in server.requests]

    def of_type(self, kind: str) -> list[Json]:
        return [record for record in self.records if record["type"] == kind]

    def results(self) -> list[tuple[str, int, str]]:
        return [(r["name"], r["exit_code"], r["error"]) for r in self.of_type("call_finished")]


def outputs(mode: str, text: str, calls: Calls) -> list[Output]:
    """The same reply in each mode, behind some reasoning."""
    thought = reasoning("I think.", encrypted=ENCRYPTED)
    if mode in NATIVE:
        native = [call(i, name, json.dumps(arguments)) for i, name, arguments in calls]
        return [thought, message(text), *native]
    return [thought, message(text + "\n" + "".join(frame(mode, *each) for each in calls))]


def frame(mode: str, call_id: str, name: str, arguments: Json) -> str:
    lines = [f"call {call_id} {name}"]
    for key, value in arguments.items():
        shown = value if isinstance(value, str) else json.dumps(value)
        lines += [f"arg {key} {len(shown)}", shown] if mode == "ctl" else [f"arg {key} {shown}"]
    return "\n".join([*lines, "end", ""])


@pytest.mark.parametrize("size", [1, 13, 0])
@pytest.mark.parametrize("mode", MODES)
def test_a_run_is_the_same_in_every_mode(mode: str, size: int, tmp_path: Path) -> None:
    """Calls, order and answer; the provider's items go back unchanged and before the results."""
    first, last = outputs(mode, "I look.", LOOK_AND_TAP), outputs(mode, "", END)
    bench = Bench(tmp_path, mode, [answer(stream(*first), size), answer(stream(*last), size)])
    ended = bench.run()
    assert (ended.success, ended.summary) == (True, "Done.")
    assert bench.phone.executed == ["observe_screen {}", "tap_element {'index': 12}"]
    assert bench.paths == ["/v1/responses"] * 2
    one, two = bench.requests
    assert ("tools" in one) == (mode in NATIVE)
    assert two["input"][: 1 + len(first)] == [one["input"][0], *(each.item for each in first)]
    if mode in NATIVE:
        seen, tapped = two["input"][1 + len(first) :]
        assert [part["type"] for part in seen["output"]] == ["input_text", "input_image"]
        assert (tapped["call_id"], tapped["output"]) == ("c2", "exit=0\ndid it")
    else:
        (told,) = two["input"][1 + len(first) :]
        assert told["content"][0]["text"].startswith("result c1 exit=0 ")
    for request in bench.requests:
        assert (request["store"], request["stream"]) == (False, True)
        assert "previous_response_id" not in request


@pytest.mark.parametrize("mode", NATIVE)
def test_opaque_items_never_reach_the_record(mode: str, tmp_path: Path) -> None:
    """Encrypted reasoning lives in memory; the visible summary is recorded as one."""
    first, last = outputs(mode, "I look.", LOOK_AND_TAP), outputs(mode, "", END)
    bench = Bench(tmp_path, mode, [answer(stream(*first)), answer(stream(*last))])
    bench.run()
    assert ENCRYPTED in json.dumps(bench.requests[1])
    assert ENCRYPTED not in json.dumps(bench.records)
    for file in filter(Path.is_file, tmp_path.rglob("*")):
        assert ENCRYPTED.encode() not in file.read_bytes()
    assert "I think." in json.dumps(bench.records)


def test_native_inc_executes_when_the_item_is_done(tmp_path: Path) -> None:
    """The call runs before anything that follows its item arrives; native-eos waits."""
    seen: dict[str, list[str]] = {}
    for mode in NATIVE:
        (tmp_path / mode).mkdir()
        bench = Bench(tmp_path / mode, mode, [])

        def look(mode: str = mode, bench: Bench = bench) -> None:
            end = time.monotonic() + (5 if mode == "native-inc" else 0.3)
            while time.monotonic() < end and not bench.phone.executed:
                time.sleep(0.01)
            seen[mode] = list(bench.phone.executed)

        told = events(call("c1", "observe_screen", "{}"))
        first = Answer([joined(told[:-1]), Do(look), joined(told[-1:])])
        bench.answers = [first, answer(stream(*outputs(mode, "", END)))]
        bench.run()
        assert bench.phone.executed == ["observe_screen {}"]
    assert seen == {"native-eos": [], "native-inc": ["observe_screen {}"]}


def test_a_server_that_hangs_up_leaves_an_answer_for_each_call(tmp_path: Path) -> None:
    """What ran stands, what waited is recorded as refused, and the run fails with the cause."""
    told = events(*outputs("native-inc", "", LOOK_AND_TAP))
    whole = [each for each in told if each["type"].endswith("item.done")][-1]
    bench = Bench(tmp_path, "native-inc", [Answer([joined(told[: told.index(whole)]), HangUp()])])
    with pytest.raises(ProviderError):
        bench.run()
    assert bench.results() == [("observe_screen", 0, ""), ("tap_element", 2, "no_end")]
    assert unanswered(bench.records) == []


@pytest.mark.parametrize("mode", NATIVE)
def test_a_cut_answer_is_not_replayed_as_the_providers(mode: str, tmp_path: Path) -> None:
    """Its waiting calls are refused one by one, and the next request is written from our record."""
    cut = stream(
        *outputs(mode, "I look.", LOOK_AND_TAP),
        kind="incomplete",
        incomplete_details={"reason": "max_output_tokens"},
    )
    bench = Bench(tmp_path, mode, [answer(cut), answer(stream(*outputs(mode, "", END)))])
    bench.run()
    ran = ["observe_screen {}", "tap_element {'index': 12}"] if mode == "native-inc" else []
    assert bench.phone.executed == ran
    sent = bench.requests[1]["input"]
    kinds = [each["type"] for each in sent if each.get("role") != "user"]
    assert kinds == ["message"] + ["function_call"] * 2 + ["function_call_output"] * 2
    assert ENCRYPTED not in json.dumps(sent)


def test_a_terminal_output_that_contradicts_a_call_that_ran_is_recorded(tmp_path: Path) -> None:
    """The call stands, an error is recorded, nothing runs twice."""
    odd = stream(
        call("c1", "observe_screen", "{}"),
        output=[call("c1", "tap_element", '{"index": 1}').item],
    )
    last = answer(stream(*outputs("native-inc", "", END)))
    bench = Bench(tmp_path, "native-inc", [answer(odd), last])
    bench.run()
    assert bench.phone.executed == ["observe_screen {}"]
    assert [fault["kind"] for fault in bench.of_type("contract_fault")] == ["bad_call"]


def test_a_hosted_search_is_shown_and_never_called(tmp_path: Path) -> None:
    """Start and end are events of their own, and the source becomes a link in the answer."""
    link = {"type": "url_citation", "url": "https://a.test/x", "title": "A",
            "start_index": 0, "end_index": 11}  # fmt: skip
    told = [search(), message("21 degrees.", annotations=[link, link])]
    bench = Bench(tmp_path, "native-eos", [answer(stream(*told))],
                  RequestOptions("m", web_search=True))  # fmt: skip
    ended = bench.run()
    assert bench.phone.executed == []
    assert [r["type"] for r in bench.records if r["type"].startswith("hosted")] == [
        "hosted_tool_started",
        "hosted_tool_ended",
    ]
    assert ended.summary.count("https://a.test/x") == 1
    assert bench.requests[0]["tools"][-1] == {"type": "web_search"}
