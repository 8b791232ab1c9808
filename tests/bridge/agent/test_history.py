"""What requests carry of the past: little, and never a silent cut."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from bridge.agent.history import History
from bridge.agent.limits import RunLimits
from bridge.agent.tokens import estimate
from bridge.conversation.messages import CallResult, Message, ToolCall, UserMessage
from bridge.cst.carriers import CARRIERS
from bridge.providers.chat_messages import request_body
from device_tools.result import Image, ToolResult, done
from tests.bridge.agent.bench import FINISH, SCREEN, Bench, TinyPhone, reply

LOOK = "call c{} observe_screen\nend\n"
PICTURE = b"jpeg" * 10_000


def result(text: str, name: str = "current_app", *images: Image) -> CallResult:
    return CallResult(ToolCall("c1", name, {}, f"call c1 {name}\nend\n"), done(text, images=images))


def size(messages: tuple[Message, ...]) -> int:
    return sum(map(estimate, messages))


def texts(history: History) -> list[str]:
    return [message.text for message in history.messages() if isinstance(message, UserMessage)]


def test_requests_of_a_long_run_do_not_grow_with_old_screenshots(tmp_path: Path) -> None:
    """Over 64 turns each request has one picture and one element list, whatever came before."""
    numbers = itertools.count()

    def observe() -> ToolResult:
        note = f"screenshot {next(numbers)}"
        return done(SCREEN + "\n[9] x" * 500, images=(Image(PICTURE, "image/jpeg", 9, 9, note),))

    replies = [reply(LOOK.format(turn)) for turn in range(63)]
    bench = Bench(tmp_path, [*replies, reply(FINISH)], TinyPhone({"observe_screen": observe}))
    bench.run()
    bodies = [json.dumps(request_body(request, "m")) for request in bench.model.requests]
    assert [body.count("data:image/jpeg") for body in bodies] == [0, *[1] * 63]
    growth = (len(bodies[63]) - len(bodies[3])) / 60
    assert growth < 400  # a call, a title and a notice each turn


@pytest.mark.parametrize("mode", list(CARRIERS))
def test_beyond_the_budget_older_results_are_cut_with_a_notice(mode: str) -> None:
    """Oldest first, every cut visible; the task, newest turn and newest observation stay whole."""
    carrier = CARRIERS[mode]
    history = History(carrier, "the task " * 100)
    picture = Image(PICTURE, "image/jpeg", 576, 1280, "screenshot")
    history.add_turn("Look.", [result("L" * 8000)])
    history.add_turn("Look.", [result(SCREEN * 40, "observe_screen", picture)])
    history.add_turn("Look.", [result("M" * 8000), result("short")])
    history.add_turn("Look.", [result("N" * 8000)])
    before = size(history.messages())
    assert history.fit(before) == 0
    assert history.fit(before - 1000) == 2
    shown = str(history.messages())
    assert "L" * 300 not in shown and "M" * 300 not in shown
    assert shown.count("7800 characters dropped") == 2
    assert "N" * 8000 in shown and SCREEN.split("\n")[1] in shown and "short" in shown
    assert "the task the task" in shown
    assert size(history.messages()) < before - 3000


def test_a_cut_stays_and_is_not_made_twice() -> None:
    """The beginning of the request is stable between cuts, and no result is cut again."""
    history = History(CARRIERS["ctl-heredoc"], "task")
    for _ in range(9):
        history.add_turn("Look.", [result("L" * 4000)])
    assert history.fit(7000) > 0
    shown = history.messages()
    assert size(shown) <= 7000
    assert history.fit(7000) == 0
    assert history.messages() == shown


def test_the_loop_says_that_it_cut(tmp_path: Path) -> None:
    """The record has a notice, and the request stays within the room."""
    long: dict[str, Any] = {"current_app": done("x" * 60_000)}
    replies = [reply(f"call c{n} current_app\nend\n") for n in range(4)]
    limits = RunLimits(context_tokens=30_000)
    bench = Bench(tmp_path, [*replies, reply(FINISH)], TinyPhone(long), limits)
    bench.run()
    notices = [record["text"] for record in bench.of_type("notice")]
    assert notices and all("older results cut" in text for text in notices)
    last = bench.model.requests[-1]
    assert size(last.messages) + len(last.system) / 4 < 30_000


def test_the_users_images_travel_with_the_task(tmp_path: Path) -> None:
    """They are part of the first message of every request."""
    image = Image(PICTURE, "image/jpeg", 9, 9, "the user's image 9x9")
    bench = Bench(tmp_path, [reply("call c1 current_app\nend\n"), reply(FINISH)], images=[image])
    bench.run()
    for request in bench.model.requests:
        assert request.messages[0] == UserMessage("the task", (image,))
