"""Whole runs over the Anthropic wire: real server, provider, carrier, toolbox, loop and record."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from bridge.agent.limits import RunLimits
from bridge.agent.loop import AgentLoop
from bridge.conversation.events import RunStarted
from bridge.cst.carriers import CARRIERS
from bridge.errors import ProviderError
from bridge.policy import Policy
from bridge.providers.anthropic import AnthropicWire
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
from tests.doubles.anthropic_stream import (
    STOP,
    Block,
    begin,
    end,
    message,
    named,
    reason,
    start,
    text,
    thinking,
    tool,
    whole,
)
from tests.doubles.provider_server import Answer, Do, ScriptedServer, cut

NATIVE = ("native-eos", "native-inc")
PICTURE = Image(b"jpeg", "image/jpeg", 1, 1, "screenshot o1")
LOOK = tool("toolu_1", "observe_screen", "")
TAP = tool("toolu_2", "tap_element", '{"index": 12}')
END = tool("toolu_3", "finish", '{"success": true, "summary": "Done."}')
FRAMES = "I look.\ncall a observe_screen\nend\ncall b tap_element\narg index 12\nend\n"
END_FRAME = "call c finish\narg success true\narg summary Done.\nend\n"
OPTIONS = RequestOptions("claude-test")


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
    options: RequestOptions = OPTIONS
    phone: TinyPhone = field(default_factory=TinyPhone)
    records: list[dict[str, Any]] = field(default_factory=list)
    requests: list[Any] = field(default_factory=list)

    def run(self) -> Any:
        cancel = CancelScope()
        with (
            ScriptedServer(self.answers) as server,
            closing(Transcripts(self.folder / f"{self.mode}.db")) as transcripts,
        ):
            recorder = Recorder(transcripts, "r-1", "s-1", [lambda r: self.records.append(dict(r))])
            recorder.record(RunStarted("the task", "phone", "scripted", "m", self.mode))
            provider = HttpProvider(
                "test",
                AnthropicWire(),
                self.options,
                Server(server.base_url),
                cancel,
                limits=HttpLimits(attempts=1),
            )
            tools = Tools(self.phone, PHONE_TOOLS, Policy(dict), lambda _call, _answer: None)
            carrier = CARRIERS[self.mode]
            loop = AgentLoop(
                provider, carrier, tools, recorder, Clock(), cancel, RunLimits(turns=9)
            )
            try:
                return loop.run("the task")
            finally:
                self.requests = [request.json for request in server.requests]

    def results(self) -> list[tuple[str, int, str]]:
        finished = [r for r in self.records if r["type"] == "call_finished"]
        return [(r["name"], r["exit_code"], r["error"]) for r in finished]

    def types(self) -> list[str]:
        return [record["type"] for record in self.records]


def saying(blocks: Sequence[Block], word: str = "tool_use", size: int = 11) -> Answer:
    return Answer(cut(message(blocks, word), size))


def spoken(mode: str) -> list[Answer]:
    """Look and tap, then finish, as the mode says it."""
    if mode in NATIVE:
        return [saying([text("I look."), LOOK, TAP]), saying([END])]
    return [saying([text(words)], "end_turn") for words in (FRAMES, END_FRAME)]


@pytest.mark.parametrize("mode", ["ctl-heredoc", *NATIVE])
def test_a_run_is_the_same_in_every_mode(mode: str, tmp_path: Path) -> None:
    """The same calls run in the same order with the same results; only native modes send tools."""
    bench = Bench(tmp_path, mode, spoken(mode))
    answer = bench.run()
    assert (answer.success, answer.summary) == (True, "Done.")
    assert bench.phone.executed == ["observe_screen {}", "tap_element {'index': 12}"]
    assert bench.results() == [("observe_screen", 0, ""), ("tap_element", 0, ""), ("finish", 0, "")]
    assert ("tools" in bench.requests[0]) == (mode in NATIVE)
    assert [each["role"] for each in bench.requests[1]["messages"]] == ["user", "assistant", "user"]
    assert unanswered(bench.records) == []


@pytest.mark.parametrize("mode", NATIVE)
def test_calls_and_pictures_go_back_as_blocks(mode: str, tmp_path: Path) -> None:
    """The reply's blocks unchanged, then one message of results with the picture inside."""
    thought = thinking("Look first.", "Sig+/=")
    blocks = [thought, text("I look."), LOOK, TAP]
    bench = Bench(tmp_path, mode, [saying(blocks), saying([END])])
    bench.run()
    _, reply, answers = bench.requests[1]["messages"]
    assert reply["content"] == [
        {"type": "thinking", "thinking": "Look first.", "signature": "Sig+/="},
        {"type": "text", "text": "I look."},
        LOOK.start,
        {**TAP.start, "input": {"index": 12}},
    ]
    first, second = answers["content"]
    assert [first["tool_use_id"], second["tool_use_id"]] == ["toolu_1", "toolu_2"]
    assert [part["type"] for part in first["content"]] == ["text", "image"]
    assert second["content"] == "exit=0\ndid it"
    assert "Sig+/=" not in json.dumps(bench.records)
    written = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert written and not [True for content in written if b"Sig+/=" in content]


def test_native_inc_runs_a_call_when_its_block_ends(tmp_path: Path) -> None:
    """Before the next block begins and before any reason; native-eos waits for the end."""
    seen: dict[str, list[str]] = {}
    for mode in NATIVE:
        bench = Bench(tmp_path, mode, [])

        def look(mode: str = mode, bench: Bench = bench) -> None:
            limit = time.monotonic() + (5 if mode == "native-inc" else 0.3)
            while time.monotonic() < limit and not bench.phone.executed:
                time.sleep(0.01)
            seen[mode] = list(bench.phone.executed)

        steps = [start(), *whole(0, TAP), Do(look), *whole(1, LOOK), reason("tool_use"), STOP]
        bench.answers = [Answer(steps), saying([END])]
        bench.run()
        assert len(bench.phone.executed) == 2
    assert seen == {"native-eos": [], "native-inc": ["tap_element {'index': 12}"]}


@pytest.mark.parametrize(
    ("word", "error"),
    [
        ("max_tokens", "truncated"),
        ("model_context_window_exceeded", "truncated"),
        ("end_turn", "contradictory_end"),
        ("refusal", "filtered"),
    ],
)
def test_each_refused_call_is_answered_and_replayed(word: str, error: str, tmp_path: Path) -> None:
    """Nothing runs, the model is told, and the next request holds a call for each answer."""
    bench = Bench(tmp_path, "native-eos", [saying([TAP, LOOK], word), saying([END])])
    bench.run()
    assert bench.phone.executed == []
    assert bench.results()[:2] == [("tap_element", 2, error), ("observe_screen", 2, error)]
    _, reply, answers = bench.requests[1]["messages"]
    asked = [block["id"] for block in reply["content"] if block["type"] == "tool_use"]
    told = [b["tool_use_id"] for b in answers["content"] if b["type"] == "tool_result"]
    assert asked == told == ["toolu_2", "toolu_1"]


def test_a_message_without_its_end_runs_nothing_that_waits(tmp_path: Path) -> None:
    """A stop reason without message_stop is not enough, in the text modes neither."""
    short = Answer([message([TAP], "tool_use").removesuffix(STOP)])
    bench = Bench(tmp_path, "native-eos", [short, saying([END])])
    bench.run()
    assert bench.results()[0] == ("tap_element", 2, "unknown_end")
    words = "call a tap_element\narg index 12\nend"
    short = Answer([message([text(words)], "end_turn").removesuffix(STOP)])
    bench = Bench(tmp_path, "ctl-heredoc", [short, saying([text(END_FRAME)], "end_turn")])
    bench.run()
    assert bench.phone.executed == []
    assert "unexpected_line" in json.dumps(bench.requests[1]["messages"])


def test_an_error_in_mid_stream_discards_the_call_that_waits(tmp_path: Path) -> None:
    """The run ends with the server's words, and the call has its answer in the record."""
    said = named({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    steps = [start(), *whole(0, TAP), begin(1, LOOK.start), end(1), said]
    bench = Bench(tmp_path, "native-eos", [Answer(steps)])
    with pytest.raises(ProviderError, match="overloaded_error: Overloaded"):
        bench.run()
    assert bench.phone.executed == []
    assert [error for _, _, error in bench.results()] == ["no_end", "no_end"]


@pytest.mark.parametrize("mode", ["ctl-heredoc", "native-eos"])
def test_a_pause_is_sent_again_and_runs_nothing(mode: str, tmp_path: Path) -> None:
    """The content so far is the last message of the next request; hosted searches are shown."""
    found = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []}
    search = tool("srv_1", "web_search", '{"query": "rain"}', "server_tool_use")
    paused = [text("I search."), search, Block(found)]
    last = [END] if mode in NATIVE else [text(END_FRAME)]
    answers = [
        saying(paused, "pause_turn"),
        saying(last, "tool_use" if mode in NATIVE else "end_turn"),
    ]
    bench = Bench(tmp_path, mode, answers, options=replace(OPTIONS, web_search=True))
    assert bench.run().summary == "Done."
    assert bench.phone.executed == []
    task, reply = bench.requests[1]["messages"]
    assert task["role"] == "user"
    assert reply == {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I search."},
            {**search.start, "input": {"query": "rain"}},
            found,
        ],
    }
    assert bench.types().count("hosted_tool_started") == 1
    assert bench.types().count("hosted_tool_ended") == 1


def test_a_text_mode_keeps_signed_thinking(tmp_path: Path) -> None:
    """A reply that was read to its end goes back with its thinking, also without native calls."""
    look = [thinking("hm", "Sig"), text("call a observe_screen\nend\n")]
    answers = [saying(look, "end_turn"), saying([text(END_FRAME)], "end_turn")]
    bench = Bench(tmp_path, "ctl-heredoc", answers)
    bench.run()
    assert bench.requests[1]["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "Sig"},
        {"type": "text", "text": "call a observe_screen\nend\n"},
    ]
