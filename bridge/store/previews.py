"""Small pictures of a run for its report: few, small, and never part of a history.

A picture cannot be redacted, so none is kept of a screen that shows a secret. Whether it does
stands in the note that the redacted record has of the picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bridge.conversation.events import SENSITIVE_PICTURE
from bridge.errors import RecordError
from bridge.store.database import Database

PREVIEW_BYTES = 64 * 1024
PREVIEWS_OF_A_RUN = 64


@dataclass(frozen=True)
class Preview:
    """The picture that the answer of call ``call_id`` in ``turn`` came with."""

    turn: int
    call_id: str
    mime: str
    data: bytes


def preview_of(record: Mapping[str, Any], place: int, mime: str, data: bytes) -> Preview | None:
    """The preview of picture ``place`` of a redacted ``call_finished`` record; None where the
    screen shows a secret, or the record keeps no pictures of that call."""
    notes = record["images"]
    if place >= len(notes) or notes[place].endswith(SENSITIVE_PICTURE):
        return None
    return Preview(record["turn"], record["call_id"], mime, data)


def add_preview(database: Database, run: str, preview: Preview) -> bool:
    """Keep ``preview``; False when the run has as many as it may have.

    Raises:
        RecordError: it is too large, or it cannot be stored.
    """
    if len(preview.data) > PREVIEW_BYTES:
        raise RecordError(
            f"a preview has {len(preview.data)} bytes, more than {PREVIEW_BYTES}",
            advice="make it smaller before it is stored",
        )
    with database.transaction(durable=False) as connection:
        added = connection.execute(
            "INSERT INTO previews (run, turn, call_id, mime, data) SELECT ?, ?, ?, ?, ? "
            "WHERE (SELECT count(*) FROM previews WHERE run = ?) < ?",
            (
                run, preview.turn, preview.call_id, preview.mime, preview.data,
                run, PREVIEWS_OF_A_RUN,
            ),
        ).rowcount  # fmt: skip
    return added == 1


def previews(database: Database, run: str) -> Iterator[Preview]:
    """The previews of a run in the order they were added, one read at a time."""
    numbers = database.rows("SELECT seq FROM previews WHERE run = ? ORDER BY seq", (run,))
    for (number,) in numbers:
        query = "SELECT turn, call_id, mime, data FROM previews WHERE seq = ?"
        yield from (Preview(*row) for row in database.rows(query, (number,)))
