"""Strict reading of MiniMax tool-call blocks (M2 family; docs/protocol-xml.md has the grammar).

    block  := <minimax:tool_call> ws (invoke ws)+ </minimax:tool_call>
    invoke := <invoke name="NAME"> ws (param ws)* </invoke>
    param  := <parameter name="KEY">VALUE</parameter>

Values are raw, without escapes, so a value that holds a tag of this grammar cannot be told from
a broken call and is refused. One fault refuses the whole batch; nothing is repaired.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bridge.conversation.frames import ContractErrorKind as Kind
from bridge.cst.ctl_events import Limits

OPEN, CLOSE = "<minimax:tool_call>", "</minimax:tool_call>"
_INVOKE_END, _PARAMETER_END = "</invoke>", "</parameter>"
_NAMED = r"(?P<quote>[\"']?)(?P<name>[A-Za-z0-9_.-]{1,64})(?P=quote)>"
_INVOKE = re.compile(r"<invoke name=" + _NAMED)
_PARAMETER = re.compile(r"<parameter name=" + _NAMED)
_ANY_TAG = re.compile(r"</?(?:parameter|invoke|minimax:tool_call)")
_SPACE = re.compile(r"[ \t\r\n]*")
_FILLER = re.compile(r"(?:[ \t\r\n]+|`{3,16}[ \t]?[A-Za-z0-9_+.#-]{0,32}(?=[ \t\r\n]|\Z))*")


@dataclass(frozen=True)
class Invoke:
    """One whole call: raw values by key, and where it stands in the text."""

    name: str
    values: dict[str, str]
    start: int
    stop: int


@dataclass(frozen=True)
class BlockFault:
    """The grammar was broken at character ``position``; ``tool`` is the call it was in, or ""."""

    kind: Kind
    position: int
    what: str
    tool: str = ""
    arrived: int | None = None


@dataclass(frozen=True)
class Blocks:
    """``stop``: the end of the last whole block. Text behind it is a guess of the model's; a
    block behind such text is part of the guess."""

    invokes: tuple[Invoke, ...]
    stop: int
    fault: BlockFault | None = None


class _Broken(Exception):
    def __init__(self, fault: BlockFault) -> None:
        super().__init__(fault.what)
        self.fault = fault


def read_blocks(text: str, start: int = 0, limits: Limits | None = None) -> Blocks:
    """All blocks from ``start``, where the first one opens, to the end of the reply."""
    reader = _BlockReader(text, limits or Limits())
    stop = at = start
    try:
        while text.startswith(OPEN, at):
            stop = reader.block(at + len(OPEN))
            at = _skip(_FILLER, text, stop)
    except _Broken as broken:
        return Blocks(tuple(reader.invokes), stop, broken.fault)
    return Blocks(tuple(reader.invokes), stop)


class _BlockReader:
    """Walks the text by index; every method takes one and returns the one behind what it read."""

    def __init__(self, text: str, limits: Limits) -> None:
        self._text = text
        self._limits = limits
        self._tool = ""
        self.invokes: list[Invoke] = []

    def block(self, at: int) -> int:
        self._tool = ""
        first = at = self._space(at)
        while not self._text.startswith(CLOSE, at):
            at = self._space(self._invoke(at))
        if at == first:
            raise self._broken(Kind.BAD_CALL, at, "the block holds no invoke")
        return at + len(CLOSE)

    def _invoke(self, start: int) -> int:
        head = self._head(_INVOKE, "<invoke", start, Kind.BAD_CALL)
        self._tool = head["name"]
        if len(self.invokes) >= self._limits.calls_per_message:
            most = self._limits.calls_per_message
            raise self._broken(Kind.LIMIT, start, f"one reply holds at most {most} calls")
        values: dict[str, str] = {}
        at = self._space(head.end())
        while not self._text.startswith(_INVOKE_END, at):
            at = self._space(self._parameter(at, values))
        at += len(_INVOKE_END)
        self.invokes.append(Invoke(self._tool, values, start, at))
        self._tool = ""
        return at

    def _parameter(self, start: int, values: dict[str, str]) -> int:
        for tag in ("<invoke", CLOSE, OPEN):
            if self._text.startswith(tag, start):
                raise self._broken(Kind.BAD_CALL, start, f"{_INVOKE_END} is missing before {tag}")
        head = self._head(_PARAMETER, "<parameter", start, Kind.BAD_ARG)
        key, most = head["name"], self._limits.arguments_per_call
        if key in values:
            raise self._broken(Kind.BAD_ARG, start, f"{key} is given twice")
        if len(values) >= most:
            raise self._broken(Kind.LIMIT, start, f"one call holds at most {most} arguments")
        stop = self._value_end(head.end(), key)
        values[key] = _stripped(self._text[head.end() : stop])
        return stop + len(_PARAMETER_END)

    def _value_end(self, start: int, key: str) -> int:
        found = _ANY_TAG.search(self._text, start)
        stop = found.start() if found else len(self._text)
        size = len(self._text[start:stop].encode("utf-8", "replace"))
        if size > self._limits.argument:
            what = f"the value of {key} is longer than {self._limits.argument} bytes"
            raise self._broken(Kind.LIMIT, start, what, size)
        if self._ended(stop, _PARAMETER_END):
            what = f"stream ended inside the value of {key}"
            raise self._broken(Kind.BODY_EOF, start, what, size)
        if not self._text.startswith(_PARAMETER_END, stop):
            what = f"the value of {key} is not closed before another tag, or holds a tag"
            raise self._broken(Kind.BAD_ARG, stop, what)
        at = self._space(stop + len(_PARAMETER_END))
        behind = ("<parameter", _INVOKE_END, CLOSE, "<invoke")
        if not self._ended(at, *behind) and not self._text.startswith(behind, at):
            what = f"text behind the {_PARAMETER_END} of {key}; no value may hold that tag"
            raise self._broken(Kind.BAD_ARG, at, what)
        return stop

    def _head(self, pattern: re.Pattern[str], tag: str, at: int, kind: Kind) -> re.Match[str]:
        head = pattern.match(self._text, at)
        if head is not None:
            return head
        if self._ended(at, OPEN, CLOSE, "<invoke name=", "<parameter name=", _INVOKE_END) or (
            self._text.startswith(tag, at) and ">" not in self._text[at:]
        ):
            inside = f"call of {self._tool}" if self._tool else "tool-call block"
            raise self._broken(Kind.UNEXPECTED_LINE, at, f"stream ended inside the {inside}")
        if self._text.startswith(tag, at):
            raise self._broken(kind, at, f'the tag is {tag} name="NAME"> with a plain name')
        what = f"only white space and {tag} may stand here"
        raise self._broken(Kind.UNEXPECTED_LINE, at, what)

    def _ended(self, at: int, *tags: str) -> bool:
        """Whether the text ends here, at most with a begun one of these tags."""
        longest = max(map(len, tags))
        rest = self._text[at : at + longest]
        return any(len(rest) < len(tag) and tag.startswith(rest) for tag in tags)

    def _space(self, at: int) -> int:
        return _skip(_SPACE, self._text, at)

    def _broken(self, kind: Kind, at: int, what: str, arrived: int | None = None) -> _Broken:
        return _Broken(BlockFault(kind, at, what, self._tool, arrived))


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _stripped(value: str) -> str:
    """Exactly one newline at either end belongs to the layout, the rest to the value."""
    if value == "\n":
        return ""
    return value.removeprefix("\n").removesuffix("\n")
