"""What a fuzzer throws bytes at: each target fails by an AssertionError or an error that nobody
names. ``scripts/fuzz`` runs them guided by coverage, the normal tests replay their seeds.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from bridge.conversation.frames import (
    CallReady,
    CallRefused,
    ContractError,
    ContractErrorKind,
    Frame,
    StopReading,
)
from bridge.conversation.stream import Finish, FinishReason, TextDelta
from bridge.cst.carriers import CARRIERS
from bridge.cst.ctl import CtlParser
from bridge.cst.ctl_events import ArgumentPiece, CallEnd, CallStart, Event, Fault
from bridge.cst.patch import apply_patch
from bridge.errors import FileStoreError, PatchRefused
from bridge.providers.sse import SseDecoder, SseError
from tests.bridge.cst import corpus, native_reference, reference, xml_corpus, xml_reference
from tests.bridge.cst.feeding import glued, joined
from tests.bridge.cst.folder_store import FolderStore
from tests.bridge.cst.native_corpus import close, entry, neutral

STOP = Finish(FinishReason.STOP)
LESSON = "Write it like this:\n"


def ctl(data: bytes) -> None:
    """The parser: the first two bytes choose the mode and the cut, the rest is the reply."""
    flags, at, reply = _head(data)
    length_prefix = bool(flags & 1)
    events = _parsed(reply, length_prefix, len(reply))
    calls, values = list[Any](), dict[str, bytes]()
    for event in events:
        match event:
            case CallStart():
                values = {}
            case ArgumentPiece(_, key, piece):
                values[key] = values.get(key, b"") + piece
            case CallEnd(id_, name, start, stop):
                calls.append((id_, name, values, reply[start:stop]))
            case Fault(kind):
                assert kind in ContractErrorKind
    assert calls == reference.read(reply, length_prefix=length_prefix).calls
    assert glued(_parsed(reply, length_prefix, at)) == glued(events)


def heredoc(data: bytes) -> None:
    """The default carrier: typed calls, and lessons whose frame the carrier itself accepts."""
    flags, at, reply = _head(data)
    mode = "ctl" if flags & 1 else "ctl-heredoc"
    text = reply.decode("utf-8", "replace")
    frames = _carried(mode, [text])
    assert joined(_carried(mode, [text[:at], text[at:]])) == joined(frames)
    bare = text.endswith("\nend")
    whole = text.encode() + (b"\n" if bare else b"")
    wanted = reference.read(reference.spoken(whole), length_prefix=mode == "ctl").calls
    assert [call.id for call in _ready(frames)] == [id_ for id_, *_ in wanted]
    for frame in frames:
        if isinstance(frame, ContractError) and LESSON in frame.message:
            lesson = frame.message.split(LESSON)[-1] + "\n"
            assert len(_ready(_carried(mode, [lesson]))) == 1, frame.message


def xml(data: bytes) -> None:
    """The xml carrier against its reference, in one piece and in two."""
    _, at, reply = _head(data)
    text = reply.decode("utf-8", "replace")
    frames = _carried("xml", [text])
    assert joined(_carried("xml", [text[:at], text[at:]])) == joined(frames)
    wanted = xml_reference.read(text.removeprefix("\ufeff"))
    assert len(_ready(frames)) == len(wanted or [])
    if wanted is None:
        assert isinstance(frames[-1], ContractError)


PIECES = ["", "{", "}", "{}", '{"p":1}', '{"p":', "1}", '"p":', ',"p":2}', " ", "x", {"q": 2}, {},
          "\ufffd", '"\\ud83d', "[1]"]  # fmt: skip
CLOSING = [None, None, "{}", '{"p":1}']


def native(data: bytes) -> None:
    """The accumulator of native calls in both modes; two bytes are one entry of the wire."""
    entries = [_entry(*data[n : n + 2]) for n in range(0, min(len(data) - 1, 32), 2)]
    for mode in ("native-eos", "native-inc"):
        one, frames = CARRIERS[mode].reader((), None), list[Frame]()
        for position, event in enumerate(neutral(entries)):
            frames += one.feed(event)
            wanted = native_reference.executed(entries[: position + 1], mode, None)
            assert _executed(frames) == wanted
        frames += one.close(Finish(FinishReason.TOOL_CALLS))
        assert _executed(frames) == native_reference.executed(entries, mode, "tool_calls")
        ended = [f.call.id for f in frames if isinstance(f, CallReady | CallRefused)]
        assert len(ended) == len(set(ended))


def sse(data: bytes) -> None:
    """The decoder of event streams: any cut gives the same events, or is refused as well."""
    if len(data) > 1:
        at = data[0] % len(data)
        assert _events([data[1:]]) == _events([data[1 : 1 + at], data[1 + at :]])


FILES = {"a.txt": b"one\ntwo\nthree\n", "d/b.txt": b"x\r\ny\r\nx\r\n", "n": b"no end"}


def patch(data: bytes) -> None:
    """A patch is applied wholly or refused with nothing touched."""
    store = _store()
    try:
        changes = apply_patch(data.decode("utf-8", "replace"), store)
    except (PatchRefused, FileStoreError):
        assert store.content() == FILES
        return
    after = store.content()
    touched = {change.path for change in changes}
    assert {path: after.get(path) for path in FILES.keys() - touched} == {
        path: FILES[path] for path in FILES.keys() - touched
    }
    for path in after.keys() | FILES.keys():
        if after.get(path) != FILES.get(path):
            _restore(store, path)


TARGETS: Mapping[str, Callable[[bytes], None]] = {
    "ctl": ctl,
    "heredoc": heredoc,
    "xml": xml,
    "native": native,
    "sse": sse,
    "patch": patch,
}


def _head(data: bytes) -> tuple[int, int, bytes]:
    """Flags, a place to cut, and the reply."""
    if len(data) < 2:
        return 0, 0, b""
    return data[0], data[1] % max(len(data) - 2, 1), data[2:]


def _parsed(reply: bytes, length_prefix: bool, at: int) -> list[Event]:
    parser = CtlParser(reference.TOOLS, length_prefix=length_prefix)
    return parser.feed(reply[:at]) + parser.feed(reply[at:])


def _carried(mode: str, pieces: list[str]) -> list[Frame]:
    one = CARRIERS[mode].reader(xml_corpus.TOOLS if mode == "xml" else corpus.TOOLS, None)
    frames: list[Frame] = []
    over = False
    for event in [TextDelta(piece) for piece in pieces]:
        fresh = one.feed(event)
        assert not (over and fresh)
        over = over or any(isinstance(each, ContractError | StopReading) for each in fresh)
        frames += fresh
    return frames + one.close(STOP)


def _ready(frames: list[Frame]) -> list[Any]:
    return [frame.call for frame in frames if isinstance(frame, CallReady)]


def _executed(frames: list[Frame]) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, dict(call.arguments)) for call in _ready(frames)]


def _entry(place: int, piece: int) -> dict[str, Any]:
    if place >= 0xD0:
        return close([None, 0, 1, 2][place & 3], CLOSING[piece & 3])
    return entry(
        [None, 0, 1, 2][place & 3],
        [None, "a", "b", ""][place >> 2 & 3],
        [None, "f", "g", "null"][place >> 4 & 3],
        None if piece & 0x40 else PIECES[piece & 15],
    )


def _events(pieces: list[bytes]) -> Any:
    decoder = SseDecoder(max_line=64, max_event=128)
    events: list[Any] = []
    try:
        for piece in pieces:
            events += decoder.feed(piece)
    except SseError:
        # where two things are wrong the cut may decide which one is named
        return "refused"
    return events, decoder.close()


@cache
def _store() -> FolderStore:
    root = Path(tempfile.mkdtemp(prefix="bridge-fuzz-"))
    atexit.register(shutil.rmtree, root)
    store = FolderStore(root)
    for path in FILES:
        _restore(store, path)
    return store


def _restore(store: FolderStore, path: str) -> None:
    if path in FILES:
        store.write(path, FILES[path])
    else:
        store.delete(path)
