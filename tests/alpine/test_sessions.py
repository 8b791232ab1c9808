"""Sessions on the virtual phone: what stays between commands, and how a session ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from alpine.errors import SessionBusy, SessionEnded
from alpine.identity import USER
from alpine.running import Job, Output
from alpine.sessions import Session
from alpine.supervisor import ShellProcessSupervisor
from tests.alpine.host_view import carrying, wait_until_gone, wait_until_started

Opener = Callable[..., Session]


@pytest.fixture
def open_session(supervisor: ShellProcessSupervisor) -> Iterator[Opener]:
    opened: list[Session] = []

    def start(**options: float) -> Session:
        opened.append(Session(f"s{len(opened)}", supervisor, USER, **options))  # type: ignore[arg-type]
        return opened[-1]

    yield start
    for session in opened:
        session.close()


def said(session: Session, text: str, **options: object) -> tuple[int | None, str, str]:
    output = Output()
    session.run(text, 20, output, **options)  # type: ignore[arg-type]
    return output.code, output.stdout.summary(10**6), output.stderr.summary(10**6)


def test_directory_variables_and_functions_stay(open_session: Opener) -> None:
    """What one command sets the next one finds."""
    session = open_session()
    assert said(session, "cd /data/local/tmp; x='a b'; f() { echo \"f $1\"; }; export y=2") == (
        0, "", "",
    )  # fmt: skip
    assert said(session, 'pwd; f "$x"; sh -c \'echo $y\'') == (
        0, "/data/local/tmp\nf a b\n2\n", "",
    )  # fmt: skip


def test_streams_and_exit_codes_are_kept_apart(open_session: Opener) -> None:
    """Also without a newline at the end, with bytes that are no text, and in a pipe."""
    session = open_session()
    assert said(session, "printf a; printf b >&2; (exit 7)") == (7, "a", "b")
    assert said(session, "printf 'z\\377\\000'; false | true") == (0, "z\\xff\\x00", "")
    assert said(session, "echo out; echo err >&2", merge_stderr=True) == (0, "out\nerr\n", "")
    assert said(session, "cat") == (0, "", "")


@pytest.mark.parametrize(
    "text", ["if", "echo 'unclosed", ")", "${", ". /nowhere", "set -u; echo $nothing", "$((1/0))"]
)
def test_an_error_in_a_command_is_its_own(open_session: Opener, text: str) -> None:
    """A command that the shell cannot parse fails; the session goes on, or says that it ended."""
    session = open_session()
    said(session, "kept=1")
    code, _, errors = said(session, text)
    assert code != 0 and errors
    if session.ended:
        with pytest.raises(SessionEnded):
            said(session, "echo no")
    else:
        assert said(session, "echo $kept") == (0, "1\n", "")


def test_tracing_and_redirections_do_not_hide_the_end(open_session: Opener) -> None:
    """``set -x`` and ``exec >file`` of a command leave its exit code readable."""
    session = open_session()
    assert said(session, "set -x; true")[0] == 0
    assert said(session, "exec >/dev/null; echo gone; (exit 3)")[:2] == (3, "")
    assert "\1" not in said(session, "echo x >&2; set +x")[2]
    assert said(session, "echo x >&2")[2] == "x\n"


def test_exit_ends_the_session_with_its_code(open_session: Opener) -> None:
    """The code of the shell is the code of the command; the next one is refused."""
    session = open_session()
    assert said(session, "printf last; exit 5")[:2] == (5, "last")
    with pytest.raises(SessionEnded, match="exited with code 5"):
        said(session, "echo no")


def test_a_time_out_ends_the_session_and_says_so(open_session: Opener) -> None:
    """Nothing of the session is left on the phone."""
    session, word, output = open_session(), "72001.25", Output()
    session.run(f"echo begun; setsid sleep {word} & sleep {word}", 0.7, output)
    assert (output.code, output.end) == (124, "timed out")
    assert output.stdout.summary(100) == "begun\n"
    assert carrying(word) == []
    with pytest.raises(SessionEnded, match="beyond its time"):
        said(session, "echo no")


def test_sessions_stay_apart(open_session: Opener) -> None:
    """Two shells share nothing."""
    one, two = open_session(), open_session()
    said(one, "cd /sdcard; x=1")
    said(two, "x=2")
    assert said(one, "echo $x; pwd")[1] == "1\n/sdcard\n"
    assert said(two, "echo $x")[1] == "2\n"
    assert one.process != two.process


def test_a_busy_session_takes_no_second_command(open_session: Opener) -> None:
    """The second caller is told so, and the first command goes on."""
    session = open_session()
    job = Job("j", lambda out, started: session.run("sleep 1; echo ok", 20, out, started=started))
    job.start()
    with pytest.raises(SessionBusy):
        said(session, "echo no")
    job.wait(20)
    assert job.output.stdout.summary(100) == "ok\n"


def test_an_unused_session_ends_by_itself(open_session: Opener) -> None:
    """At its idle limit the phone has nothing of it any more."""
    word = "72002.25"
    session = open_session(idle=1.0)
    said(session, f"setsid sleep {word} >/dev/null 2>&1 &")
    wait_until_started(word, 1)
    wait_until_gone(word, 8)
    with pytest.raises(SessionEnded, match="not used"):
        said(session, "echo no")


def test_a_session_ends_at_its_absolute_limit(open_session: Opener) -> None:
    """Also in the middle of a command, which comes back as stopped."""
    session, output = open_session(absolute=1.0), Output()
    begun = time.monotonic()
    session.run("sleep 60", 60, output)
    assert output.end == "stopped"
    assert time.monotonic() - begun < 15


def test_a_long_command_reaches_the_shell(open_session: Opener) -> None:
    """Commands are not bounded by what adb carries in one request."""
    assert said(open_session(), f"x={'y' * 200_000}; echo ${{#x}}")[1] == "200000\n"


def test_what_a_background_process_writes_is_not_lost(open_session: Opener) -> None:
    """Between two commands it waits in the pipe; every line arrives once, in order."""
    session, seen = open_session(), ""
    seen += said(session, "n=0; while [ $n -lt 300 ]; do echo line $n; n=$((n+1)); done & :")[1]
    end = time.monotonic() + 20
    while "line 299" not in seen and time.monotonic() < end:
        seen += said(session, "sleep 0.01")[1]
    assert seen == "".join(f"line {n}\n" for n in range(300))


def test_output_that_nobody_reads_waits_on_the_phone(open_session: Opener) -> None:
    """A background process that floods is held up by its pipe, not kept in memory."""
    session = open_session()
    said(session, "cd /data/local/tmp; (yes | head -c 20000000; echo over >flooded) & sleep 0.1")
    time.sleep(1.0)
    other = open_session()
    assert said(other, "cat /data/local/tmp/flooded")[0] != 0
    out = Output()
    session.run("wait; cat flooded; rm flooded", 30, out)
    assert out.stdout.read(out.stdout.total - 5, 5).text == "over\n"
