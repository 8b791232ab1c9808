from __future__ import annotations

import pytest

from bridge.providers.demo.goals import (
    FindCode,
    GoHome,
    OpenApp,
    Toggle,
    WriteNote,
    read_goal,
)


@pytest.mark.parametrize(
    ("task", "title", "on"),
    [
        ("turn off Wi-Fi", "Wi-Fi", False),
        ("Please turn the wifi on.", "Wi-Fi", True),
        ("Switch Bluetooth off", "Bluetooth", False),
        ("enable dark theme", "dark theme", True),
        ("turn on the dark mode", "dark theme", True),
        ("disable airplane mode", "airplane mode", False),
        ("关闭 Wi-Fi", "Wi-Fi", False),
        ("打开WLAN", "Wi-Fi", True),
        ("请打开蓝牙", "Bluetooth", True),
        ("关闭飞行模式", "airplane mode", False),
    ],
)
def test_a_switch_is_told_by_its_name_and_direction(task: str, title: str, on: bool) -> None:
    """The usual ways to ask for a switch are understood, in English and Chinese."""
    goal = read_goal(task)
    assert isinstance(goal, Toggle)
    assert (goal.setting.title, goal.on) == (title, on)


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ("write a note saying buy milk", "buy milk"),
        ('Write a note saying "turn off Wi-Fi".', "turn off Wi-Fi"),
        ("create a new note with the text: two\nlines", "two\nlines"),
        ("写一条笔记：明天开会", "明天开会"),
        ("写一个便签，内容是「买牛奶」", "买牛奶"),
    ],
)
def test_a_note_keeps_its_text(task: str, text: str) -> None:
    """The text of a note is taken as it is, without the quotes around it."""
    assert read_goal(task) == WriteNote(text)


def test_the_other_goals() -> None:
    """A code, an app and the home screen are understood."""
    assert read_goal("What is the verification code in my messages?") == FindCode()
    assert read_goal("短信里的验证码是多少？") == FindCode()
    assert read_goal("open Contacts") == OpenApp("Contacts")
    assert read_goal("Open the Notes app.") == OpenApp("Notes")
    assert read_goal("打开设置") == OpenApp("设置")
    assert read_goal("go home") == GoHome()
    assert read_goal("回到桌面") == GoHome()


@pytest.mark.parametrize(
    "task",
    [
        "order a pizza",
        "",
        "is Wi-Fi on?",
        "do not turn off Wi-Fi",
        "don't turn Bluetooth off",
        "turn Wi-Fi off and on",
        "turn off Wi-Fi and Bluetooth",
        "open Settings and delete everything",
        "不要关闭 Wi-Fi",
    ],
)
def test_what_the_demo_does_not_know_is_no_goal(task: str) -> None:
    """Unknown, negated and compound tasks are refused rather than half done."""
    assert read_goal(task) is None
