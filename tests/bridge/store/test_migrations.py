"""Records of older programs, opened by this one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bridge.conversation.messages import AssistantMessage, UserMessage
from bridge.errors import RecordError
from bridge.store import migrations
from bridge.store.continuation import continuation
from bridge.store.database import open_database
from bridge.store.export import markdown
from bridge.store.sessions import find, listed
from bridge.store.transcripts import Transcripts
from tests.bridge.store.stories import whole_run

FIXTURES = Path(__file__).parent / "schemas"
DONE = "r-20260921-141320-aaaaaa"
KILLED = "r-20260921-141340-bbbbbb"


def old_record(folder: Path, version: int = 1) -> Path:
    """A database as the program of that schema version left it."""
    path = folder / "bridge.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((FIXTURES / f"v{version}.sql").read_text(encoding="utf-8"))
    return path


def shape(path: Path) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        names = [n for (n,) in connection.execute("SELECT name FROM sqlite_master WHERE sql <> ''")]
        return [
            (
                name,
                *(str(column[1:]) for column in connection.execute(f"PRAGMA table_info({name})")),
            )
            for name in sorted(names)
        ]


@pytest.mark.parametrize("version", range(1, len(migrations.MIGRATIONS)))
def test_every_older_record_comes_to_the_newest_schema(tmp_path: Path, version: int) -> None:
    """The migrated file has the tables of a new one, and every old row still says the same."""
    path = old_record(tmp_path, version)
    with closing(sqlite3.connect(path)) as connection:
        before = connection.execute("SELECT seq, run, body FROM events ORDER BY seq").fetchall()
        runs = connection.execute("SELECT id, status, exit_code FROM runs ORDER BY id").fetchall()
    open_database(path).close()
    open_database(tmp_path / "new" / "bridge.db").close()
    assert shape(path) == shape(tmp_path / "new" / "bridge.db")
    with closing(sqlite3.connect(path)) as connection:
        after = connection.execute("SELECT seq, run, body FROM events ORDER BY seq").fetchall()
        kept = connection.execute("SELECT id, status, exit_code FROM runs ORDER BY id").fetchall()
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert (after, kept) == (before, runs)


def test_an_old_record_is_listed_shown_and_continued(tmp_path: Path) -> None:
    """Sessions of version 1 keep their place; a run that was killed then is ended as interrupted;
    a session without a transcript is continued from what its assistant said."""
    with closing(Transcripts(old_record(tmp_path))) as transcripts:
        database = transcripts.database
        assert [session.newest.status for session in listed(database)] == [
            "failed", "interrupted", "done",
        ]  # fmt: skip
        assert list(transcripts.events(KILLED))[-2]["outcome"] == "UNKNOWN"
        told = continuation(transcripts, DONE).history
        assert "Wi-Fi is off now." in markdown(find(database, DONE)[0], transcripts.events(DONE))
    assert isinstance(told[0], UserMessage) and told[0].text.startswith(
        "turn off Wi-Fi, 关掉无线网"
    )
    assert isinstance(told[-1], AssistantMessage) and told[-1].text == "Wi-Fi is off now."


def test_an_old_session_that_goes_on_keeps_its_order(tmp_path: Path) -> None:
    """A run of version 1, then runs of today in its session: the history tells them in order."""
    with closing(Transcripts(old_record(tmp_path))) as transcripts:
        session = find(transcripts.database, DONE)[0].session
        for number in (1, 2):
            whole_run(transcripts, f"r-new-{number}", session, f"new task {number}")
        history = continuation(transcripts, session).history
    text = "\n".join(str(getattr(message, "text", "")) for message in history)
    order = [text.index(each) for each in ("关掉无线网", "new task 1", "new task 2")]
    assert order == sorted(order)


def test_a_migration_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    """A name that is taken stops the migration half-way: an error, and nothing has changed."""
    path = old_record(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE previews (mine TEXT)")
        connection.commit()
    before = shape(path)
    with pytest.raises(RecordError):
        open_database(path)
    assert shape(path) == before
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
