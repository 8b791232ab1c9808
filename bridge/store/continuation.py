"""The history that a continued session hands to its next run, in redacted form.

It is made of what the record keeps: tasks, the model's visible words, our own record of its calls,
and notices; the same for every protocol and provider. Each run's own message stands in it once,
however often the session was continued.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bridge.conversation.messages import AssistantMessage, Message, UserMessage
from bridge.errors import RecordError
from bridge.store.entries import (
    CHECKPOINT_CHARS,
    Entry,
    Role,
    bounded,
    entries_of,
    from_json,
    without_old_screen,
)
from bridge.store.sessions import RunSummary, find
from bridge.store.transcripts import RUNNING, Transcripts

_RECORD_HEAD = "Record of what the runtime did and saw then (the screen may have changed since):"


@dataclass(frozen=True)
class Continuation:
    """``history`` stands before the new task, user and assistant in turn; where it ends with a
    message of the user (an interrupted run), the new task belongs behind it in the same message.
    ``newest`` is the run that is continued: its phone, provider, model and protocol."""

    session: str
    newest: RunSummary
    history: tuple[Message, ...]


def continuation(transcripts: Transcripts, name: str) -> Continuation:
    """What a new run of the session that ``name`` (a run or session id) means has to know.

    Raises:
        RecordError: no such session, or one of its runs is going on.
    """
    database = transcripts.database
    session = find(database, name)[0].session
    runs = find(database, session)
    for run in runs:
        if run.status == RUNNING:
            raise RecordError(
                f"run {run.id} is going on", advice=f"bridge steer {run.id}, or wait until it ends"
            )
    rows = database.rows("SELECT body FROM checkpoints WHERE session = ?", (session,))
    known = [from_json(line) for line in rows[0][0].split("\n")] if rows else []
    marked = {run for (run,) in database.rows(_MARKED, (session,))}
    # runs of an older program, or still in the outbox, have no transcript: their events have all
    for run in runs:
        if run.id not in marked:
            known += map(without_old_screen, entries_of(transcripts.events(run.id)))
    history = messages(bounded(known, CHECKPOINT_CHARS))
    return Continuation(session, runs[-1], history)


_MARKED = "SELECT marks.run FROM marks JOIN runs ON runs.id = marks.run WHERE runs.session = ?"


def messages(entries: Sequence[Entry]) -> tuple[Message, ...]:
    """The entries as messages of user and assistant in turn, beginning with the user; without
    reasoning, which no provider takes back as text."""
    made: list[Message] = []
    for entry in entries:
        if entry.role is Role.REASONING:
            continue
        role = AssistantMessage if entry.role is Role.ASSISTANT else UserMessage
        text = entry.text if entry.role in (Role.USER, Role.ASSISTANT) else f"- {entry.text}"
        last = made[-1] if made else None
        if isinstance(last, AssistantMessage) and role is AssistantMessage:
            made[-1] = AssistantMessage(f"{last.text}\n{text}")
        elif isinstance(last, UserMessage) and role is UserMessage:
            made[-1] = UserMessage(f"{last.text}\n{text}")
        else:
            begins_record = role is UserMessage and entry.role is not Role.USER
            made.append(role(f"{_RECORD_HEAD}\n{text}" if begins_record else text))
    if made and isinstance(made[0], AssistantMessage):
        made.insert(0, UserMessage(_RECORD_HEAD))
    return tuple(made)
