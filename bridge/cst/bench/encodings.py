"""Writes a reply as a model of each mode would, and knows where its content stands.

Content is what all modes share: the text, each tool's name, each value, in this order. What is
around it (keys, quotes, escapes, tags, counts) is a mode's own syntax. A cut behind the k-th
character of the content is therefore the same cut in every mode.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bridge.conversation.frames import ArgumentConfirmed, CallOpened, Frame, TextConfirmed
from bridge.conversation.stream import CallClosed, CallDelta, StreamEvent, TextDelta
from bridge.cst.bench.conversations import Call, Reply, spelt
from bridge.cst.xml_blocks import CLOSE, OPEN

CLOSING = "native-inc, closing wire"
"""Native calls on a wire that says where each call ends (Responses, Anthropic)."""


@dataclass(frozen=True)
class Part:
    """Bytes of text (``call`` -1), or of a native call: its opening delta, which carries the
    name and arrives as one, or its arguments, behind which the wire may close the call."""

    data: bytes
    call: int = -1
    opens: bool = False
    closes: bool = False


@dataclass(frozen=True)
class Encoding:
    """A reply in one mode. Offsets count the bytes of all parts.

    ``starts[k]`` and ``ends[k]`` are those of the k-th character of the content; ``wholes[i]`` is
    where the last character of call i ends, ``closes[i]`` where its syntax ends too.
    """

    parts: tuple[Part, ...]
    starts: Sequence[int]
    ends: Sequence[int]
    text_end: int
    wholes: Sequence[int]
    closes: Sequence[int]

    @property
    def size(self) -> int:
        return sum(len(part.data) for part in self.parts)

    def early(self, characters: int) -> int:
        """The first offset at which so many characters of the content are there."""
        return self.ends[characters - 1] if characters else 0

    def late(self, characters: int) -> int:
        """The last one: right before the next character, all syntax between is there too."""
        return self.starts[characters] if characters < len(self.starts) else self.size

    def events(self, cut: int, step: int) -> Iterator[StreamEvent]:
        """What has arrived at offset ``cut``, in deltas of at most ``step`` bytes. A character
        that the cut halves arrives as U+FFFD, as servers send it."""
        for part in self.parts:
            data, cut = part.data[:cut], max(cut - len(part.data), 0)
            whole = len(data) == len(part.data)
            if part.opens and whole:
                yield CallDelta(str(part.call), f"call_{part.call + 1}", data.decode())
            elif not part.opens:
                yield from (_delta(part.call, piece) for piece in _pieces(data, step))
            if part.closes and whole:
                yield CallClosed(str(part.call))

    def shown(self, frames: Sequence[Frame]) -> int:
        """How far the bytes reach that these frames have already said."""
        if len(self.parts) == 1:
            return self.late(sum(_characters(frame) for frame in frames))
        return sum(len(_said(frame).encode()) for frame in frames)


def _delta(call: int, text: str) -> StreamEvent:
    return TextDelta(text) if call < 0 else CallDelta(str(call), arguments=text)


def _pieces(data: bytes, step: int) -> Iterator[str]:
    text = data.decode("utf-8", "replace")
    for at in range(0, len(text), step):
        yield text[at : at + step]


def _said(frame: Frame) -> str:
    match frame:
        case TextConfirmed(text) | ArgumentConfirmed(text=text):
            return text
        case CallOpened(name=name):
            return name
    return ""


def _characters(frame: Frame) -> int:
    return len(_said(frame))


class _Writer:
    """Collects parts and remembers where content and calls stand."""

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._data = bytearray()
        self._at = 0
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._wholes: list[int] = []
        self._closes: list[int] = []
        self._text_end = 0

    def syntax(self, text: str) -> None:
        self._put(text.encode())

    def content(self, text: str, escape: Callable[[str], str] = str) -> None:
        for character in text:
            self._starts.append(self._at)
            self._put(escape(character).encode())
            self._ends.append(self._at)

    def text_ends(self) -> None:
        self._text_end = self._at

    def call_is_whole(self) -> None:
        self._wholes.append(self._ends[-1])

    def call_closes(self) -> None:
        self._closes.append(self._at)

    def part(self, call: int = -1, opens: bool = False, closes: bool = False) -> None:
        """What was written since the last part."""
        if self._data:
            self._parts.append(Part(bytes(self._data), call, opens, closes))
            self._data.clear()

    def done(self) -> Encoding:
        self.part()
        parts, places = tuple(self._parts), (self._starts, self._ends)
        return Encoding(parts, *places, self._text_end, self._wholes, self._closes)

    def _put(self, data: bytes) -> None:
        self._data += data
        self._at += len(data)


def encode(reply: Reply, mode: str) -> Encoding:
    """``reply`` as ``mode`` says it: one of the five carriers or a JSON baseline."""
    return _ENCODERS[mode](reply)


def _ctl(reply: Reply, *, counted: bool) -> Encoding:
    out = _Writer()
    out.content(reply.text)
    out.text_ends()
    for number, call in enumerate(reply.calls, 1):
        out.syntax(f"call c{number} ")
        out.content(call.name)
        out.syntax("\n")
        for key, value in call.arguments.items():
            (_counted if counted else _delimited)(out, key, spelt(value))
        out.call_is_whole()
        out.syntax("end\n")
        out.call_closes()
    return out.done()


def _counted(out: _Writer, key: str, value: str) -> None:
    out.syntax(f"arg {key} {len(value.encode())}\n")
    out.content(value)
    out.syntax("\n")


def _delimited(out: _Writer, key: str, value: str) -> None:
    if not value.endswith("\n"):
        out.syntax(f"arg {key} ")
        out.content(value)
        out.syntax("\n")
        return
    tag, lines = "EOF", value.splitlines()
    while tag in lines:
        tag += "_"
    out.syntax(f"arg {key} <<{tag}\n")
    out.content(value)
    out.syntax(f"{tag}\n")


def _xml(reply: Reply) -> Encoding:
    out = _Writer()
    out.content(reply.text)
    out.text_ends()
    out.syntax(f"{OPEN}\n")
    for call in reply.calls:
        out.syntax('<invoke name="')
        out.content(call.name)
        out.syntax('">\n')
        for key, value in call.arguments.items():
            layout = "\n" if "\n" in spelt(value) else ""
            out.syntax(f'<parameter name="{key}">{layout}')
            out.content(spelt(value))
            out.syntax(f"{layout}</parameter>\n")
        out.call_is_whole()
        out.syntax("</invoke>\n")
        out.call_closes()
    out.syntax(CLOSE)
    return out.done()


def _native(reply: Reply, *, closing: bool = False) -> Encoding:
    out = _Writer()
    out.content(reply.text)
    out.text_ends()
    out.part()
    for number, call in enumerate(reply.calls):
        out.content(call.name)
        out.part(number, opens=True)
        _json_arguments(out, call)
        out.call_closes()
        out.part(number, closes=closing)
    return out.done()


def _json(reply: Reply, *, whole: bool) -> Encoding:
    """Elements ``{"text": ...}`` and ``{"name": ..., "arguments": {...}}``."""
    out = _Writer()
    out.syntax("[" if whole else "")
    out.syntax('{"text": "')
    out.content(reply.text, _escaped)
    out.syntax('"}')
    out.text_ends()
    for call in reply.calls:
        out.syntax(", " if whole else "\n")
        out.syntax('{"name": "')
        out.content(call.name, _escaped)
        out.syntax('", "arguments": ')
        _json_arguments(out, call)
        out.syntax("}")
        out.call_closes()
    out.syntax("]" if whole else "\n")
    return out.done()


def _json_arguments(out: _Writer, call: Call) -> None:
    before = "{"
    for key, value in call.arguments.items():
        out.syntax(f"{before}{json.dumps(key)}: ")
        if isinstance(value, str):
            out.syntax('"')
            out.content(value, _escaped)
            out.syntax('"')
        else:
            out.content(spelt(value))
        before = ", "
    out.call_is_whole()
    out.syntax("}" if call.arguments else "{}")


def _escaped(character: str) -> str:
    return json.dumps(character, ensure_ascii=False)[1:-1]


_ENCODERS: dict[str, Callable[[Reply], Encoding]] = {
    "native-eos": _native,
    "native-inc": _native,
    CLOSING: lambda reply: _native(reply, closing=True),
    "ctl": lambda reply: _ctl(reply, counted=True),
    "ctl-heredoc": lambda reply: _ctl(reply, counted=False),
    "xml": _xml,
    "json-whole": lambda reply: _json(reply, whole=True),
    "json-object": lambda reply: _json(reply, whole=False),
    "json-partial": lambda reply: _json(reply, whole=True),
}
