"""What happens to the record when the file or its disk does not do what it should."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from bridge.errors import RecordError
from bridge.store.database import Database, open_database
from bridge.store.migrations import MIGRATIONS


def test_refuses_a_newer_and_a_foreign_file(tmp_path: Path) -> None:
    """A file of a newer program, or no database at all, is a clear error and stays as it is."""
    newer = tmp_path / "newer.db"
    with closing(sqlite3.connect(newer)) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    foreign = tmp_path / "foreign.db"
    foreign.write_bytes(b"this is no database, it is a text file\n" * 50)
    before = foreign.read_bytes()
    with pytest.raises(RecordError, match="newer version"):
        open_database(newer)
    with pytest.raises(RecordError, match="not a readable database"):
        open_database(foreign)
    assert foreign.read_bytes() == before


def test_a_home_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    """A path below a file cannot become a folder: RecordError, not OSError."""
    (tmp_path / "home").write_text("a file")
    with pytest.raises(RecordError):
        open_database(tmp_path / "home" / "bridge.db")


def test_a_page_of_garbage_is_told_as_corruption(tmp_path: Path) -> None:
    """A database whose pages were overwritten is refused by name when they are read."""
    path = tmp_path / "bridge.db"
    with closing(Database(path)) as database, database.transaction() as connection:
        connection.execute("INSERT INTO sessions (id, created, title) VALUES ('s-1', 1, 't')")
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(RecordError, match="not a readable database"), closing(Database(path)) as it:
        it.rows("SELECT * FROM sessions, runs, events")


def test_a_locked_record_is_told_within_the_limit(tmp_path: Path) -> None:
    """While another program holds the write lock, writing fails by name and reading works."""
    path = tmp_path / "bridge.db"
    with (
        closing(
            Database(path, lambda path: sqlite3.connect(path, 0.05, isolation_level=None))
        ) as ours,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(RecordError, match="locked"), ours.transaction():
            pass
        assert ours.rows("SELECT count(*) FROM sessions") == [(0,)]
        other.execute("ROLLBACK")
        with ours.transaction() as connection:
            connection.execute("INSERT INTO sessions (id, created, title) VALUES ('s', 1, 't')")


def test_a_full_disk_loses_nothing_that_was_stored(tmp_path: Path) -> None:
    """When the file may not grow, the write is refused by name, and so is every later one."""
    path = tmp_path / "bridge.db"
    with closing(Database(path)) as database:
        with database.transaction() as connection:
            connection.execute("INSERT INTO sessions (id, created, title) VALUES ('s', 1, 't')")
        database.rows("PRAGMA max_page_count = 1")
        add = "INSERT INTO sessions (id, created, title) VALUES (?, 1, ?)"
        with pytest.raises(RecordError, match="disk is full"), database.transaction() as connection:
            connection.execute(add, ("big", "x" * 1_000_000))
        with pytest.raises(RecordError, match="disk is full"), database.transaction() as connection:
            connection.execute(add, ("small", "x"))
    with closing(Database(path)) as database:
        assert database.rows("SELECT id FROM sessions") == [("s",)]


@pytest.mark.skipif(sys.platform != "linux", reason="setpriv and user ids are Linux here")
def test_a_home_that_may_not_be_written_is_a_clear_error(tmp_path: Path) -> None:
    """As a user without rights: RecordError with advice, no traceback."""
    path = tmp_path / "bridge.db"
    Database(path).close()
    if os.geteuid() != 0:
        pytest.skip("needs root to become another user")
    os.chmod(path, 0o444)
    os.chmod(tmp_path, 0o555)
    code = (
        "import os, sys; from pathlib import Path\n"
        "from bridge.errors import RecordError\n"
        "from bridge.store.database import Database\n"
        "os.setuid(65534)\n"
        "try: Database(Path(sys.argv[1]))\n"
        "except RecordError as error: print(error.message, '|', error.advice)\n"
    )
    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_mode & 0o005 != 0o005:
            os.chmod(parent, parent.stat().st_mode | 0o005)
    ran = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert "BRIDGE_HOME" in ran.stdout, ran.stderr


def test_an_error_inside_a_transaction_undoes_it(tmp_path: Path) -> None:
    """Whatever is raised inside, nothing of the transaction stays and the next one works."""
    with closing(Database(tmp_path / "bridge.db")) as database:
        add = "INSERT INTO sessions (id, created, title) VALUES (?, 1, 't')"
        with pytest.raises(KeyError), database.transaction() as connection:
            connection.execute(add, ("lost",))
            raise KeyError
        with database.transaction(durable=False) as connection:
            connection.execute(add, ("kept",))
        assert database.rows("SELECT id FROM sessions") == [("kept",)]
