"""The three properties and the freedom of cutting, for carriers of all five modes over the bytes
of whole replies: raw text, and the streams of model servers.

S1: a call that is not complete in a prefix is never executable. S2: a call that is executable is
that of the full stream. S3: the number of executable calls never falls. What a prefix means is
said by the simple whole-stream readers beside this file, never by the code under test.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from bridge.conversation.frames import ArgumentConfirmed, CallRefused, Frame
from bridge.conversation.stream import Finish, FinishReason
from tests.bridge.cst import corpus as ctl_corpus
from tests.bridge.cst import native_corpus, native_reference, reference, xml_corpus, xml_reference
from tests.bridge.cst.feeding import Player, calls, cut, cuttings, joined
from tests.doubles import anthropic_stream as anthropic
from tests.doubles import responses_stream as responses
from tests.doubles.provider_server import DONE, chat_chunk
from tests.shared_data import shared_data

STOP = Finish(FinishReason.STOP, "stop")
Meaning = list[tuple[str, dict[str, Any]]]


@dataclass(frozen=True)
class Stream:
    """``entries`` are those of a native stream, with the byte behind each."""

    name: str
    mode: str
    data: bytes
    wire: str = ""
    entries: list[dict[str, Any]] = field(default_factory=list)
    ends: tuple[int, ...] = ()

    def player(self) -> Player:
        tools = ctl_corpus.TOOLS if self.mode.startswith("ctl") else xml_corpus.TOOLS
        return Player(self.mode, self.wire, tools, STOP)


def text_streams() -> Iterator[Stream]:
    """What a model may write as plain text."""
    written = [*ctl_corpus.HANDWRITTEN, *ctl_corpus.generated(35, seed=5)]
    for mode in ("ctl", "ctl-heredoc"):
        for each in written:
            yield Stream(f"{mode}: {each.name}", mode, each.data)
    for number, reply in enumerate(xml_corpus.CORPUS[:110]):
        yield Stream(f"xml: {number}", "xml", reply.encode())


def chat_stream(name: str, mode: str, entries: list[dict[str, Any]]) -> Stream:
    """Text, then one chunk per entry, a reason and the end mark."""
    parts = [chat_chunk({"role": "assistant", "content": "I look."})]
    parts += [chat_chunk({"tool_calls": [each]}) for each in entries]
    ends = [sum(map(len, parts[: n + 2])) for n in range(len(entries))]
    data = b"".join([*parts, chat_chunk(finish="tool_calls"), DONE])
    return Stream(name, mode, data, "chat", entries, tuple(ends))


def native_streams() -> Iterator[Stream]:
    """The known deviations and generated calls, as a chat server sends them."""
    written = [(case.what, case.entries) for case in native_corpus.CASES]
    written += [(f"likely {n}", each) for n, each in enumerate(native_corpus.likely(12, 3))]
    for mode in ("native-eos", "native-inc"):
        for name, entries in written:
            # this wire closes no call
            if all("close" not in each for each in entries):
                yield chat_stream(f"{mode}: {name}", mode, entries)


def closing_streams() -> Iterator[Stream]:
    """Calls on the two wires that end each call themselves: whole, cut, empty, said twice."""
    pick = random.Random(4)
    for number in range(8):
        said = []
        for call in range(pick.randint(1, 3)):
            text = json.dumps({"n": call, "t": "é" * pick.randint(0, 3)}, ensure_ascii=False)
            text = pick.choice([text, text, text[:-1], "", "{}" + text])
            said.append((f"i{call}", pick.choice("fg"), text))
        for mode in ("native-eos", "native-inc"):
            yield closed("anthropic", f"{mode}: anthropic {number}", mode, anthropic_steps(said))
            yield closed("responses", f"{mode}: responses {number}", mode, responses_steps(said))


Said = list[tuple[str, str, str]]
Steps = list[tuple[bytes, tuple[str, str, str] | None]]
"""The bytes of an answer in pieces; a piece that ends a call comes with it."""


def closed(wire: str, name: str, mode: str, steps: Steps) -> Stream:
    """Each call counts from the piece that ends it; before it the call is not whole."""
    entries, ends, at = list[dict[str, Any]](), list[int](), 0
    for number, (raw, call) in enumerate(steps):
        at += len(raw)
        if call is not None:
            id_, tool, arguments = call
            entries += [
                native_corpus.entry(number, id_, tool, arguments),
                native_corpus.close(number),
            ]
            ends += [at, at]
    return Stream(name, mode, b"".join(raw for raw, _ in steps), wire, entries, tuple(ends))


def anthropic_steps(said: Said) -> Steps:
    steps: Steps = [(anthropic.start(), None)]
    steps += [(raw, None) for raw in anthropic.whole(0, anthropic.text("I look."))]
    for index, call in enumerate(said, 1):
        *parts, last = anthropic.whole(index, anthropic.tool(*call))
        steps += [(b"".join(parts), None), (last, call)]
    return [*steps, (anthropic.reason("tool_use"), None), (anthropic.STOP, None)]


def responses_steps(said: Said) -> Steps:
    calls_by_id = {f"fc_{call[0]}": call for call in said}
    outputs = [responses.message("I look."), *(responses.call(*call) for call in said)]
    return [
        (
            responses.event(each),
            calls_by_id.get(each["item"]["id"])
            if each["type"] == "response.output_item.done"
            else None,
        )
        for each in responses.events(*outputs)
    ]


CORPUS = [*text_streams(), *native_streams(), *closing_streams()]
by_name = pytest.mark.parametrize("stream", CORPUS, ids=lambda stream: stream.name)


def test_the_corpus_is_large_enough() -> None:
    """More than 200 streams, and a good number of them in each mode."""
    assert len(CORPUS) == len({stream.name for stream in CORPUS}) == 502
    modes = [stream.mode for stream in CORPUS]
    assert {mode: modes.count(mode) for mode in modes} == {
        "ctl": 135, "ctl-heredoc": 135, "xml": 110, "native-eos": 61, "native-inc": 61,
    }  # fmt: skip


def meant_by(stream: Stream, size: int) -> Meaning:
    """What the first ``size`` bytes make executable while the stream is open."""
    if stream.mode == "xml":
        return []
    if stream.mode.startswith("native"):
        seen = [e for e, end in zip(stream.entries, stream.ends, strict=True) if end <= size]
        return native_reference.executed(seen, stream.mode, None)
    # what is no UTF-8 has been replaced before it comes to the carrier
    text = stream.data[:size].decode("utf-8", "replace").encode()
    found = reference.read(text, length_prefix=stream.mode == "ctl").calls
    return [
        (name, {key: value.decode("utf-8", "replace") for key, value in given.items()})
        for _, name, given, _ in found
    ]


def meant_in_all(stream: Stream) -> Meaning:
    """What the closed stream makes executable after its normal end."""
    if stream.mode == "xml":
        return list(xml_reference.read(stream.data.decode().removeprefix("\ufeff")) or [])
    if stream.mode.startswith("native"):
        return native_reference.executed(stream.entries, stream.mode, "tool_calls")
    # a last bare end counts after a clean stop
    bare = stream.data.endswith(b"\nend")
    data = stream.data + (b"\n" if bare else b"")
    return meant_by(Stream(stream.name, stream.mode, data), len(data))


def told(stream: Stream, frames: list[Frame]) -> Meaning:
    """The executable calls among the frames; text modes with the values as they were written."""
    if stream.mode.startswith("native"):
        return [(call.name, dict(call.arguments)) for call in calls(frames)]
    values: dict[str, dict[str, str]] = {}
    for frame in frames:
        if isinstance(frame, ArgumentConfirmed):
            given = values.setdefault(frame.id, {})
            given[frame.key] = given.get(frame.key, "") + frame.text
    return [(call.name, values.get(call.id, {})) for call in calls(frames)]


@by_name
def test_every_byte_prefix_is_confirmation_faithful(stream: Stream) -> None:
    """S1 to S3 against the independent reading of each prefix and of the closed stream."""
    one, grown = stream.player(), list[Frame]()
    full, before = meant_in_all(stream), 0
    for size in range(1, len(stream.data) + 1):
        fresh = one.feed(stream.data[size - 1 : size])
        grown += fresh
        if fresh or not stream.ends or size in stream.ends:
            now = told(stream, grown)
            assert now == meant_by(stream, size) == full[: len(now)]
            assert len(now) >= before
            before = len(now)
    assert told(stream, grown + one.close()) == full


@by_name
def test_cutting_changes_nothing(stream: Stream) -> None:
    """Whole = byte by byte = 50 random cuttings, event for event once pieces are joined."""
    whole = stream.player()
    frames = joined(whole.feed(stream.data) + whole.close())
    ways = cuttings(len(stream.data), 50, stream.name)
    for places in [list(range(1, len(stream.data))), *ways]:
        one = stream.player()
        pieces = [frame for piece in cut(stream.data, places) for frame in one.feed(piece)]
        assert joined(pieces + one.close()) == frames, places


RECORDED = {
    "chat_tools": ("chat", 1, []),
    "chat_tools_truncated": ("chat", 0, ["truncated"]),
    "chat_plain": ("chat", 0, []),
    "q15hermes_par": ("chat", 0, []),
    # its deltas and its complete item differ
    "resp_tools": ("responses", 0, ["malformed_call"]),
    "resp_plain": ("responses", 0, []),
    "msg_tools": ("anthropic", 1, []),
    "msg_plain": ("anthropic", 0, []),
}
"""Wire, native calls that run, error words of those that do not."""


@pytest.mark.parametrize("mode", ["native-eos", "native-inc", "ctl", "ctl-heredoc", "xml"])
@pytest.mark.parametrize("name", RECORDED)
def test_recorded_streams(name: str, mode: str) -> None:
    """What a real server sent: a whole native call runs, a broken one is refused, text stays
    text; no byte prefix has more or other calls than the whole; no cutting changes anything."""
    data = shared_data(f"streams/{name}.sse").read_bytes()
    wire, count, errors = RECORDED[name]
    stream = Stream(name, mode, data, wire)
    one, frames, seen = stream.player(), list[Frame](), list[Meaning]()
    for at in range(len(data)):
        if fresh := one.feed(data[at : at + 1]):
            frames += fresh
            seen.append(told(stream, frames))
    frames += one.close()
    full = told(stream, frames)
    assert len(full) == (count if mode.startswith("native") else 0)
    assert all(now == full[: len(now)] for now in seen)
    refused = [frame.error for frame in frames if isinstance(frame, CallRefused)]
    assert refused == (errors if mode.startswith("native") else [])
    for places in cuttings(len(data), 50, name):
        other = stream.player()
        pieces = [frame for piece in cut(data, places) for frame in other.feed(piece)]
        assert joined(pieces + other.close()) == joined(frames)
