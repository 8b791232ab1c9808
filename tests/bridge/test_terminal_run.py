"""A run whose model works in the phone's terminal: results reach it, secrets no record."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from device_tools.virtual.userland import phone_userland
from tests.alpine.host_view import carrying, wait_until_gone, wait_until_started
from tests.bridge.test_run import FINISH, Home, server_run, wait_until
from tests.doubles.provider_server import ScriptedServer, chat_answer

_REASON = phone_userland.available()
pytestmark = pytest.mark.skipif(bool(_REASON), reason=_REASON or "")

SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
WORK = f"""\
call c1 run_command
arg command echo made >/sdcard/made.txt; echo token {SECRET}; exit 3
end
call c2 read_file
arg path /sdcard/made.txt
end
call c3 terminal
arg action open_and_exec
arg command cd /sdcard
end
call c4 terminal
arg action exec
arg session_id s1
arg command pwd -P
end
"""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path / "home")
    yield made
    wait_until(lambda: not made.processes(), "no process is left")


def test_the_model_works_in_the_terminal(home: Home) -> None:
    """A non-zero exit code does not end the batch; the session's id is what the answer said."""
    with ScriptedServer([chat_answer(WORK), chat_answer(FINISH)]) as server:
        ran = home.run_on_server(server)
        answers = server.requests[1].json["messages"][-1]["content"]
    assert ran.returncode == 0, ran.stderr
    assert "result c1 exit=3 " in answers and SECRET in answers
    assert "result c2 exit=0 5\nmade\n" in answers
    assert "/storage/emulated/0" in answers
    shown = home.bridge("sessions", "show", "s-", "--json").stdout
    assert SECRET not in shown and "run_command" in shown
    for path in home.folder.glob("bridge.db*"):
        assert SECRET.encode() not in path.read_bytes()


def test_ctrl_c_ends_what_runs_on_the_phone(home: Home) -> None:
    """A cancel in the middle of a command leaves no process of it, and says 130."""
    word = "77001.25"
    text = f"call c1 run_command\narg command setsid sleep {word} & sleep {word}\nend\n"
    with ScriptedServer([chat_answer(text)]) as server:
        run = home.start(*server_run(server))
        wait_until_started(word, 2, 60)
        run.send_signal(signal.SIGINT)
        assert run.wait(30) == 130
        run.communicate()
    wait_until_gone(word)
    assert carrying(word) == []
