"""Gathers the fragments of native tool calls into calls, without ever repairing one.

Servers number calls from anywhere or not at all, give every parallel call the index 0, repeat or
leave out ids, and interleave. A fragment that cannot be attributed breaks the message: guessing
would put one call's arguments into another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bridge.conversation.stream import CallClosed, CallDelta
from bridge.cst.gate import CallState
from bridge.cst.values import json_object

# an id goes into requests, the record and terminals: anything odd gets a local one
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_PLAIN_ID = re.compile(r"[!-~]{1,128}")


class Unattributable(Exception):
    """A fragment that belongs to no call for certain."""


@dataclass(frozen=True)
class Judgement:
    """``arguments`` are those of a WHOLE call; ``why`` tells what is wrong with a BROKEN one."""

    state: CallState
    arguments: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""


@dataclass
class Slot:
    """One call as far as it arrived. ``fault`` says why it can never run ("" while it may)."""

    number: int
    key: str
    given_id: str
    id: str
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    size: int = 0
    whole: bool = False
    fault: str = ""
    unfinished: bool = True  # when the next call began
    closed: bool = False  # the wire said that nothing more comes

    @property
    def shown_name(self) -> str:
        """The name, or a word in its place where no tool can be called like that."""
        return self.name if _NAME.fullmatch(self.name) else "unnamed"

    @property
    def arguments(self) -> str:
        return _joined("".join(self.pieces))

    def take(self, delta: CallDelta) -> str:
        """Add the fragment; the new argument text."""
        self._take_name(delta.name)
        piece = delta.arguments
        if not piece:
            return ""
        if self.pieces and (delta.whole or self.whole):
            self.fault = self.fault or "its arguments came twice"
        self.whole = self.whole or delta.whole
        self.pieces.append(piece)
        self.size += len(piece.encode("utf-8", "surrogatepass"))
        return piece

    def close(self, arguments: str | None) -> str:
        """Nothing more may come; the argument text that came only with the close."""
        self.closed = True
        if not arguments:
            return ""
        if not self.pieces:
            return self.take(CallDelta(arguments=arguments))
        if _joined(arguments) != self.arguments:
            self.fault = self.fault or "its arguments were closed with another text than arrived"
        return ""

    def _take_name(self, name: str) -> None:
        if not name or name == self.name:
            return
        if self.pieces:
            self.fault = self.fault or f"its name changed from {self.name!r} to {name!r}"
        else:
            self.name += name


def judge(slot: Slot) -> Judgement:
    """What the fragments so far amount to."""
    if slot.fault:
        return Judgement(CallState.BROKEN, why=slot.fault)
    if not _NAME.fullmatch(slot.name):
        return Judgement(CallState.BROKEN, why="it names no tool")
    if not slot.pieces:
        return Judgement(CallState.EMPTY)
    try:
        return Judgement(CallState.WHOLE, json_object(slot.arguments))
    except ValueError as error:
        return Judgement(CallState.BROKEN, why=f"its arguments are not one JSON object: {error}")


class NativeCalls:
    """The calls of one message in the order of their first fragment."""

    def __init__(self) -> None:
        self.slots: list[Slot] = []

    def find(self, delta: CallDelta) -> Slot | None:
        """The slot the fragment continues; None when it begins a call.

        Raises:
            Unattributable: it has neither an own id nor a place that is known.
        """
        if delta.key:
            return self._by_key(delta)
        if delta.id:
            return self._by_id(delta.id)
        return self._without_mark(delta)

    def closing(self, event: CallClosed) -> Slot:
        """The slot that the close is about.

        Raises:
            Unattributable: no call began there, it was closed before, or several are open there.
        """
        there = [slot for slot in self.slots if slot.key == event.key]
        still_open = [slot for slot in there if not slot.closed]
        if len(still_open) == 1:
            return still_open[0]
        if still_open:
            raise Unattributable(f"the end of one of several calls at index {event.key}")
        if there:
            raise Unattributable(f"call {there[-1].id} was closed twice")
        raise Unattributable(f"the end of a call at index {event.key}, where none began")

    def open(self, delta: CallDelta) -> Slot:
        """A new slot for the fragment, which is not yet taken."""
        if self.slots:
            self.slots[-1].unfinished = judge(self.slots[-1]).state is not CallState.WHOLE
        number = len(self.slots)
        known = {slot.id for slot in self.slots}
        repeated = delta.id in {slot.given_id for slot in self.slots if slot.given_id}
        usable = _PLAIN_ID.fullmatch(delta.id) and delta.id not in known
        slot = Slot(number, delta.key, delta.id, delta.id if usable else _local_id(number, known))
        if repeated:
            slot.fault = f"the id {delta.id!r} was used before in this reply"
        self.slots.append(slot)
        return slot

    def _by_key(self, delta: CallDelta) -> Slot | None:
        there = [slot for slot in self.slots if slot.key == delta.key]
        if not there:
            if delta.id or delta.name:
                return None
            raise Unattributable(f"arguments for index {delta.key}, where no call began")
        if not delta.id or not there[-1].given_id:
            return there[-1]
        # the index 0 for every parallel call is common; a new id is a new call
        return next((slot for slot in reversed(there) if slot.given_id == delta.id), None)

    def _by_id(self, call_id: str) -> Slot | None:
        return next((slot for slot in self.slots if slot.given_id == call_id), None)

    def _without_mark(self, delta: CallDelta) -> Slot | None:
        if not self.slots:
            if delta.name:
                return None
            raise Unattributable("arguments before any call began")
        *earlier, last = self.slots
        if earlier and (last.key or any(slot.unfinished for slot in earlier)):
            raise Unattributable("a fragment without index and id that may belong to several calls")
        return last


def _joined(text: str) -> str:
    """JSON escapes can split one character over two chunks; here its halves meet again."""
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        return text


def _local_id(number: int, known: set[str]) -> str:
    local = f"call_{number + 1}"
    while local in known:
        local += "_"
    return local
