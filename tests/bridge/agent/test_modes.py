"""One conversation in every mode: a real HTTP server, provider, carrier, toolbox and record."""

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
from bridge.errors import ContractBroken, ProviderError
from bridge.policy import Policy
from bridge.providers.chat_completions import ChatWire
from bridge.providers.chat_quirks import ChatQuirks
from bridge.providers.endpoint import HttpLimits, Server
from bridge.providers.provider import HttpProvider
from bridge.providers.wire import RequestOptions
from bridge.store.journal import Recorder
from bridge.store.transcripts import Transcripts, unanswered
from bridge.tools import Tools
from device_tools.cancel import CancelScope
from device_tools.catalog import PHONE_TOOLS
from device_tools.result import Image, Secrecy, ToolResult, done
from device_tools.schema import ValidCall
from tests.doubles.provider_server import (
    DONE,
    Answer,
    Do,
    HangUp,
    ScriptedServer,
    Step,
    chat_answer,
    chat_chunk,
)

CTL = ("ctl", "ctl-heredoc")
NATIVE = ("native-eos", "native-inc")
PICTURE = Image(b"jpeg", "image/jpeg", 1, 1, "screenshot o1")
Calls = Sequence[tuple[str, str, dict[str, Any]]]
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
    phone: TinyPhone = field(default_factory=TinyPhone)
    records: list[dict[str, Any]] = field(default_factory=list)
    requests: list[Any] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    stop_with_calls: bool = False

    def run(self) -> Any:
        cancel = CancelScope()
        with (
            ScriptedServer(self.answers) as server,
            closing(Transcripts(self.folder / f"{self.mode}.db")) as transcripts,
        ):
            recorder = Recorder(transcripts, "r-1", "s-1", [lambda r: self.records.append(dict(r))])
            recorder.record(RunStarted("the task", "phone", "scripted", "m", self.mode))
            model = HttpProvider(
                "test",
                ChatWire(ChatQuirks(self.stop_with_calls), self.notices.append),
                RequestOptions("m"),
                Server(server.base_url),
                cancel,
                limits=HttpLimits(attempts=1),
                on_retry=self.notices.append,
            )
            tools = Tools(self.phone, PHONE_TOOLS, Policy(dict), lambda _call, _answer: None)
            carrier = CARRIERS[self.mode]
            loop = AgentLoop(model, carrier, tools, recorder, Clock(), cancel, RunLimits(turns=9))
            try:
                return loop.run("the task")
            finally:
                self.requests = [request.json for request in server.requests]

    def story(self) -> list[tuple[Any, ...]]:
        """What the record tells of the calls, without times and source texts."""
        keys = ("type", "turn", "call_id", "name", "arguments", "outcome", "exit_code", "text")
        calls = [r for r in self.records if r["type"].startswith("call_")]
        return [tuple(str(record.get(key)) for key in keys) for record in calls]

    def results(self) -> list[tuple[str, int, str]]:
        finished = [r for r in self.records if r["type"] == "call_finished"]
        return [(r["name"], r["exit_code"], r["error"]) for r in finished]


def saying(mode: str, text: str, calls: Calls) -> Answer:
    """The same reply in each mode."""
    if mode in NATIVE:
        return native(text, calls)
    return chat_answer(text + "\n" + "".join(frame(mode, *call) for call in calls))


def frame(mode: str, call_id: str, name: str, arguments: dict[str, Any]) -> str:
    lines = [f"call {call_id} {name}"]
    for key, value in arguments.items():
        shown = value if isinstance(value, str) else json.dumps(value)
        lines += [f"arg {key} {len(shown)}", shown] if mode == "ctl" else [f"arg {key} {shown}"]
    return "\n".join([*lines, "end", ""])


def deltas(calls: Calls) -> list[Step]:
    steps: list[Step] = []
    for index, (call_id, name, arguments) in enumerate(calls):
        text = json.dumps(arguments)
        head = {"index": index, "id": call_id, "type": "function", "function": {"name": name}}
        steps.append(chat_chunk({"tool_calls": [head]}))
        for at in range(0, len(text), 5):
            piece = {"index": index, "function": {"arguments": text[at : at + 5]}}
            steps.append(chat_chunk({"tool_calls": [piece]}))
    return steps


def native(text: str, calls: Calls, finish: str = "tool_calls") -> Answer:
    return Answer([chat_chunk({"content": text}), *deltas(calls), chat_chunk(finish=finish), DONE])


@pytest.mark.parametrize("mode", [*CTL, *NATIVE])
def test_a_run_is_the_same_in_every_mode(mode: str, tmp_path: Path) -> None:
    """Calls, order, results and record do not depend on how the calls travelled."""
    stories = []
    for each in ("ctl-heredoc", mode):
        answers = [saying(each, "I look.", LOOK_AND_TAP), saying(each, "", END)]
        bench = Bench(tmp_path / each, each, answers)
        bench.folder.mkdir(exist_ok=True)
        (bench.folder / f"{each}.db").unlink(missing_ok=True)
        answer = bench.run()
        assert (answer.success, answer.summary) == (True, "Done.")
        assert bench.phone.executed == ["observe_screen {}", "tap_element {'index': 12}"]
        assert ("tools" in bench.requests[0]) == (each in NATIVE)
        stories.append(bench.story())
    assert stories[0] == stories[1]


@pytest.mark.parametrize("mode", NATIVE)
def test_native_calls_are_replayed_before_their_results_and_pictures(
    mode: str, tmp_path: Path
) -> None:
    """Assistant message with calls, one answer per call in order, then pictures as the user's."""
    bench = Bench(tmp_path, mode, [native("I look.", LOOK_AND_TAP), native("", END)])
    bench.run()
    system, task, reply, first, second, picture = bench.requests[1]["messages"]
    assert (system["role"], task["content"]) == ("system", "the task")
    assert reply == {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [
            {"id": "c1", "type": "function",
             "function": {"name": "observe_screen", "arguments": "{}"}},
            {"id": "c2", "type": "function",
             "function": {"name": "tap_element", "arguments": '{"index": 12}'}},
        ],
    }  # fmt: skip
    assert first == {"role": "tool", "tool_call_id": "c1", "content": "exit=0\nScreen o1"}
    assert second == {"role": "tool", "tool_call_id": "c2", "content": "exit=0\ndid it"}
    assert picture["role"] == "user"
    assert [part["type"] for part in picture["content"]] == ["text", "image_url"]
    offered = [tool["function"]["name"] for tool in bench.requests[0]["tools"]]
    assert offered == [*(tool.name for tool in PHONE_TOOLS), "finish"]
    assert "arg KEY" not in system["content"]


def test_native_inc_executes_inside_the_stream_and_native_eos_does_not(tmp_path: Path) -> None:
    """When the second call has begun the first has run in native-inc; native-eos waits."""
    seen: dict[str, list[str]] = {}
    for mode in NATIVE:
        bench = Bench(tmp_path, mode, [])

        def look(mode: str = mode, bench: Bench = bench) -> None:
            end = time.monotonic() + (5 if mode == "native-inc" else 0.3)
            while time.monotonic() < end and not bench.phone.executed:
                time.sleep(0.01)
            seen[mode] = list(bench.phone.executed)

        steps = deltas(LOOK_AND_TAP)
        first = Answer([*steps[:-1], Do(look), steps[-1], chat_chunk(finish="tool_calls"), DONE])
        bench.answers = [first, native("", END)]
        bench.run()
        assert len(bench.phone.executed) == 2
    assert seen == {"native-eos": [], "native-inc": ["observe_screen {}"]}


@pytest.mark.parametrize(
    ("finish", "error"),
    [
        ("length", "truncated"),
        ("stop", "contradictory_end"),
        ("content_filter", "filtered"),
        ("model_length", "unknown_end"),
    ],
)
@pytest.mark.parametrize("mode", NATIVE)
def test_each_refused_call_is_answered(mode: str, finish: str, error: str, tmp_path: Path) -> None:
    """The calls that the end does not permit are recorded and told to the model, one by one."""
    bench = Bench(tmp_path, mode, [native("", LOOK_AND_TAP, finish), native("", END)])
    bench.run()
    refused = [("tap_element", 2, error)]
    if mode == "native-eos":
        refused.insert(0, ("observe_screen", 2, error))
        assert bench.phone.executed == []
    else:
        assert bench.phone.executed == ["observe_screen {}"]
    assert bench.results()[-len(refused) - 1 : -1] == refused
    told = [m for m in bench.requests[1]["messages"] if m["role"] == "tool"]
    assert [m["tool_call_id"] for m in told] == ["c1", "c2"]
    assert told[-1]["content"].startswith("exit=2\nnot run: ")


def test_a_malformed_call_is_refused_and_replayed_as_valid_json(tmp_path: Path) -> None:
    """The model is told what was wrong; the server gets no broken JSON back."""
    broken = Answer(
        [
            chat_chunk({"tool_calls": [{"index": 0, "id": "a", "function": {
                "name": "tap", "arguments": '{"x":1,"x":2,"y":3}'}}]}),
            chat_chunk(finish="tool_calls"),
            DONE,
        ]
    )  # fmt: skip
    bench = Bench(tmp_path, "native-inc", [broken, native("", END)])
    bench.run()
    assert bench.phone.executed == []
    assert bench.results()[0] == ("tap", 2, "malformed_call")
    reply, answer, note = bench.requests[1]["messages"][2:]
    assert json.loads(reply["tool_calls"][0]["function"]["arguments"]) == {}
    assert "a key is given twice" in answer["content"]
    assert "malformed_call" in note["content"]


def test_a_server_that_hangs_up_leaves_an_answer_for_each_call(tmp_path: Path) -> None:
    """What ran stands, what waited is recorded as refused, and the run fails with the cause."""
    cut = Answer([*deltas(LOOK_AND_TAP), HangUp()])
    bench = Bench(tmp_path, "native-inc", [cut])
    with pytest.raises(ProviderError):
        bench.run()
    assert bench.results() == [("observe_screen", 0, ""), ("tap_element", 2, "no_end")]
    assert unanswered(bench.records) == []


def test_a_model_whose_calls_never_run_fails(tmp_path: Path) -> None:
    """Two such replies in a row are forgiven, the third ends the run in a named state."""
    bench = Bench(tmp_path, "native-eos", [native("", END, "length") for _ in range(9)])
    with pytest.raises(ContractBroken):
        bench.run()
    assert len(bench.requests) == 3


def test_ids_that_a_model_repeats_in_each_turn_are_renamed(tmp_path: Path) -> None:
    """No id comes twice in a request, and each answer names the call that it answers."""
    again: Calls = [("c1", "observe_screen", {})]
    bench = Bench(tmp_path, "native-eos", [native("", again), native("", again), native("", END)])
    bench.run()
    messages = bench.requests[2]["messages"]
    asked = [call["id"] for m in messages for call in m.get("tool_calls", ())]
    told = [m["tool_call_id"] for m in messages if m["role"] == "tool"]
    assert asked == told == ["c1", "c1_2"]


def test_tool_calls_without_a_call_are_asked_again(tmp_path: Path) -> None:
    """A reason that promises calls where none came is no answer and not a call."""
    bench = Bench(tmp_path, "native-eos", [native("Well.", []), native("", END)])
    assert bench.run().summary == "Done."
    assert "incomplete_reply" in bench.requests[1]["messages"][-1]["content"]


def test_a_plain_native_reply_is_the_answer(tmp_path: Path) -> None:
    """Text that ended normally without calls ends the run."""
    bench = Bench(tmp_path, "native-inc", [native("21 degrees.", [], "stop")])
    assert bench.run().summary == "21 degrees."


def test_odd_tool_calls_are_named_as_the_servers_fault(tmp_path: Path) -> None:
    """What is no tool call at all ends the run with an error that says so."""
    for entries in ([1], {"a": 1}, [{"index": 1.5}], [{"function": {"arguments": [1]}}]):
        answer = Answer([chat_chunk({"tool_calls": entries}), chat_chunk(finish="stop"), DONE])
        with pytest.raises(ProviderError, match="tool call"):
            Bench(tmp_path, "native-eos", [answer]).run()
        (tmp_path / "native-eos.db").unlink()


@pytest.mark.parametrize("mode", NATIVE)
def test_the_quirk_lets_stop_run_whole_calls_and_nothing_else(mode: str, tmp_path: Path) -> None:
    """Asked for, stop counts as tool_calls and is noted; a cut or broken call still never runs."""
    answers = [native("", LOOK_AND_TAP, "stop"), native("", END, "length"), native("", END)]
    bench = Bench(tmp_path, mode, answers, stop_with_calls=True)
    bench.run()
    assert bench.phone.executed == ["observe_screen {}", "tap_element {'index': 12}"]
    assert bench.results()[2] == ("finish", 2, "truncated")
    assert len(bench.notices) == 1 and "quirk" in bench.notices[0]
