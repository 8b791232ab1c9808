"""What a session remembers of a run: entries made from its events, and cuts that say so.

Entries hold the task, the model's visible words, our own record of its calls, and notices;
nothing of a provider's wire. They are made from redacted records, so they are redacted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from device_tools.catalog import OBSERVE_SCREEN

ARCHIVE_CHARS = 1_000_000
"""Of one session's messages."""
CHECKPOINT_CHARS = 96_000
"""Of the context for a continuation, and of any transcript handed out."""
NOTICE_ROOM = 200
"""A notice of a cut is shorter than this."""

OLD_SCREEN = "[element list left out: the screen may have changed since]"


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    REASONING = "reasoning"
    TOOL = "tool"
    NOTICE = "notice"
    CUT = "cut"


@dataclass(frozen=True)
class Entry:
    """One message of a transcript. ``left_out`` counts what a CUT stands for, in characters."""

    role: Role
    text: str
    run: str = ""
    left_out: int = 0

    @property
    def chars(self) -> int:
        return len(self.text)

    def to_json(self) -> str:
        values = {"role": self.role, "text": self.text, "run": self.run, "left_out": self.left_out}
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def from_json(body: str) -> Entry:
    """The entry that ``to_json`` wrote."""
    values = json.loads(body)
    return Entry(Role(values["role"]), values["text"], values["run"], values["left_out"])


def entries_of(records: Iterable[Mapping[str, Any]]) -> Iterator[Entry]:
    """The entries of one run, in order; works on the events of every schema version."""
    intents: dict[tuple[int, str], Mapping[str, Any]] = {}
    said = ""
    for record in records:
        match record["type"]:
            case "call_intended":
                intents[record["turn"], record["call_id"]] = record
            case "call_finished":
                intent = intents.pop((record["turn"], record["call_id"]), None)
                yield Entry(Role.TOOL, _call_text(record, intent), record["run"])
            case "steering_read":
                yield Entry(Role.USER, record["text"], record["run"])
            case "assistant_text":
                said = record["text"]
                yield Entry(Role.ASSISTANT, said, record["run"])
            case "run_finished":
                yield from _ending(record, said)
            case _:
                yield from _plain(record)


def bounded(entries: Sequence[Entry], limit: int) -> list[Entry]:
    """The newest entries within ``limit`` characters, behind a notice that says what is missing.

    A newest entry that is too long by itself keeps its end, behind the same notice.
    """
    if sum(entry.chars for entry in entries) <= limit:
        return list(entries)
    room = limit - NOTICE_ROOM
    kept: list[Entry] = []
    for entry in reversed(entries):
        if entry.chars > room:
            break
        room -= entry.chars
        kept.insert(0, entry)
    dropped = list(entries[: len(entries) - len(kept)])
    left_out = sum(entry.left_out if entry.role is Role.CUT else entry.chars for entry in dropped)
    if not kept:
        last = dropped[-1]
        kept = [replace(last, text=last.text[-room:])]
        left_out -= room
    return [cut_notice(left_out), *kept]


def without_old_screen(entry: Entry) -> Entry:
    """For a later run: an observation keeps its title; the elements it listed are gone."""
    if entry.role is not Role.TOOL or not entry.text.startswith(OBSERVE_SCREEN.name):
        return entry
    head = entry.text.split("\n", 2)
    if len(head) < 3:
        return entry
    return replace(entry, text="\n".join([*head[:2], OLD_SCREEN]))


def cut_notice(characters: int) -> Entry:
    """The entry that stands where older ones were left out."""
    text = (
        f"[{characters} characters of the earlier transcript are left out here; "
        "what follows is its newest part]"
    )
    return Entry(Role.CUT, text, left_out=characters)


def _call_text(record: Mapping[str, Any], intent: Mapping[str, Any] | None) -> str:
    arguments = ""
    if intent is not None:
        arguments = " " + json.dumps(intent["arguments"], ensure_ascii=False)
    head = f"{record['name']}{arguments}: {record['outcome']} exit={record['exit_code']}"
    pictures = "".join(f"\n[picture: {note}]" for note in record["images"])
    return f"{head}\n{record['text']}{pictures}".rstrip()


def _ending(record: Mapping[str, Any], said: str) -> Iterator[Entry]:
    for text in record.get("unread", ()):
        yield Entry(Role.NOTICE, f"the user also wrote, too late for a turn: {text}", record["run"])
    summary = record["summary"]
    if record["status"] != "done" and record["error"] != "model_reported_failure":
        text = f"the run ended: {record['status']}: {summary}"
        yield Entry(Role.NOTICE, text, record["run"])
    elif (answer := record["output"] or summary) and answer != said:
        yield Entry(Role.ASSISTANT, answer, record["run"])


def _plain(record: Mapping[str, Any]) -> Iterator[Entry]:
    run = record["run"]
    match record["type"]:
        case "run_started":
            yield Entry(Role.USER, record["task"], run)
        case "contract_fault":
            text = f"unreadable reply ({record['kind']}): {record['message']}"
            yield Entry(Role.NOTICE, text, run)
        case "notice":
            yield Entry(Role.NOTICE, record["text"], run)
        case "reasoning_text":
            yield Entry(Role.REASONING, record["text"], run)
        case "hosted_tool_ended":
            how = "failed" if record["failed"] else "ended"
            yield Entry(Role.NOTICE, f"the provider's own tool {record['name']} {how}", run)
