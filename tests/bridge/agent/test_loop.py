"""The loop against a scripted model, the real carrier, the real record and a tiny executor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bridge.agent.limits import RunLimits
from bridge.conversation.messages import UserMessage
from bridge.conversation.stream import Finish, FinishReason, TextDelta, Usage
from bridge.errors import ContractBroken, LimitReached, ProviderError
from bridge.policy import Answer, Ask, Policy
from bridge.store.transcripts import unanswered
from device_tools.errors import Cancelled, DeviceDisconnected, Outcome
from device_tools.result import Image, ToolResult, done
from device_tools.schema import RiskGroup
from tests.bridge.agent.bench import (
    FINISH,
    OBSERVE,
    SCREEN,
    STOP,
    TAP,
    Bench,
    Reply,
    TinyPhone,
    reply,
)


def test_runs_calls_in_order_and_ends_with_finish(tmp_path: Path) -> None:
    """Calls run in the model's order, each intent stored before its outcome, finish answers."""
    bench = Bench(tmp_path, [reply(f"I look.\n{OBSERVE}"), reply(TAP), reply(FINISH)])
    answer = bench.run()
    assert (answer.success, answer.summary, answer.output) == (True, "Done.", "42")
    assert bench.phone.executed == ["observe_screen", "tap_element"]
    assert bench.phone.turns == 3
    kinds = [r["type"] for r in bench.records if r["type"].startswith("call_")]
    assert kinds == ["call_intended", "call_finished"] * 3
    first = [r["type"] for r in bench.records if r.get("turn") == 1]
    assert first == [
        "response_started", "assistant_text", "call_intended", "call_finished", "response_finished",
    ]  # fmt: skip
    used = bench.loop.totals
    assert (used.usage.input_tokens, used.usage.output_tokens, used.unreported) == (300, 30, 0)


def test_behind_finish_only_the_usage_is_waited_for(tmp_path: Path) -> None:
    """What comes behind it is the fence and the tokens; no call behind it runs."""
    deltas: Reply = [TextDelta(FINISH), TextDelta("```\n"), STOP, Usage(7, 3)]
    bench = Bench(tmp_path, [deltas])
    assert bench.run().success
    ended = bench.of_type("response_finished")[0]
    assert (ended["reason"], ended["raw_reason"], ended["output_tokens"]) == ("stop", "stop", 3)


@pytest.mark.parametrize(
    "behind",
    [
        [TextDelta(TAP), ProviderError("never read"), Usage(7, 3)],
        [ProviderError("hung up")],
    ],
)
def test_what_a_model_adds_behind_finish_is_left(tmp_path: Path, behind: Reply) -> None:
    """A guess is not read any further, a lost connection loses nothing: the answer stands."""
    bench = Bench(tmp_path, [[TextDelta(FINISH), *behind]])
    assert bench.run().success
    assert bench.phone.executed == []
    ended = bench.of_type("response_finished")[0]
    # what that reply cost is unknown, not nothing
    assert (ended["reason"], ended["output_tokens"]) == ("client_stop", None)


def test_executes_inside_the_stream(tmp_path: Path) -> None:
    """A call runs before the rest of the reply is read, and stands when the stream then breaks."""
    broken: Reply = [TextDelta(TAP), TextDelta("call c3 tap_el"), ProviderError("hung up")]
    bench = Bench(tmp_path, [broken])
    with pytest.raises(ProviderError):
        bench.run()
    assert bench.phone.executed == ["tap_element"]
    assert bench.results() == [("tap_element", 0)]
    assert bench.of_type("response_finished")[0]["reason"] == "broken"


def test_a_plain_reply_is_the_answer(tmp_path: Path) -> None:
    """Text without calls that ended normally ends the run as its answer."""
    answer = Bench(tmp_path, [reply("It is 21 degrees.")]).run()
    assert (answer.success, answer.summary) == (True, "It is 21 degrees.")


@pytest.mark.parametrize(
    "finish", [None, Finish(FinishReason.LENGTH, "length"), Finish(FinishReason.UNKNOWN, "?")]
)
def test_a_cut_reply_is_never_an_answer(tmp_path: Path, finish: Finish | None) -> None:
    """Text that did not end normally goes back to the model and is not taken as a success."""
    bench = Bench(tmp_path, [reply("It is 2", finish), reply(FINISH)])
    bench.run()
    assert "incomplete_reply" in bench.last_message()


def test_a_truncated_frame_runs_nothing_and_teaches(tmp_path: Path) -> None:
    """A frame without its end executes nothing; the fault is told in the next user message."""
    bench = Bench(tmp_path, [reply("call c1 tap\narg x 1\narg y 2\n"), reply(FINISH)])
    bench.run()
    assert bench.phone.executed == []
    assert "tool_parse_error unexpected_line" in bench.last_message()
    assert bench.of_type("contract_fault")[0]["kind"] == "unexpected_line"


def test_three_unreadable_replies_in_a_row_fail(tmp_path: Path) -> None:
    """Two faults in a row are forgiven and a good reply forgives all; the third ends the run."""
    bad = reply("call c1 tap\n")
    bench = Bench(tmp_path, [bad, bad, reply(OBSERVE), bad, bad, bad, bad])
    with pytest.raises(ContractBroken):
        bench.run()
    assert len(bench.model.requests) == 6


def test_unknown_tool_and_wrong_type_are_refused(tmp_path: Path) -> None:
    """Neither reaches the phone; each call gets a result with exit 2 that names the fault."""
    calls = "call a fly\nend\n", "call b tap\narg x twelve\narg y 3\nend\n"
    bench = Bench(tmp_path, [*(reply(call) for call in calls), reply(FINISH)])
    bench.run()
    assert bench.phone.executed == []
    assert bench.results()[:2] == [("fly", 2), ("tap", 2)]
    finished = bench.of_type("call_finished")
    assert "no tool 'fly'" in finished[0]["text"]
    assert "tap.x" in finished[1]["text"]
    assert len(bench.of_type("call_intended")) == 1


@pytest.mark.parametrize(
    ("outcome", "code"), [(Outcome.UNKNOWN, 75), (Outcome.NOT_SENT, 1), (Outcome.NOT_SENT, 2)]
)
def test_a_failed_action_ends_the_batch(tmp_path: Path, outcome: Outcome, code: int) -> None:
    """After a phone action that did not surely happen every further call is answered 'not run'."""
    phone = TinyPhone({"tap_element": ToolResult(outcome, code, "no")})
    more = "call c3 press_key\narg key back\nend\n"
    bench = Bench(tmp_path, [reply(TAP + more + FINISH), reply(FINISH)], phone)
    bench.run()
    assert phone.executed == ["tap_element"]
    assert bench.results() == [
        ("tap_element", code), ("press_key", 2), ("finish", 2), ("finish", 0),
    ]  # fmt: skip
    assert "not run: c2 tap_element" in bench.last_message()


def test_a_failed_read_does_not_end_the_batch(tmp_path: Path) -> None:
    """Reading tools may fail without consequence for the calls behind them."""
    phone = TinyPhone({"observe_screen": ToolResult(Outcome.NOT_SENT, 1, "no hierarchy")})
    bench = Bench(tmp_path, [reply(OBSERVE + TAP), reply(FINISH)], phone)
    bench.run()
    assert phone.executed == ["observe_screen", "tap_element"]


def test_text_behind_a_call_closes_the_stream(tmp_path: Path) -> None:
    """What follows a confirmed call as prose is a guess: the response is closed unread."""
    guess: Reply = [TextDelta(OBSERVE), TextDelta("It shows Wi-Fi.\n"), TextDelta(TAP), STOP]
    bench = Bench(tmp_path, [guess, reply(FINISH)])
    bench.run()
    assert bench.phone.executed == ["observe_screen"]
    assert bench.of_type("response_finished")[0]["reason"] == "client_stop"
    assert bench.model.requests[1].messages[1].text == OBSERVE


def test_the_last_turn_starts_no_effect(tmp_path: Path) -> None:
    """In the last allowed turn actions are refused, the model was warned, and the run ends."""
    bench = Bench(tmp_path, [reply(OBSERVE), reply(TAP)], limits=RunLimits(turns=2))
    with pytest.raises(LimitReached):
        bench.run()
    assert bench.phone.executed == ["observe_screen"]
    assert "last turn" in bench.last_message()


def test_calls_over_the_limit_get_one_refusal_each(tmp_path: Path) -> None:
    """The call limit refuses each further call of the reply, then the run ends."""
    bench = Bench(tmp_path, [reply(OBSERVE + TAP + FINISH)], limits=RunLimits(calls=1))
    with pytest.raises(LimitReached):
        bench.run()
    assert bench.results() == [("observe_screen", 0), ("tap_element", 2), ("finish", 2)]


def test_the_token_ceiling_ends_the_run(tmp_path: Path) -> None:
    """No further request is sent once the run used its tokens."""
    bench = Bench(tmp_path, [reply(OBSERVE), reply(FINISH)], limits=RunLimits(tokens=100))
    with pytest.raises(LimitReached):
        bench.run()
    assert len(bench.model.requests) == 1


def test_a_phone_that_stays_out_of_reach_ends_the_run(tmp_path: Path) -> None:
    """Two turns in a row without the phone end the run as a device error; one is forgiven."""
    lost = ToolResult(Outcome.NOT_SENT, 1, "connection refused", error="adb_unavailable")
    answers = iter([lost, done(SCREEN), lost, lost])
    phone = TinyPhone({"observe_screen": lambda: next(answers)})
    bench = Bench(tmp_path, [reply(OBSERVE) for _ in range(9)], phone)
    with pytest.raises(DeviceDisconnected):
        bench.run()
    assert len(bench.model.requests) == 4


def test_a_model_that_gives_up_on_a_lost_phone_is_a_device_error(tmp_path: Path) -> None:
    """The phone is lost and the model reports failure: the phone is to blame, not the model."""
    lost = ToolResult(Outcome.NOT_SENT, 1, "connection refused", error="adb_unavailable")
    give_up = "call f finish\narg success false\narg summary No phone.\nend\n"
    for replies in ([reply(OBSERVE), reply(give_up)], [reply(OBSERVE + give_up)]):
        bench = Bench(tmp_path / str(len(replies)), replies, TinyPhone({"observe_screen": lost}))
        with pytest.raises(DeviceDisconnected, match="connection refused"):
            bench.run()


LOST = ToolResult(Outcome.NOT_SENT, 1, "connection refused", error="adb_unavailable")


def test_a_plain_reply_over_a_lost_phone_is_no_success(tmp_path: Path) -> None:
    """The phone was lost and nothing reached it since: a plain text is not taken as the answer."""
    bench = Bench(tmp_path, [reply(OBSERVE), reply("I could not look.")])
    bench.phone.answers["observe_screen"] = LOST
    with pytest.raises(DeviceDisconnected, match="connection refused"):
        bench.run()


def test_a_plain_reply_after_the_phone_came_back_is_the_answer(tmp_path: Path) -> None:
    """A later call that reached the phone makes good for the loss."""
    answers = iter([LOST, done(SCREEN)])
    bench = Bench(tmp_path, [reply(OBSERVE), reply(OBSERVE), reply("Wi-Fi is on.")])
    bench.phone.answers["observe_screen"] = lambda: next(answers)
    assert bench.run().success


def test_cancel_during_a_call_records_it(tmp_path: Path) -> None:
    """A cancelled call has its outcome with exit 130, and the run raises Cancelled."""
    phone = TinyPhone({"tap_element": Cancelled("cancelled", outcome=Outcome.UNKNOWN)})
    bench = Bench(tmp_path, [reply(TAP)], phone)
    with pytest.raises(Cancelled):
        bench.run()
    assert bench.results() == [("tap_element", 130)]
    assert bench.of_type("response_finished")[0]["reason"] == "cancelled"
    assert unanswered(bench.records) == []


def test_only_the_newest_observation_stays_in_requests(tmp_path: Path) -> None:
    """Older element lists and pictures are replaced by a notice, the newest is whole."""
    shots = iter(range(9))

    def observe() -> ToolResult:
        picture = Image(b"jpeg", "image/jpeg", 10, 20, f"screenshot {next(shots)}")
        return done(SCREEN, images=(picture,))

    phone = TinyPhone({"observe_screen": observe})
    bench = Bench(tmp_path, [reply(OBSERVE), reply(OBSERVE), reply(FINISH)], phone)
    bench.run()
    _task, _one, first, _two, second = bench.model.requests[2].messages
    assert isinstance(first, UserMessage) and isinstance(second, UserMessage)
    assert "dropped" in first.text and "Wi-Fi" not in first.text and first.images == ()
    assert "Wi-Fi" in second.text and [image.note for image in second.images] == ["screenshot 1"]


def test_denied_groups_are_neither_offered_nor_executed(tmp_path: Path) -> None:
    """With a group denied only finish is on offer, and a call of the group is refused."""
    policy = Policy(dict, deny=frozenset({RiskGroup.DIRECT}))
    bench = Bench(tmp_path, [reply(TAP), reply(FINISH)], policy=policy)
    bench.run()
    assert bench.phone.executed == []
    assert "tap_element" not in bench.model.requests[0].system


def test_a_switch_turned_off_during_the_run_holds_at_once(tmp_path: Path) -> None:
    """Switches are read again before each call."""
    switches: dict[RiskGroup, bool] = {}

    def switch_off() -> ToolResult:
        switches[RiskGroup.DIRECT] = False
        return done("seen")

    phone = TinyPhone({"observe_screen": switch_off})
    bench = Bench(
        tmp_path, [reply(OBSERVE + TAP), reply(FINISH)], phone, policy=Policy(lambda: switches)
    )
    bench.run()
    assert phone.executed == ["observe_screen"]
    assert bench.of_type("call_finished")[1]["error"] == "switched_off"


def test_the_user_is_asked_and_no_means_not_run(tmp_path: Path) -> None:
    """With ask=all each tool is asked for; 'always' asks once, 'no' refuses."""
    asked: list[str] = []

    def approve(spec: Any, arguments: Any) -> Answer:
        asked.append(spec.name)
        return Answer.ALWAYS if spec.name == "observe_screen" else Answer.NO

    policy = Policy(dict, ask=Ask.ALL, approve=approve)
    replies = [reply(OBSERVE), reply(OBSERVE + TAP), reply(FINISH)]
    bench = Bench(tmp_path, replies, policy=policy)
    bench.run()
    assert asked == ["observe_screen", "tap_element"]
    assert bench.phone.executed == ["observe_screen", "observe_screen"]


def test_a_code_seen_on_the_screen_is_in_no_record(tmp_path: Path) -> None:
    """The model gets the code raw; the record, its answer and the file do not hold it."""
    screen = SCREEN + '\n[3] "Your verification code is 739104"'
    phone = TinyPhone({"observe_screen": done(screen)})
    end = FINISH.replace("output 42", "output 739104")
    bench = Bench(tmp_path, [reply("Look.\n" + OBSERVE), reply("739 104 it is\n" + end)], phone)
    assert bench.run().output == "739104"
    assert "739104" in bench.last_message()
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"739104" not in stored and b"739 104" not in stored
    assert b"Wi-Fi" in stored
