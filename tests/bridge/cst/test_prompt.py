"""The prompt that teaches ctl-heredoc."""

from __future__ import annotations

import pytest

from bridge.conversation.frames import CallReady, ContractError
from bridge.conversation.stream import TextDelta
from bridge.cst.carriers import CARRIERS
from bridge.cst.prompt import example, system_prompt
from device_tools.catalog import CURRENT_APP, OPEN_APP, PHONE_TOOLS, PRESS_KEY, TAP_ELEMENT
from device_tools.schema import ToolSpec, arguments_schema, validate

FINISH = ToolSpec("finish", "End the run.", arguments_schema({"success": {"type": "boolean"}}))


@pytest.mark.parametrize("mode", ["ctl-heredoc", "ctl"])
@pytest.mark.parametrize(
    "tools", [PHONE_TOOLS, (TAP_ELEMENT,), (OPEN_APP,), (PRESS_KEY, OPEN_APP), (CURRENT_APP,)]
)
def test_the_example_is_made_of_valid_calls(tools: tuple[ToolSpec, ...], mode: str) -> None:
    """What the prompt shows passes the parser and the schema of the tools on offer."""
    shown = example(tools, length_prefix=mode == "ctl")
    assert shown in CARRIERS[mode].system_prompt(tools)
    frames = CARRIERS[mode].reader(tools, None).feed(TextDelta(shown))
    calls = [frame.call for frame in frames if isinstance(frame, CallReady)]
    assert calls
    for call in calls:
        validate(next(tool for tool in tools if tool.name == call.name), call.id, call.arguments)


def test_every_tool_and_argument_is_listed() -> None:
    """Names, choices, bounds and what is required."""
    text = system_prompt(PHONE_TOOLS)
    for tool in PHONE_TOOLS:
        assert f"\n{tool.name}: {tool.description}" in text
    assert "\n  index* integer 1..9999: number of the element" in text
    assert "\n  direction* up|down|left|right" in text


def test_finish_is_mentioned_only_when_it_is_on_offer() -> None:
    """The prompt names no tool that the turn does not have."""
    assert "call finish" in system_prompt((*PHONE_TOOLS, FINISH))
    assert "finish" not in system_prompt(PHONE_TOOLS)


def test_the_prompt_stays_short() -> None:
    """Under 1,400 characters of rules and on average under 200 for a tool."""
    assert len(system_prompt(())) < 1400
    assert len(system_prompt(PHONE_TOOLS)) < 1400 + 200 * len(PHONE_TOOLS)


@pytest.mark.parametrize(
    ("mode", "reply", "lesson"),
    [
        ("ctl-heredoc", "call c1 tap\narg x 540\narg y 1200\n```\n", "arg x 540\narg y 1200\nend"),
        (
            "ctl-heredoc",
            "call c1 wait_for\narg text Done\ngone true\n",
            "arg text Done\narg gone true\n",
        ),
        ("ctl-heredoc", "call c1 tap\narg x 540\narg x 7\n", "arg x 540\narg y 1\n"),
        ("ctl-heredoc", "call tap twice on it\n", "arg x 1\narg y 1\n"),
        ("ctl-heredoc", "call c1 type_text\narg text <<A\nEOF\nA\nmode x\n", "<<EOF2\nEOF\nEOF2\n"),
        (
            "ctl-heredoc",
            f"call c1 type_text\narg text {'x' * 501}\n.\n",
            "(all 501 characters again)",
        ),
        ("ctl", "call c1 tap_element\narg index 7\nend\n", "arg index 1\n7\nend"),
        ("ctl", "call c1 tap\narg x 3\n540\narg y 12\n", "arg x 3\n540\narg y 2\n12\nend"),
        ("ctl", "call c1 type_text\narg text 4417\nend\n", "arg text 4\n4417\nend"),
    ],
)
def test_a_lesson_keeps_what_the_model_said(mode: str, reply: str, lesson: str) -> None:
    """Values that arrived are in the right frame again; no other value is put in their place."""
    reader = CARRIERS[mode].reader(PHONE_TOOLS, None)
    frames = reader.feed(TextDelta(reply)) + reader.close(None)
    fault = frames[-1]
    assert isinstance(fault, ContractError)
    assert lesson in fault.message.split("rite it like this:")[1]


def test_a_frame_shown_in_mode_ctl_counts_what_is_digits_alone() -> None:
    """There digits behind a key declare bytes, so a lesson never has them inline."""
    carrier = CARRIERS["ctl"]
    frames = carrier.reader(PHONE_TOOLS, None).feed(TextDelta("call c1 tap 540 12\n"))
    fault = frames[-1]
    assert isinstance(fault, ContractError)
    lesson = fault.message[fault.message.index("call c1 tap\n") :] + "\n"
    assert "arg x 3\n540\narg y 2\n12\nend\n" in lesson
    (ready,) = [
        frame.call
        for frame in carrier.reader(PHONE_TOOLS, None).feed(TextDelta(lesson))
        if isinstance(frame, CallReady)
    ]
    assert ready.arguments == {"x": 540, "y": 12}
