"""The loop while its run is steered and paused, and with a past that it continues."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from bridge.agent.history import History
from bridge.agent.limits import RunLimits
from bridge.conversation.messages import (
    AssistantMessage,
    CallResult,
    ToolAnswers,
    ToolCall,
    UserMessage,
)
from bridge.cst.carriers import CARRIERS
from bridge.policy import Answer, Ask, Policy
from device_tools.errors import Cancelled
from device_tools.result import ToolResult, done
from device_tools.schema import RiskGroup
from tests.bridge.agent.bench import FINISH, OBSERVE, SCREEN, TAP, Bench, TinyPhone, reply

SAID = "The user says now:\n"


def steering(bench: Bench, *texts: str) -> TinyPhone:
    """A phone on which a look is the moment when the user says ``texts``."""

    def observed() -> ToolResult:
        for text in texts:
            bench.control.steer(text, "terminal")
        return done(SCREEN)

    bench.phone.answers["observe_screen"] = observed
    return bench.phone


def test_each_turn_reads_one_message_behind_the_results(tmp_path: Path) -> None:
    """Two messages of one turn reach two turns; the reply they came into was read to its end."""
    bench = Bench(tmp_path, [reply(OBSERVE + TAP), reply(TAP), reply(FINISH)])
    phone = steering(bench, "first", "second")
    bench.run()
    assert phone.executed == ["observe_screen", "tap_element", "tap_element"]
    asked = [request.messages[-1] for request in bench.model.requests]
    texts = [message.text for message in asked if isinstance(message, UserMessage)]
    assert texts[0] == "the task"
    assert texts[1].endswith(f"end\n{SAID}first\n") and "second" not in texts[1]
    assert texts[2].endswith(f"end\n{SAID}second\n")


@pytest.mark.parametrize("ending", [FINISH, "It is done.\n"])
def test_a_run_that_is_done_goes_on_for_a_waiting_message(tmp_path: Path, ending: str) -> None:
    """Finish or a plain reply is no end while a message waits; the last answer counts."""
    last = FINISH.replace("Done.", "Really done.")
    bench = Bench(tmp_path, [reply(OBSERVE), reply(ending), reply(last)])
    steering(bench, "first", "second")
    answer = bench.run()
    assert answer.summary == "Really done."
    assert bench.last_message().endswith(f"{SAID}second\n")


def test_without_another_turn_the_answer_stands_and_the_message_is_unread(tmp_path: Path) -> None:
    """In the last turn a waiting message does not turn a success into a limit."""
    bench = Bench(tmp_path, [reply(OBSERVE + FINISH)], limits=RunLimits(turns=1))
    steering(bench, "too late")
    assert bench.run().success
    assert bench.control.close() == ("too late",)


def test_a_message_before_the_first_request_goes_with_the_task() -> None:
    """Nothing was asked yet, so the user's word stands behind the task in the same message."""
    history = History(CARRIERS["ctl"], "the task")
    history.steer("and quickly")
    assert history.messages() == (UserMessage(f"the task\n\n{SAID}and quickly"),)


@pytest.mark.parametrize("mode", sorted(CARRIERS))
def test_every_carrier_takes_messages(mode: str) -> None:
    """Behind results and behind a plain reply; results and message stay one message."""
    result = CallResult(ToolCall("c1", "tap", {"x": 1}, "call c1 tap"), done("tapped"))
    for results in ((result,), ()):
        history = History(CARRIERS[mode], "the task")
        history.add_turn("text", results, "a note")
        assert history.takes_steering
        history.steer("more")
        *_, told = history.messages()
        assert len(history.messages()) == 3
        text = told.note if isinstance(told, ToolAnswers) else told.text
        assert text.rstrip("\n").endswith(f"a note\n{SAID}more")


def test_a_paused_reply_takes_no_message() -> None:
    """It goes back as it is; the message waits for a turn behind it."""
    history = History(CARRIERS["native-eos"], "the task")
    history.add_pause("searching", [{"type": "server_tool_use"}])
    assert not history.takes_steering


def test_what_is_switched_off_in_a_pause_does_not_run(tmp_path: Path) -> None:
    """The switches are read behind the checkpoint before a call, not in front of it."""
    switches: dict[RiskGroup, bool] = {}
    bench = Bench(tmp_path, [reply(OBSERVE + TAP), reply(FINISH)], policy=Policy(lambda: switches))

    def lift() -> None:
        switches[RiskGroup.DIRECT] = False
        bench.control.resume()

    def observed() -> ToolResult:
        bench.control.pause()
        threading.Timer(0.2, lift).start()
        return done(SCREEN)

    bench.phone.answers["observe_screen"] = observed
    bench.run()
    assert bench.phone.executed == ["observe_screen"]
    assert bench.of_type("call_finished")[1]["error"] == "switched_off"
    kinds = [record["type"] for record in bench.records]
    assert kinds.index("paused") < kinds.index("resumed") < len(kinds)


def test_what_is_switched_off_while_the_user_is_asked_does_not_run(tmp_path: Path) -> None:
    """A yes that comes after the switch was turned off is too late."""
    switches: dict[RiskGroup, bool] = {}

    def approve(*_: object) -> Answer:
        switches[RiskGroup.DIRECT] = False
        return Answer.YES

    policy = Policy(lambda: switches, ask=Ask.ALL, approve=approve)
    bench = Bench(tmp_path, [reply(TAP), reply(FINISH)], policy=policy)
    bench.run()
    assert bench.phone.executed == []
    assert bench.of_type("call_finished")[0]["error"] == "switched_off"


def test_a_pause_that_begins_with_the_question_holds_the_call(tmp_path: Path) -> None:
    """The answer does not lift the pause; after it the call is checked, and asked for, again."""
    asked: list[bool] = []

    def approve(*_: object) -> Answer:
        if not asked:
            bench.control.pause()
            threading.Timer(0.2, bench.control.resume).start()
        asked.append(bench.control.paused)
        return Answer.YES

    policy = Policy(dict, ask=Ask.ALL, approve=approve)
    bench = Bench(tmp_path, [reply(TAP), reply(FINISH)], policy=policy)
    bench.run()
    assert asked == [True, False]
    assert bench.phone.executed == ["tap_element"]
    assert len(bench.of_type("paused")) == 1


def test_cancel_while_the_user_is_asked_is_recorded_with_the_call(tmp_path: Path) -> None:
    """The call gets its answer, exit 130, and was never intended."""

    def approve(*_: object) -> Answer:
        raise Cancelled("cancelled")

    bench = Bench(tmp_path, [reply(TAP)], policy=Policy(dict, ask=Ask.ALL, approve=approve))
    with pytest.raises(Cancelled):
        bench.run()
    assert bench.results() == [("tap_element", 130)]
    assert bench.of_type("call_intended") == []


def test_a_past_stands_before_the_task(tmp_path: Path) -> None:
    """What was said in the session comes first and unchanged, then the new task."""
    before = UserMessage("the old task"), AssistantMessage("It is done.")
    bench = Bench(tmp_path, [reply(FINISH)], before=before)
    bench.run()
    assert bench.model.requests[0].messages == (*before, UserMessage("the task"))


def test_a_past_that_got_no_reply_is_one_message_with_the_task() -> None:
    """No two messages of the user in a row: servers with strict templates refuse them."""
    history = History(CARRIERS["ctl"], "the task", before=[UserMessage("the old task")])
    assert history.messages() == (UserMessage("the old task\n\nthe task"),)


def test_a_past_beyond_the_context_is_shortened_oldest_first() -> None:
    """The old messages give way before the results of this run, with a notice; the task stays."""
    before = [UserMessage("a" * 4000), AssistantMessage("b" * 4000)]
    history = History(CARRIERS["ctl"], "the task", before=before)
    assert history.fit(1500) == 1
    first, second, task = history.messages()
    assert isinstance(first, UserMessage) and "3800 characters dropped" in first.text
    assert (second, task) == (before[1], UserMessage("the task"))
