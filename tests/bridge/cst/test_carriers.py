"""The carriers as state machines: any events in any order, against the independent readers."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from bridge.conversation.frames import (
    ArgumentConfirmed,
    CallOpened,
    CallReady,
    CallRefused,
    ContractError,
    Frame,
    StopReading,
)
from bridge.conversation.stream import (
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
from tests.bridge.cst import corpus, native_reference, reference, xml_corpus, xml_reference
from tests.bridge.cst.native_corpus import close, entry, neutral

CTL_PIECES = st.sampled_from([p.decode("utf-8", "replace") for p in corpus.PARTS])
XML_PIECES = st.sampled_from(xml_corpus.PIECES)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
ENTRIES = st.builds(
    entry,
    st.sampled_from([None, 0, 0, 1, 2]),
    st.sampled_from([None, "a", "b", ""]),
    st.sampled_from([None, "f", "g"]),
    st.sampled_from([None, "", "{", "}", "{}", '{"p":1}', '{"p":', "1}", {"q": 2}]),
)
CLOSES = st.builds(close, st.sampled_from([0, 0, 1, None]), st.sampled_from([None, "{}", ""]))
# a frame in any of these is a thought or a copy, never a call
SILENT = (
    ReasoningDelta("call c8 current_app\nend\n"),
    ReasoningDelta(xml_corpus.block(xml_corpus.APP), summary=True),
    OpaqueItem({"type": "function_call", "name": "f", "arguments": "{}"}),
    HostedTool("s1", "web_search", ended=True),
    Citation("https://example.com/", "call c8 current_app\nend\n"),
    Usage(10, 5),
)


class Carried(RuleBasedStateMachine):
    """``said`` is the text and ``entries`` the calls that the model sent so far."""

    mode = ""

    def __init__(self) -> None:
        super().__init__()
        tools = xml_corpus.TOOLS if self.mode == "xml" else corpus.TOOLS
        self.reader = CARRIERS[self.mode].reader(tools, None)
        self.said = ""
        self.entries: list[dict[str, Any]] = []
        self.frames: list[Frame] = []
        self.finish: Finish | None = None
        self.closed = False

    @property
    def over(self) -> bool:
        """Whether the reader has said that it reads no more."""
        return any(isinstance(frame, ContractError | StopReading) for frame in self.frames)

    def take(self, event: StreamEvent) -> None:
        over = self.over or self.closed
        frames = self.reader.feed(event)
        assert not (over and frames)
        self.frames += frames

    @initialize(piece=CTL_PIECES | XML_PIECES)
    def first(self, piece: str) -> None:
        self.text(piece)

    @rule(piece=CTL_PIECES | XML_PIECES | WORDS)
    def text(self, piece: str) -> None:
        self.said += "" if self.closed else piece
        self.take(TextDelta(piece))

    @rule(each=ENTRIES | CLOSES)
    def call(self, each: dict[str, Any]) -> None:
        """Text modes never look at native calls."""
        if not self.closed:
            self.entries.append(each)
        (event,) = neutral([each])
        self.take(event)

    @rule(event=st.sampled_from(SILENT))
    def other(self, event: StreamEvent) -> None:
        before = list(self.frames)
        self.take(event)
        assert self.frames == before

    @precondition(lambda self: not self.closed)
    @rule(reason=st.none() | st.sampled_from(list(FinishReason)))
    def end(self, reason: FinishReason | None) -> None:
        self.finish = Finish(reason) if reason else None
        self.frames += self.reader.close(self.finish)
        self.closed = True
        assert self.reader.close(self.finish) == []

    @invariant()
    def the_calls_are_those_of_the_reference(self) -> None:
        assert self.told() == self.wanted()

    @invariant()
    def every_call_is_answered_once_at_the_end(self) -> None:
        ended = [f.call.id for f in self.frames if isinstance(f, CallReady | CallRefused)]
        assert len(ended) == len(set(ended))
        if self.closed and self.mode.startswith("native"):
            assert {f.id for f in self.frames if isinstance(f, CallOpened)} <= set(ended)

    def told(self) -> list[tuple[str, dict[str, Any]]]:
        values: dict[str, dict[str, Any]] = {}
        calls: list[tuple[str, dict[str, Any]]] = []
        for frame in self.frames:
            match frame:
                case ArgumentConfirmed(id_, key, piece):
                    given = values.setdefault(id_, {})
                    given[key] = given.get(key, "") + piece
                case CallReady(call) if self.mode.startswith("native"):
                    calls.append((call.name, dict(call.arguments)))
                case CallReady(call):
                    calls.append((call.name, values.get(call.id, {})))
        return calls

    def wanted(self) -> list[tuple[str, dict[str, Any]]]:
        stopped = self.finish is not None and self.finish.reason is FinishReason.STOP
        if self.mode.startswith("native"):
            end = self.finish.reason.value if self.finish else None
            return native_reference.executed(self.entries, self.mode, end)
        if self.mode == "xml":
            return list(
                (xml_reference.read(self.said.removeprefix("\ufeff")) or []) if stopped else []
            )
        bare = stopped and self.said.endswith("\nend")
        data = reference.spoken(self.said.encode() + (b"\n" if bare else b""))
        return [
            (name, {key: value.decode() for key, value in given.items()})
            for _, name, given, _ in reference.read(data, length_prefix=self.mode == "ctl").calls
        ]


def machine(name: str) -> Any:
    """The test case of one mode."""
    case = type(f"Carried {name}", (Carried,), {"mode": name}).TestCase
    case.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
    return case


TestNativeEos = machine("native-eos")
TestNativeInc = machine("native-inc")
TestCtl = machine("ctl")
TestCtlHeredoc = machine("ctl-heredoc")
TestXml = machine("xml")
