"""The terminal tools as the model calls them, on the virtual phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from alpine.catalog import TERMINAL_TOOLS
from alpine.terminal import open_terminal
from alpine.tools import TerminalTools
from device_tools.adb import AdbPhone
from device_tools.errors import Outcome
from device_tools.result import ToolResult
from device_tools.schema import validate
from tests.alpine.host_view import carrying, wait_until_gone, wait_until_started

SPECS = {spec.name: spec for spec in TERMINAL_TOOLS}
Call = Callable[..., ToolResult]


@pytest.fixture
def call(phone: AdbPhone) -> Iterator[Call]:
    with open_terminal(phone) as terminal:
        tools = TerminalTools(terminal)

        def run(name: str, **arguments: Any) -> ToolResult:
            return tools.execute(validate(SPECS[name], "c1", arguments))

        yield run


def test_a_command_answers_output_and_exit_code(call: Call) -> None:
    """Streams apart, the code of the command, and DONE: it ran."""
    result = call("run_command", command="echo a; echo b >&2; exit 3", cwd="/sdcard")
    assert (result.outcome, result.exit_code) == (Outcome.DONE, 3)
    assert result.data == {"stdout": "a\n", "stderr": "b\n", "exit_code": 3}
    assert result.text == "a\n[stderr]\nb\n[exit code 3]"


def test_a_command_cannot_become_another_one(call: Call) -> None:
    """Whatever the text holds, it is one word for the shell that runs it, and cwd is a name."""
    assert call("run_command", command="echo 'a'\\''b' \"$((1+1))\"").data["stdout"] == "a'b 2\n"
    result = call("run_command", command="echo ran", cwd="/sdcard; echo injected")
    assert "injected" not in result.data["stdout"] and result.exit_code == 1


def test_long_output_keeps_its_head_and_tail(call: Call) -> None:
    """What is left out is told, and both ends are there."""
    result = call("run_command", command="seq 1 100000", max_chars=1000)
    out = result.data["stdout"]
    assert out.startswith("1\n2\n") and out.endswith("\n100000\n")
    assert "[... 587895 of 588895 characters left out ...]" in out


def test_a_time_out_ends_the_command(call: Call) -> None:
    """Exit code 124, what it wrote so far, and nothing left on the phone."""
    word = "73001.25"
    text = f"echo begun; setsid sleep {word} & sleep {word}"
    result = call("run_command", command=text, timeout_ms=500)
    assert (result.outcome, result.exit_code, result.error) == (Outcome.DONE, 124, "timed_out")
    assert result.data["stdout"] == "begun\n"
    assert "time limit" in result.text
    assert carrying(word) == []


def test_a_session_opens_runs_and_closes(call: Call) -> None:
    """The id of open is what exec and close take; afterwards it is unknown."""
    opened = call("terminal", action="open", cwd="/data/local/tmp")
    session = opened.data["session_id"]
    assert call("terminal", action="exec", session_id=session, command="x=5; pwd").data[
        "stdout"
    ] == "/data/local/tmp\n"  # fmt: skip
    assert call("terminal", action="exec", session_id=session, command="echo $x").text == "5"
    assert call("terminal", action="close", session_id=session).ok
    refused = call("terminal", action="exec", session_id=session, command="echo $x")
    assert (refused.error, refused.outcome) == ("unknown_session", Outcome.NOT_SENT)


def test_open_and_exec_does_both(call: Call) -> None:
    """One call, and the session goes on."""
    result = call("terminal", action="open_and_exec", command="x=7; pwd", cwd="/data/local/tmp")
    assert result.data["stdout"] == "/data/local/tmp\n"
    session = result.data["session_id"]
    assert session in result.text
    assert call("terminal", action="exec", session_id=session, command="echo $x").text == "7"


def test_a_timed_out_session_says_that_it_has_ended(call: Call) -> None:
    """The answer of the command that took too long tells it."""
    result = call("terminal", action="open_and_exec", command="sleep 60", timeout_ms=300)
    assert result.error == "timed_out" and result.data["session_ended"]
    assert "has ended" in result.text


def test_a_job_is_read_while_it_writes(call: Call) -> None:
    """Offsets are stable: the pieces read one after another are the whole output, once."""
    text = 'n=0; while [ $n -lt 40 ]; do echo "línea $n"; n=$((n+1)); sleep 0.02; done; exit 6'
    job = call("terminal", action="exec", command=text, **{"async": True}).data["job_id"]
    seen, offset, done = "", 0, False
    while not done:
        part = call(
            "terminal", action="read_async_result", job_id=job, offset_chars=offset,
            max_chars=100, timeout_ms=50,
        )  # fmt: skip
        assert part.data["offset_chars"] == offset
        seen += part.data["stdout"]
        offset = part.data["next_offset_chars"]
        done = part.data["done"] and offset == part.data["total_chars"]
    assert seen == "".join(f"línea {n}\n" for n in range(40))
    assert part.exit_code == 6
    again = call("terminal", action="read_async_result", job_id=job, close_if_done=True)
    assert again.data["stdout"] == seen
    gone = call("terminal", action="read_async_result", job_id=job)
    assert gone.error == "unknown_session"


def test_closing_a_job_ends_it_on_the_phone(call: Call) -> None:
    """Daemons of it too."""
    word = "73002.25"
    text = f"setsid sleep {word} & sleep {word}"
    job = call("terminal", action="exec", command=text, **{"async": True}).data["job_id"]
    wait_until_started(word, 2)
    assert call("terminal", action="close", job_id=job).ok
    assert carrying(word) == []


def test_a_job_inside_a_session_keeps_it_busy(call: Call) -> None:
    """The session is there again when the job is over."""
    opened = call("terminal", action="open_and_exec", command="x=1; sleep 0.8", **{"async": True})
    session, job = opened.data["session_id"], opened.data["job_id"]
    busy = call("terminal", action="exec", session_id=session, command="echo no")
    assert busy.error == "session_busy"
    assert call("terminal", action="read_async_result", job_id=job, timeout_ms=9000).data["done"]
    assert call("terminal", action="exec", session_id=session, command="echo $x").text == "1"


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "exec"},
        {"action": "open", "command": "x"},
        {"action": "read_async_result"},
        {"action": "close"},
        {"action": "close", "session_id": "s1", "job_id": "j1"},
        {"action": "exec", "session_id": "s1", "identity": "root", "command": "x"},
        {"action": "exec", "command": "x", "environment": "linux", "identity": "user"},
        {"action": "exec", "command": "x", "timeout_ms": 900_000},
    ],
)
def test_arguments_that_make_no_sense_run_nothing(call: Call, arguments: dict[str, Any]) -> None:
    """Each action takes its own arguments; others are refused, not ignored."""
    result = call("terminal", **arguments)
    assert (result.outcome, result.error, result.exit_code) == (
        Outcome.NOT_SENT, "invalid_call", 2,
    )  # fmt: skip


def test_root_and_linux_are_refused_by_name_on_a_plain_phone(call: Call) -> None:
    """user never elevates; what is missing is told."""
    assert call("run_command", command="id -u").text == "2000"
    assert call("run_command", command="id", identity="root").error == "root_unavailable"
    refused = call("terminal", action="open", environment="linux")
    assert refused.error == "root_unavailable"


def test_only_so_many_sessions_are_open_at_once(call: Call) -> None:
    """The ninth is refused with the ids of the others."""
    for _ in range(8):
        assert call("terminal", action="open").ok
    assert call("terminal", action="open").error == "too_many"


def test_a_cancelled_run_leaves_nothing(phone: AdbPhone) -> None:
    """Cancel closes sessions and jobs at once, and the phone ends what they started."""
    word = "73003.25"
    with open_terminal(phone) as terminal:
        tools = TerminalTools(terminal)
        for arguments in (
            {"action": "exec", "command": f"sleep {word}", "async": True},
            {"action": "open_and_exec", "command": f"setsid sleep {word} >/dev/null 2>&1 &"},
        ):
            assert tools.execute(validate(SPECS["terminal"], "c", arguments)).ok
        wait_until_started(word, 2)
        phone.cancel.cancel()
        wait_until_gone(word)
