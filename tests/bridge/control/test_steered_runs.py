"""Whole runs that are steered, paused, cancelled, replaced and continued from other processes."""

from __future__ import annotations

import json
import signal
import threading
import time

import pytest

from bridge.control.client import send
from bridge.errors import ControlError
from tests.bridge.control.going import (
    FINISH,
    OBSERVE,
    WAIT,
    Going,
    Home,
    await_true,
    gated,
    said,
)
from tests.doubles.provider_server import ScriptedServer, chat_answer


def test_a_message_from_another_terminal_is_read_by_the_next_turn(home: Home) -> None:
    """It breaks off no request; one more that comes while the model finishes gets a turn too."""
    first, reply = gated(OBSERVE)
    second, last = gated(FINISH)
    replies = [reply, last, chat_answer(FINISH)]
    with ScriptedServer(replies) as server, home.going(home.argv(server, "the task")) as run:
        started = run.await_event("run_started")
        first.await_reached()
        steered = home.bridge("steer", started["run"], "look at Bluetooth as well")
        assert (steered.returncode, steered.stdout) == (
            0, f"run {started['run']}: queued as message 1\n",
        )  # fmt: skip
        first.open()
        second.await_reached()
        assert home.bridge("steer", started["run"][:-1], "and Wi-Fi", "--json").returncode == 0
        second.open()
        assert run.end() == 0, run.stderr
    assert "Bluetooth" not in said(server, 0)
    assert said(server, 1).endswith("end\nThe user says now:\nlook at Bluetooth as well\n")
    assert said(server, 2).endswith("The user says now:\nand Wi-Fi\n")
    queued, read = run.of_type("steering_queued"), run.of_type("steering_read")
    assert [(each["number"], each["source"]) for each in queued] == [(1, "socket"), (2, "socket")]
    assert [(each["turn"], each["number"]) for each in read] == [(2, 1), (3, 2)]
    assert run.of_type("run_finished")[0]["unread"] == []
    over = home.bridge("steer", started["run"], "more")
    assert over.returncode == 1
    assert "is over: done" in over.stderr and "bridge continue" in over.stderr


def test_a_pause_holds_the_run_and_two_terminals_may_steer_it(home: Home) -> None:
    """No request goes out while it is paused, messages do not lift it, each turn reads one."""
    gate, reply = gated(OBSERVE)
    replies = [reply, chat_answer(OBSERVE), chat_answer(FINISH)]
    with ScriptedServer(replies) as server, home.going(home.argv(server, "the task")) as run:
        name = run.await_event("run_started")["run"]
        gate.await_reached()
        assert home.bridge("pause", name).stdout == f"run {name}: pausing\n"
        gate.open()
        run.await_event("paused", turn=1)
        orders = [{"command": "steer", "text": f"from {who}"} for who in "ab"]
        threads = [threading.Thread(target=send, args=(home.folder, name, o)) for o in orders]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        time.sleep(0.3)
        assert len(server.requests) == 1
        assert home.bridge("resume", name).returncode == 0
        assert run.end() == 0, run.stderr
        assert [record["turn"] for record in run.of_type("resumed")] == [1]
        texts = [record["text"] for record in run.of_type("steering_read")]
        assert sorted(texts) == ["from a", "from b"]
        assert [record["turn"] for record in run.of_type("steering_read")] == [2, 3]
        assert texts[0] in said(server, 1) and texts[1] in said(server, 2)


@pytest.mark.parametrize("where", ["stream", "tool", "pause"])
def test_cancel_ends_a_run_wherever_it_is(home: Home, where: str) -> None:
    """Cancelled with 130 within seconds; a call under way is recorded with exit 130, a message
    that nobody read is listed."""
    gate, reply = gated(OBSERVE)
    replies = [chat_answer(WAIT)] if where == "tool" else [reply]
    with ScriptedServer(replies) as server, home.going(home.argv(server, "the task")) as run:
        name = run.await_event("run_started")["run"]
        if where == "tool":
            run.await_event("call_intended")
        else:
            gate.await_reached()
        send(home.folder, name, {"command": "steer", "text": "never read"})
        if where == "pause":
            send(home.folder, name, {"command": "pause"})
            gate.open()
            run.await_event("paused")
        before = time.monotonic()
        assert home.bridge("cancel", name).stdout == f"run {name}: cancelled\n"
        assert run.end() == 130
        assert time.monotonic() - before < 20
        gate.open()
        ended = run.of_type("run_finished")[0]
        assert (ended["status"], ended["unread"]) == ("cancelled", ["never read"])
        codes = [record["exit_code"] for record in run.of_type("call_finished")]
        assert codes == ([] if where == "stream" else [130])


def test_killed_while_paused_then_continued(home: Home) -> None:
    """The next run of the session knows the task, the unread message and what was done, on the
    same phone and server, and its own record says what it continues."""
    gate, reply = gated(OBSERVE + "call c2 press_key\narg key home\nend\n")
    replies = [reply, chat_answer(FINISH)]
    with ScriptedServer(replies) as server:
        with home.going(home.argv(server, "the first task")) as run:
            name = run.await_event("run_started")["run"]
            gate.await_reached()
            send(home.folder, name, {"command": "pause"})
            send(home.folder, name, {"command": "steer", "text": "a word nobody read"})
            gate.open()
            run.await_event("paused")
            run.process.send_signal(signal.SIGKILL)
            run.end()
        with pytest.raises(ControlError, match="cannot be reached"):
            send(home.folder, name, {"command": "resume"})
        again = home.bridge("continue", name, "the second task", "--json")
        assert again.returncode == 0, again.stderr
    messages = server.requests[1].json["messages"]
    told = "\n".join(str(message["content"]) for message in messages[1:])
    assert told.index("the first task") < told.index("a word nobody read")
    assert told.index("a word nobody read") < told.index("the second task")
    assert told.count("the first task") == told.count("the second task") == 1
    assert json.loads(again.stdout.splitlines()[0])["continues"] == name


def _ended(run: Going) -> dict[str, object]:
    (ended,) = run.of_type("run_finished")
    return ended


def test_a_second_run_replaces_the_first_only_when_asked(home: Home) -> None:
    """Without --replace it ends with 3 and names the holder; with it the first run's result is
    stored before the second touches the phone."""
    gate, reply = gated(OBSERVE)
    with (
        ScriptedServer([reply]) as holding,
        ScriptedServer([chat_answer(FINISH)]) as taking,
        home.going(home.argv(holding, "the old task")) as old,
    ):
        name = old.await_event("run_started")["run"]
        gate.await_reached()
        with home.going(home.argv(taking, "refused")) as refused:
            assert refused.end() == 3
        assert name in str(_ended(refused)["summary"])
        with home.going(home.argv(taking, "the new task", "--replace")) as new:
            assert new.end() == 0, new.stderr
        assert old.end() == 130
        gate.open()
    newer = new.records[0]["run"]
    assert (_ended(old)["status"], _ended(old)["summary"]) == (
        "cancelled", f"replaced by run {newer}",
    )  # fmt: skip
    ready = next(r for r in new.of_type("notice") if r["text"].startswith("phone "))
    assert float(str(_ended(old)["time"])) <= ready["time"]


def test_the_time_limit_ends_a_run_that_hangs(home: Home) -> None:
    """After --max-minutes the run ends with 5 and says which limit it was."""
    gate, reply = gated(OBSERVE)
    with ScriptedServer([reply]) as server:
        argv = home.argv(server, "the task", "--max-minutes", "0.15")
        with home.going(argv) as run:
            assert run.end() == 5, run.stderr
        gate.open()
    ended = _ended(run)
    assert (ended["status"], ended["error"]) == ("limit", "LimitReached")
    assert "0.15 minutes" in str(ended["summary"])


def test_orders_to_no_run_are_refused(home: Home) -> None:
    """An unknown run is named with where to look."""
    await_true(lambda: (home.folder / "bridge.db").exists(), "an earlier test made the record")
    none = home.bridge("cancel", "r-1999")
    assert none.returncode == 1
    assert "no session or run begins with 'r-1999'" in none.stderr
