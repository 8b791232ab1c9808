"""Which command lines the phone answers without a shell."""

from __future__ import annotations

import pytest

from device_tools.virtual.command_line import STATUS, parse
from device_tools.virtual.runner import ui_server_port


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("wm size", [["wm", "size"]]),
        ("pm list packages ''", [["pm", "list", "packages", ""]]),
        ("input text 'a b;c'", [["input", "text", "a b;c"]]),
        ('am start -d "http://a/?b=c"', [["am", "start", "-d", "http://a/?b=c"]]),
        (r"input text a\ b", [["input", "text", "a b"]]),
        ("wm size; echo X4EXIT:$?", [["wm", "size"], ["echo", "X4EXIT:" + STATUS]]),
        ("rm 'x' </dev/null", [["rm", "x"]]),
        ("export A=''; exec logcat '-d'", [["export", "A="], ["logcat", "-d"]]),
        ("CLASSPATH=/a.jar app_process / X", [["app_process", "/", "X"]]),
    ],
)
def test_simple_lines_are_parsed(line: str, expected: list[list[str]]) -> None:
    """Quotes, escapes, ``;``, the status and leading assignments are understood."""
    parsed = parse(line)
    assert parsed is not None
    assert [list(command.argv) for command in parsed] == expected


@pytest.mark.parametrize(
    "line",
    [
        "ls | cat", "ls > f", "echo $HOME", 'echo "$HOME"', "echo `id`", "ls *", "a & b", "a || b",
        "echo 'open", "(a)", "{ a; }", "a\nb", "cat < f", "ls ~", "a # b", "", "a &&", "; a", "a\\",
    ],
)  # fmt: skip
def test_lines_for_a_shell_are_left_to_one(line: str) -> None:
    """Whatever a shell would expand, redirect or complain about is not parsed."""
    assert parse(line) is None


def test_and_runs_only_after_success() -> None:
    """``&&`` is kept as a condition, ``;`` is not."""
    parsed = parse("rm -f t; uiautomator dump t && echo success")
    assert parsed is not None
    assert [command.always for command in parsed] == [True, True, False]


def test_the_ui_servers_command_is_recognised() -> None:
    """app_process with the server's class opens the port after -p, else 9008."""
    line = "CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main"
    assert ui_server_port(line + " -p 9009") == 9009
    assert ui_server_port(line) == 9008
    assert ui_server_port("app_process / other.Main") is None
