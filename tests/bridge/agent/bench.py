"""A loop with all its parts: a scripted model, the real carrier and record, a tiny phone."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bridge.agent.control import RunControl
from bridge.agent.limits import RunLimits
from bridge.agent.loop import AgentLoop
from bridge.agent.ports import Provider
from bridge.conversation.events import RunStarted
from bridge.conversation.messages import Message, ModelRequest, UserMessage
from bridge.conversation.stream import Finish, FinishReason, StreamEvent, TextDelta, Usage
from bridge.conversation.usage import Prices
from bridge.cst.carriers import CARRIERS
from bridge.policy import Policy
from bridge.store.journal import Recorder
from bridge.store.transcripts import Transcripts
from bridge.tools import Tools
from device_tools.cancel import CancelScope
from device_tools.catalog import PHONE_TOOLS
from device_tools.result import Image, Secrecy, ToolResult, done
from device_tools.schema import ValidCall

STOP = Finish(FinishReason.STOP, "stop")
OBSERVE = "call c1 observe_screen\nend\n"
TAP = "call c2 tap_element\narg index 2\nend\n"
FINISH = "call f finish\narg success true\narg summary Done.\narg output 42\nend\n"
SCREEN = 'Screen o1: Settings (s/.S) 1080x2400 rotation 0\n[1] button "Back"\n[2] switch "Wi-Fi" on'

Reply = Sequence[StreamEvent | Exception]


def reply(text: str, finish: Finish | None = STOP, size: int = 11) -> Reply:
    deltas = [TextDelta(text[start : start + size]) for start in range(0, len(text), size)]
    return [*deltas, *([finish] if finish else []), Usage(100, 10)]


@dataclass
class ScriptedModel:
    """Answers each request with the next reply; keeps the requests."""

    replies: list[Reply]
    requests: list[ModelRequest] = field(default_factory=list)
    name: str = "scripted"
    model: str = "m"

    @contextmanager
    def stream(self, request: ModelRequest) -> Iterator[ScriptedStream]:
        self.requests.append(request)
        yield ScriptedStream(list(self.replies.pop(0)))


@dataclass
class ScriptedStream:
    """What is left of a reply."""

    left: list[StreamEvent | Exception]
    hurried: bool = False

    def __iter__(self) -> Iterator[StreamEvent]:
        while self.left:
            event = self.left.pop(0)
            if isinstance(event, Exception):
                raise event
            yield event

    def expect_end(self) -> None:
        self.hurried = True


@dataclass
class TinyPhone:
    """Executes by name: what a test put into ``answers``, else a plain success."""

    answers: dict[str, Any] = field(default_factory=dict)
    executed: list[str] = field(default_factory=list)
    turns: int = 0

    def secrecy(self, name: str, arguments: Mapping[str, Any]) -> Secrecy:
        return Secrecy()

    def begin_turn(self) -> None:
        self.turns += 1

    def execute(self, call: ValidCall) -> ToolResult:
        self.executed.append(call.spec.name)
        answer = self.answers.get(call.spec.name, done(f"did {call.spec.name}"))
        if isinstance(answer, Exception):
            raise answer
        result: ToolResult = answer() if callable(answer) else answer
        return result


class Clock:
    def monotonic(self) -> float:
        return time.monotonic()


@dataclass
class Bench:
    """A loop with all its parts; ``records`` are what the listeners saw."""

    folder: Path
    replies: list[Reply]
    phone: TinyPhone = field(default_factory=TinyPhone)
    limits: RunLimits = field(default_factory=RunLimits)
    policy: Policy = field(default_factory=lambda: Policy(dict))
    cancel: CancelScope = field(default_factory=CancelScope)
    records: list[dict[str, Any]] = field(default_factory=list)
    mode: str = "ctl-heredoc"
    prices: Prices | None = None
    images: Sequence[Image] = ()
    before: Sequence[Message] = ()

    def run(self, server: Provider | None = None) -> Any:
        """With ``server`` the replies come from there, not from the scripted model."""
        self.model = ScriptedModel(self.replies)
        with closing(Transcripts(self.folder / "bridge.db")) as transcripts:
            recorder = Recorder(transcripts, "r-1", "s-1", [lambda r: self.records.append(dict(r))])
            recorder.record(RunStarted("the task", "phone", "scripted", "m", self.mode))
            tools = Tools(self.phone, PHONE_TOOLS, self.policy, lambda _call, _answer: None)
            self.control = RunControl(recorder, self.cancel)
            self.loop = AgentLoop(
                server or self.model,
                CARRIERS[self.mode],
                tools,
                recorder,
                Clock(),
                self.cancel,
                self.limits,
                self.prices,
                self.control,
            )
            return self.loop.run("the task", self.images, self.before)

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        return [record for record in self.records if record["type"] == kind]

    def results(self) -> list[tuple[str, int]]:
        return [(record["name"], record["exit_code"]) for record in self.of_type("call_finished")]

    def last_message(self) -> str:
        message = self.model.requests[-1].messages[-1]
        assert isinstance(message, UserMessage)
        return message.text
