"""Terminals and files, as every phone must serve them. Everything lies in one folder of
/data/local/tmp that is deleted afterwards."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from alpine import file_tools
from alpine.catalog import TERMINAL_TOOLS
from alpine.errors import RootUnavailable
from alpine.root import Refusal
from alpine.terminal import Terminal, open_terminal
from alpine.tools import TerminalTools
from bridge.patching import patch_files
from device_tools.adb import AdbPhone
from device_tools.adb_server import AdbAddress
from device_tools.cancel import CancelScope
from device_tools.errors import Outcome
from device_tools.result import ToolResult
from device_tools.schema import validate
from device_tools.virtual.userland import phone_userland

SPECS = {spec.name: spec for spec in TERMINAL_TOOLS}
Shell = Callable[..., ToolResult]
_REASON = "" if os.environ.get("BRIDGE_TEST_SERIAL") else phone_userland.available()
pytestmark = pytest.mark.skipif(bool(_REASON), reason=_REASON or "")


@pytest.fixture
def terminal(phone_address: tuple[str, AdbAddress]) -> Iterator[Terminal]:
    serial, address = phone_address
    with open_terminal(AdbPhone(serial, address, CancelScope())) as terminal:
        yield terminal


@pytest.fixture
def shell(terminal: Terminal) -> Shell:
    more = {**file_tools.bind(terminal), "apply_patch": partial(patch_files, terminal)}
    tools = TerminalTools(terminal, more)

    def run(name: str, **arguments: Any) -> ToolResult:
        return tools.execute(validate(SPECS[name], "c1", arguments))

    return run


@pytest.fixture
def folder(shell: Shell) -> Iterator[str]:
    path = f"/data/local/tmp/bridge-test-{secrets.token_hex(4)}"
    assert shell("run_command", command=f"mkdir {path}").ok
    yield path
    shell("run_command", command=f"rm -rf {path}")


def test_a_command_has_streams_and_a_code_of_its_own(shell: Shell) -> None:
    """Any bytes, apart, and the exit code."""
    result = shell("run_command", command="printf 'a\\377\\n'; echo e >&2; exit 41")

    assert (result.outcome, result.exit_code) == (Outcome.DONE, 41)
    assert (result.data["stdout"], result.data["stderr"]) == ("a\\xff\n", "e\n")


def test_the_user_is_never_root(shell: Shell) -> None:
    """Identity user is what adb gives: uid 2000, unless adbd itself is root."""
    assert shell("run_command", command="id -u").text in ("2000", "0")


def test_root_works_or_is_refused_by_name(shell: Shell, terminal: Terminal) -> None:
    """Either commands run as uid 0, or the reason is one of four."""
    try:
        terminal.root()
    except RootUnavailable as error:
        assert error.reason in list(Refusal)
    else:
        assert shell("run_command", command="id -u", identity="root").text == "0"


@pytest.mark.parametrize(
    "leave",
    [
        "sleep 7{n} &",
        "(setsid sleep 7{n} >/dev/null 2>&1 &)",
        "setsid sh -c 'setsid sleep 7{n} &' &",
    ],
)
@pytest.mark.parametrize("end", ["exit 0", "sleep 60"])
def test_nothing_is_left_of_a_command(shell: Shell, leave: str, end: str) -> None:
    """A child, a daemon and a double fork, after a normal end and after a time-out."""
    number = f"{secrets.randbelow(10**6):06}"
    look = f"grep -lsz '^7{number}$' /proc/[0-9]*/cmdline"
    text = f"{leave.format(n=number)}\nsleep 0.4; {look}; {end}"
    during = shell("run_command", command=text, timeout_ms=2500)

    assert "/proc/" in during.data["stdout"]
    assert shell("run_command", command=look).data["stdout"] == ""


def test_a_session_keeps_what_a_command_sets(shell: Shell) -> None:
    """Directory, variable and function; an error in a command does not end it."""
    opened = shell("terminal", action="open", cwd="/data/local/tmp")
    session = opened.data["session_id"]
    run = partial(shell, "terminal", action="exec", session_id=session)

    assert run(command="x='a b'; f() { echo \"f $1\"; }; cd /").ok
    assert run(command='pwd; f "$x"').data["stdout"] == "/\nf a b\n"
    assert not run(command="if").ok
    assert run(command="echo still").text == "still"
    ended = run(command="sleep 60", timeout_ms=500)
    assert ended.error == "timed_out" and ended.data["session_ended"]


def test_a_job_is_read_by_offset(shell: Shell) -> None:
    """The pieces join to the whole."""
    text = "for n in 1 2 3 4 5 6; do echo line $n; sleep 0.1; done"
    job = shell("terminal", action="exec", command=text, **{"async": True}).data["job_id"]
    seen, end = "", time.monotonic() + 20
    while time.monotonic() < end:
        part = shell("terminal", action="read_async_result", job_id=job, offset_chars=len(seen))
        seen += part.data["stdout"]
        if part.data["done"] and len(seen) == part.data["total_chars"]:
            break
        time.sleep(0.05)
    assert seen == "".join(f"line {n}\n" for n in range(1, 7))


def test_files_are_written_whole_and_read_in_parts(shell: Shell, folder: str) -> None:
    """Text, append, mode, listing, and a part by offset."""
    path = f"{folder}/a file"
    assert shell("write_file", path=path, content="0123456789").ok
    assert shell("run_command", command=f"chmod 640 '{path}'").ok
    assert shell("write_file", path=path, content="žluť", append=True).ok

    part = shell("read_file", path=path, offset=8, length=3)
    assert (part.data["content"], part.data["mode"]) == ("89", "640")
    listed = shell("list_directory", path=folder).data["entries"]
    assert [(e["name"], e["kind"], e["size"]) for e in listed] == [("a file", "file", 16)]


def test_a_patch_is_applied_wholly_or_not(shell: Shell, folder: str) -> None:
    """The second file does not fit: the first is untouched; then both do."""
    patch = "--- a/one\n+++ b/one\n@@ -1 +1 @@\n-a\n+A\n--- a/two\n+++ b/two\n@@ -1 +1 @@\n-b\n+B\n"
    shell("write_file", path=f"{folder}/one", content="a\n")
    assert shell("apply_patch", patch=patch, root=folder).outcome is Outcome.NOT_SENT
    assert shell("read_file", path=f"{folder}/one").text == "a\n"
    shell("write_file", path=f"{folder}/two", content="b\n")
    assert shell("apply_patch", patch=patch, root=folder).ok
    assert shell("read_file", path=f"{folder}/two").text == "B\n"
