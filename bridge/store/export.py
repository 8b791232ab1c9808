"""Transcripts for others: JSON Lines, Markdown, and the bounded form that is handed out."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bridge.store.entries import (
    ARCHIVE_CHARS,
    CHECKPOINT_CHARS,
    NOTICE_ROOM,
    Entry,
    Role,
    bounded,
    cut_notice,
    entries_of,
)
from bridge.store.redaction import RECORD_VERSION
from bridge.store.sessions import RunSummary

_HEADINGS = {
    Role.USER: "Task",
    Role.ASSISTANT: "Model",
    Role.REASONING: "Reasoning",
    Role.TOOL: "Call",
    Role.NOTICE: "Notice",
    Role.CUT: "Cut",
}


def json_line(record: Mapping[str, Any]) -> str:
    """One record on one line."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def handed_out(
    records: Sequence[Mapping[str, Any]], limit: int = CHECKPOINT_CHARS
) -> list[Mapping[str, Any]]:
    """The newest records within ``limit`` characters of JSON Lines, behind a ``notice`` record
    that says how much is missing; all of them when they fit."""
    sizes = [len(json_line(record)) + 1 for record in records]
    if sum(sizes) <= limit:
        return list(records)
    room = limit - 2 * NOTICE_ROOM
    first = len(records)
    while first and sizes[first - 1] <= room:
        first -= 1
        room -= sizes[first]
    at = records[min(first, len(records) - 1)]
    notice = {
        "v": RECORD_VERSION,
        "type": "notice",
        "run": at["run"],
        "time": at["time"],
        "turn": 0,
        "text": f"{cut_notice(sum(sizes[:first])).text} `bridge sessions export` has all",
    }
    return [notice, *records[first:]]


def markdown(run: RunSummary, records: Iterable[Mapping[str, Any]]) -> str:
    """The story of one run for people, at most 1,000,000 characters."""
    started = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(run.started))
    head = (
        f"# {_one_line(run.title)}\n\n"
        f"- run: `{run.id}`, session: `{run.session}`\n"
        f"- started: {started}\n- status: {run.status}\n- device: `{run.device}`\n"
        f"- model: `{run.model}` of {run.provider}, protocol {run.protocol}\n"
    )
    parts = [Entry(each.role, _section(each), each.run) for each in entries_of(records)]
    kept = bounded(parts, ARCHIVE_CHARS - len(head) - NOTICE_ROOM)
    return head + "".join(_section(each) if each.role is Role.CUT else each.text for each in kept)


def _section(entry: Entry) -> str:
    return f"\n## {_HEADINGS[entry.role]}\n\n{_fenced(entry)}\n"


def _fenced(entry: Entry) -> str:
    """Everything is quoted verbatim: what a screen or a model said is no Markdown of ours."""
    longest = max((len(run) for run in _backtick_runs(entry.text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{entry.text}\n{fence}"


def _backtick_runs(text: str) -> Iterator[str]:
    run = ""
    for character in text:
        if character == "`":
            run += character
        elif run:
            yield run
            run = ""
    if run:
        yield run


def _one_line(text: str) -> str:
    return " ".join(text.split())
