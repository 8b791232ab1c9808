"""The control socket by itself: real sockets, a real record, no model and no phone."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bridge.control.client import find_running, send
from bridge.control.protocol import MAX_LINE, address_of, place_of
from bridge.control.server import MAX_CLIENTS, serve
from bridge.control.session import RunSession, time_limit
from bridge.errors import ControlError, RecordError
from bridge.store.run_state import Ender
from bridge.store.transcripts import Transcripts
from device_tools.cancel import CancelScope
from tests.bridge.store.stories import begin, end


@dataclass
class Served:
    home: Path
    session: RunSession
    cancel: CancelScope

    def send(self, **order: Any) -> dict[str, Any]:
        return send(self.home, self.session.run, order)

    def connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(20)
        connection.connect(address_of(self.home, self.session.run))
        return connection


@contextmanager
def served(home: Path, run: str = "r-1") -> Iterator[Served]:
    """A run with an open control socket."""
    with closing(Transcripts(home / "bridge.db")) as transcripts:
        cancel = CancelScope()
        session = RunSession(run, begin(transcripts, run, f"s-{run}"), cancel)
        with serve(home, session):
            yield Served(home, session, cancel)


def test_orders_are_carried_out_and_answered(tmp_path: Path) -> None:
    """Each order changes the run and its reply says to what; saying it again says so."""
    with served(tmp_path) as run:
        assert run.send(command="steer", text="a")["number"] == 1
        assert [run.send(command="pause")["state"] for _ in "ab"] == ["pausing", "paused already"]
        assert run.send(command="steer", text="b")["paused"] is True
        assert [run.send(command="resume")["state"] for _ in "ab"] == ["resumed", "was not paused"]
        assert not run.cancel.cancelled
        states = [
            run.send(command="cancel")["state"],
            run.send(command="replace", by="r-2")["state"],
        ]
        assert states == ["cancelled", "ending already"]
        assert run.cancel.cancelled
        assert run.session.settle() is Ender.CANCEL
        with pytest.raises(ControlError, match="no more messages"):
            run.send(command="steer", text="late")


def test_the_first_to_end_a_run_wins(tmp_path: Path) -> None:
    """A replaced run says by whom; its own end that came first is told from neither."""
    with served(tmp_path) as run:
        assert run.send(command="replace", by="r-2")["state"] == "replaced"
        assert run.session.settle() is Ender.REPLACED
        assert "r-2" in str(run.session.reason(Ender.REPLACED))
    with served(tmp_path, "r-3") as run:
        assert run.session.settle() is Ender.END
        assert run.send(command="cancel")["state"] == "ending already"
        assert not run.cancel.cancelled


def test_a_signal_counts_as_cancel(tmp_path: Path) -> None:
    """A handler only cancels the scope; the run's own thread then claims the end as cancelled."""
    with served(tmp_path) as run:
        run.cancel.cancel()
        assert run.session.settle() is Ender.CANCEL


def test_the_time_limit_cancels_and_is_named(tmp_path: Path) -> None:
    """When the minutes are over the scope is cancelled; in time, the timer is gone."""
    with served(tmp_path) as run:
        with time_limit(run.session, 60):
            pass
        with time_limit(run.session, 0.001):
            limit = time.monotonic() + 20
            while not run.cancel.cancelled:
                assert time.monotonic() < limit
                time.sleep(0.01)
        assert run.session.settle() is Ender.TIME_LIMIT
        assert "0.001 minutes" in str(run.session.reason(Ender.TIME_LIMIT))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"hello", "something else"),
        (b"[]", "something else"),
        (b'{"v": 2, "command": "pause"}', "something else"),
        (b'{"v": 1, "command": "explode"}', "no order 'explode'"),
        (b'{"v": 1}', "no order None"),
        (b"\xff\xfe", "something else"),
        (b'{"v": 1, "command": "steer"}', "1 to 8000 characters"),
        (b'{"v": 1, "command": "steer", "text": " "}', "1 to 8000 characters"),
    ],
)
def test_what_is_no_order_is_refused_in_words(tmp_path: Path, line: bytes, says: str) -> None:
    """The reply says what was wrong, and the connection takes the next order."""
    with served(tmp_path) as run, run.connect() as connection:
        stream = connection.makefile("rb")
        connection.sendall(line + b"\n")
        reply = json.loads(stream.readline())
        assert reply["ok"] is False and says in reply["error"]
        connection.sendall(b'{"v": 1, "command": "pause"}\n')
        assert json.loads(stream.readline())["state"] == "pausing"
        stream.close()


def test_an_endless_line_is_refused(tmp_path: Path) -> None:
    """What sends more than the limit without a line's end gets an error and no memory."""
    with served(tmp_path) as run, run.connect() as connection:
        connection.sendall(b"x" * (MAX_LINE + 8192))
        assert "at most" in json.loads(connection.makefile("rb").readline())["error"]


def test_idle_clients_are_bounded_and_hold_up_nobody(tmp_path: Path) -> None:
    """Silent clients do not keep others out below the limit; above it a client is told so; the
    end of the run closes them all."""
    with served(tmp_path, "r-2") as run:
        below = [run.connect() for _ in range(MAX_CLIENTS - 1)]
        assert run.send(command="pause")["ok"] is True
        for connection in below:
            connection.close()
    with served(tmp_path) as run:
        idle = [run.connect() for _ in range(MAX_CLIENTS)]
        with pytest.raises(ControlError, match="too many clients"):
            run.send(command="pause")
        started = time.monotonic()
    assert time.monotonic() - started < 8
    for connection in idle:
        with connection:
            assert connection.recv(1) == b""


def test_the_socket_is_private(tmp_path: Path) -> None:
    """Folder 0700, socket 0600, also when the folder was there with other rights."""
    (tmp_path / "control").mkdir(mode=0o755)
    with served(tmp_path):
        place = place_of(tmp_path, "r-1")
        assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert list((tmp_path / "control").iterdir()) == []


STRANGER = """
import contextlib, os, socket, sys
os.setuid(65534)
connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
with contextlib.suppress(BrokenPipeError):
    connection.sendall(b'{"v": 1, "command": "cancel"}\\n')
print(connection.makefile().readline())
"""


@pytest.mark.skipif(os.geteuid() != 0 or sys.platform != "linux", reason="needs a second user")
def test_another_user_is_refused_by_the_kernels_word() -> None:
    """Even where rights were opened up, a process of another user cannot steer the run."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as run:
        place = place_of(Path(folder), "r-1")
        place.parents[1].chmod(0o755)
        place.parent.chmod(0o755)
        place.chmod(0o666)
        ran = subprocess.run(
            [sys.executable, "-c", STRANGER, str(place)], capture_output=True, text=True, timeout=30
        )
        assert "another user" in ran.stdout, ran.stderr
        assert not run.cancel.cancelled


def test_a_long_home_folder_works(tmp_path: Path) -> None:
    """Where the path is longer than a socket's address may be, a link leads to a short place,
    and nothing of it is left."""
    home = tmp_path / ("long" * 25)
    with served(home) as run:
        place = place_of(home, "r-1")
        target = Path(os.readlink(place))
        assert run.send(command="pause")["state"] == "pausing"
        assert stat.S_IMODE(target.parent.stat().st_mode) == 0o700
    assert not place.is_symlink() and not target.parent.exists()


KILLED = """
import os, sys
from pathlib import Path
from tests.bridge.control.test_server import served
with served(Path(sys.argv[1]), "r-killed"):
    os.kill(os.getpid(), 9)
"""


def test_what_a_killed_run_left_is_swept(tmp_path: Path) -> None:
    """The next run removes the socket of a dead one, and its short place; a living one's stays."""
    home = tmp_path / ("long" * 25)
    ended = subprocess.run([sys.executable, "-c", KILLED, str(home)], timeout=60)
    assert ended.returncode == -signal.SIGKILL
    left = place_of(home, "r-killed")
    short = Path(os.readlink(left)).parent
    assert short.exists()
    with served(home, "r-2") as second:
        assert not left.is_symlink() and not short.exists()
        with served(home, "r-3"):
            assert second.send(command="pause")["state"] == "pausing"


def test_runs_are_found_by_any_of_their_names(tmp_path: Path) -> None:
    """Run id, session id and their beginnings mean the going run; one that is over says so."""
    with closing(Transcripts(tmp_path / "bridge.db")) as transcripts:
        begin(transcripts, "r-20", "s-20")
        end(begin(transcripts, "r-10", "s-10"))
        for name in ("r-20", "s-20", "r-2", "s-2"):
            assert find_running(tmp_path, name) == "r-20"
        with pytest.raises(ControlError, match="run r-10 is over: done"):
            find_running(tmp_path, "s-1")
        with pytest.raises(RecordError, match="several sessions"):
            find_running(tmp_path, "r-")
        with pytest.raises(ControlError, match="starting or ending"):
            send(tmp_path, "r-20", {"command": "pause"})
