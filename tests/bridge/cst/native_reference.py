"""A deliberately simple whole-stream reading of native calls, to hold the carriers against.

It shares nothing with them: it sees the whole list of wire entries (the dicts of ``tool_calls``,
and ``{"close": index}`` with or without ``arguments`` where the wire ends a call) at once, first
says which call each entry belongs to, and only then asks which calls run.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from typing import Any

LOST = "cannot be attributed"


@dataclass
class Call:
    """``parts``: (position in the stream, entry). ``closed``: where the wire ended it;
    ``denied``: where that end told other arguments than had arrived."""

    parts: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    index: Any = None
    id: str = ""
    repeated: bool = False
    closed: int | None = None
    denied: int | None = None

    def upto(self, position: int) -> Call:
        parts = [part for part in self.parts if part[0] < position]
        denied = self.denied if self.denied is not None and self.denied < position else None
        return Call(parts, self.index, self.id, self.repeated, self.closed, denied)

    @property
    def text(self) -> str:
        return "".join(argument(entry) for _, entry in self.parts)

    @property
    def name(self) -> str | None:
        """None when it changed after arguments had come."""
        name, begun = "", False
        for _, entry in self.parts:
            given = word(function(entry).get("name"))
            if given and given != name:
                if begun:
                    return None
                name += given
            begun = begun or argument(entry) != ""
        return name

    @property
    def first_name(self) -> str:
        """The name it had when its first arguments came."""
        name = ""
        for _, entry in self.parts:
            given = word(function(entry).get("name"))
            name += given if given != name else ""
            if argument(entry):
                break
        return name

    @property
    def value(self) -> dict[str, Any] | None:
        """The arguments, when they are one JSON object said once."""
        said = [function(entry)["arguments"] for _, entry in self.parts if argument(entry)]
        if self.repeated or not self.name or self.denied is not None:
            return None
        if any(isinstance(each, dict) for each in said) and len(said) > 1:
            return None
        try:
            value = json.loads(self.text, object_pairs_hook=once, parse_constant=never)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) and not halves(value) else None


def halves(value: Any) -> bool:
    """Whether some text in it has half a surrogate pair."""
    if isinstance(value, dict):
        return any(halves(key) or halves(each) for key, each in value.items())
    if isinstance(value, list):
        return any(halves(each) for each in value)
    return isinstance(value, str) and any("\ud800" <= char <= "\udfff" for char in value)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        raise ValueError("twice")
    return dict(pairs)


def never(what: str) -> Any:
    raise ValueError(what)


def function(entry: dict[str, Any]) -> dict[str, Any]:
    return entry.get("function") or {}


def word(value: Any) -> str:
    return "" if value in (None, "null") else str(value)


def argument(entry: dict[str, Any]) -> str:
    given = function(entry).get("arguments")
    if given is None:
        return ""
    return json.dumps(given) if isinstance(given, dict) else str(given)


def attributed(entries: list[dict[str, Any]]) -> tuple[list[Call], int]:
    """The calls, and the position of the first entry that belongs to none (or the end)."""
    calls: list[Call] = []
    for position, entry in enumerate(entries):
        if "close" in entry:
            if not closes(calls, position, entry):
                return calls, position
            continue
        index, id_, name = (
            entry.get("index"),
            word(entry.get("id")),
            word(function(entry).get("name")),
        )
        call = None
        if index is not None:
            same = [each for each in calls if each.index == index]
            if not same and not id_ and not name:
                return calls, position
            if same and (not id_ or not same[-1].id):
                call = same[-1]
            elif same:
                call = ([each for each in same if each.id == id_] or [None])[-1]
        elif id_:
            call = ([each for each in calls if each.id == id_] or [None])[0]
        elif calls:
            at = [each.parts[0][0] for each in calls] + [position]
            whole = [each.upto(at[n + 1]).value is not None for n, each in enumerate(calls[:-1])]
            if len(calls) > 1 and (calls[-1].index is not None or not all(whole)):
                return calls, position
            call = calls[-1]
        elif not name:
            return calls, position
        if call is None:
            call = Call(index=index, id=id_, repeated=id_ in [c.id for c in calls if c.id])
            calls.append(call)
        elif call.closed is not None and matters(entry, call):
            return calls, position
        call.parts.append((position, entry))
    return calls, len(entries)


def closes(calls: list[Call], position: int, entry: dict[str, Any]) -> bool:
    """Ends the one call that is open at the index; False when there is not exactly one."""
    open_calls = [c for c in calls if c.index == entry["close"] and c.closed is None]
    if len(open_calls) != 1:
        return False
    call, said = open_calls[0], entry.get("arguments")
    call.closed = position
    if said and call.text == "":
        call.parts.append((position, {"function": {"arguments": said}}))
    elif said and said != call.text:
        call.denied = position
    return True


def executed(
    entries: list[dict[str, Any]], mode: str, end: str | None
) -> list[tuple[str, dict[str, Any]]]:
    """(name, arguments) of every call that runs; ``end`` None while the stream is open."""
    calls, valid = attributed(entries)
    runs: list[tuple[str, dict[str, Any]]] = []
    waiting = list(calls)
    broken_off = valid < len(entries)
    if mode == "native-inc":
        for call, following in itertools.zip_longest(calls, calls[1:]):
            begun = following.parts[0][0] if following else len(entries)
            alone = call.closed is not None and call.closed < begun
            if following is None and not alone:
                break
            closed = call.upto(begun)
            if closed.value is None:
                break
            runs.append((closed.name or "", closed.value))
            waiting.remove(call)
            late = [p for p, entry in call.parts if p >= begun and matters(entry, closed)]
            late += [call.denied] if call.denied is not None else []
            # whatever is late ends the reply where it comes
            if late:
                return executed(entries[: min(late)], mode, None)
    if end != "tool_calls" or broken_off:
        return runs
    if mode == "native-eos" and not all(runnable(call) for call in waiting):
        return runs
    return runs + [(call.name or "", call.value or {}) for call in waiting if runnable(call)]


def matters(entry: dict[str, Any], closed: Call) -> bool:
    """Whether it adds to a call that is over, or begins another at its place."""
    name, id_ = word(function(entry).get("name")), word(entry.get("id"))
    return (
        argument(entry) != "" or name not in ("", closed.first_name) or id_ not in ("", closed.id)
    )


def runnable(call: Call) -> bool:
    if call.repeated or not call.name or call.denied is not None:
        return False
    return call.text == "" or call.value is not None
