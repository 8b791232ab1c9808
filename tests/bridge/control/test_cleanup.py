"""However a run ends, what it opened is closed, once, and one terminal event is stored."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from bridge.config import Settings
from bridge.control.session import RunSession
from bridge.run import DATABASE, RunRequest, execute
from bridge.store.run_state import Ender
from bridge.store.transcripts import Transcripts
from device_tools.cancel import CancelScope
from tests.bridge.control.going import FINISH, OBSERVE, PHONE, WAIT, Home, await_true
from tests.doubles.provider_server import Answer, Delay, HangUp, ScriptedServer, chat_answer


def descriptors() -> dict[str, str]:
    """What this process holds open, by number."""
    found = {}
    for number in os.listdir("/proc/self/fd"):
        try:
            found[number] = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            continue  # the listing's own
    return found


def request(home: Home, server: ScriptedServer, **changes: object) -> RunRequest:
    settings = Settings(provider="openai", base_url=server.base_url, model="m", device=PHONE)
    values: dict[str, object] = {"task": "the task", "settings": settings, "home": home.folder}
    return RunRequest(**(values | changes))  # type: ignore[arg-type]


@contextmanager
def nothing_left(home: Home) -> Iterator[None]:
    """No descriptor, thread, lock or socket of the body's runs is left behind."""
    before, threads = set(descriptors().values()), threading.active_count()
    yield
    await_true(lambda: threading.active_count() == threads, "the threads ended")
    left = {number: what for number, what in descriptors().items() if what not in before}
    assert left == {}
    assert list((home.folder / "control").iterdir()) == []
    assert list((home.folder / "live").iterdir()) == []


def ended_from_outside(who: Ender) -> Callable[[RunSession], object]:
    """An ``attach`` whose body is ended by another thread, again and again."""

    @contextmanager
    def attach(session: RunSession) -> Iterator[None]:
        def end() -> None:
            time.sleep(0.8)
            assert [session.end(who, "1") for _ in range(3)] == [True, False, False]

        thread = threading.Thread(target=end)
        thread.start()
        yield
        thread.join()

    return attach


ENDS: dict[str, tuple[list[Answer], dict[str, object], str]] = {
    "answer": ([chat_answer(OBSERVE), chat_answer(FINISH)], {}, "done"),
    "server gone": ([Answer([HangUp()])], {}, "failed"),
    "unreadable": ([chat_answer("call c1 tap\n")] * 3, {}, "failed"),
    "cancel in the stream": (
        [Answer([Delay(30)])], {"attach": ended_from_outside(Ender.CANCEL)}, "cancelled",
    ),
    "replaced in a call": (
        [chat_answer(WAIT)], {"attach": ended_from_outside(Ender.REPLACED)}, "cancelled",
    ),
    "time limit": (
        [Answer([Delay(30)])], {"attach": ended_from_outside(Ender.TIME_LIMIT)}, "limit",
    ),
}  # fmt: skip


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
@pytest.mark.parametrize("how", list(ENDS))
def test_nothing_is_left_however_a_run_ends(home: Home, how: str) -> None:
    """Files, sockets, threads, the phone's lock and the control socket are gone; the record has
    one end."""
    replies, changes, status = ENDS[how]
    with ScriptedServer([chat_answer(FINISH)]) as server:
        execute(request(home, server), CancelScope())  # loads what is loaded once
    with ScriptedServer(replies) as server, nothing_left(home):
        result = execute(request(home, server, **changes), CancelScope())
    assert result.finished.status.value == status, result.finished
    with closing(Transcripts(home.folder / DATABASE)) as transcripts:
        records = list(transcripts.events(result.run))
    assert [record["type"] for record in records].count("run_finished") == 1


def test_nothing_is_left_when_a_part_cannot_be_opened(home: Home) -> None:
    """A phone that is not there, after the socket and the timer and the model were opened."""
    with ScriptedServer([]) as server, nothing_left(home):
        settings = Settings(provider="openai", base_url=server.base_url, model="m", device="none")
        result = execute(request(home, server, settings=settings), CancelScope())
    assert result.finished.exit_code == 3


def test_an_internal_error_is_a_result_too(home: Home) -> None:
    """What nobody foresaw ends the run with one line, everything closed; ``debug`` raises it."""

    def broken(_session: RunSession) -> object:
        raise ZeroDivisionError("nobody foresaw it")

    with ScriptedServer([]) as server, nothing_left(home):
        result = execute(request(home, server, attach=broken), CancelScope())
        assert "internal error: ZeroDivisionError" in result.finished.summary
    with ScriptedServer([]) as server, pytest.raises(ZeroDivisionError):
        execute(request(home, server, attach=broken, debug=True), CancelScope())
