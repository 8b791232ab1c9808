"""The program as a user runs it, in its own process; no phone is needed here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Bridge = Callable[..., "subprocess.CompletedProcess[str]"]
HEAVY = ("adbutils", "uiautomator2", "PIL", "httpx", "jsonschema", "rich")


@pytest.fixture
def bridge(tmp_path: Path) -> Bridge:
    """Runs ``python -m bridge ARGS`` with a home folder of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BRIDGE_")}

    def run(*argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "bridge", *argv],
            env={**kept, "BRIDGE_HOME": str(tmp_path / "home"), **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    return run


def test_help_imports_nothing_heavy() -> None:
    """The help text does not pay for adb, pictures, HTTP or schemas."""
    code = (
        "import sys; from bridge.cli.main import main; sys.argv = ['bridge', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"
    assert "observe" in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ('{"x": "12", "y": 3}', "x"),
        ('{"x": 12, "y": 3, "z": 1}', "z"),
        ('{"x": 12}', "y"),
        ('{"x": true, "y": 3}', "x"),
        ('{"x": 12, "y": 1.0}', "y"),
        ('{"x": 5, "x": 12, "y": 3}', ""),
        ('{"x": NaN, "y": 3}', ""),
        ('{"x": 12, "y": 3, "coordinate_space": "\\ud800"}', "coordinate_space"),
        ("[1]", ""),
        ("[" * 100_000, ""),
        ("{", ""),
    ],
)
def test_call_refuses_bad_arguments_before_any_phone(
    bridge: Bridge, arguments: str, field: str
) -> None:
    """A bad call is refused with the field's name and exit 2; no device is looked for."""
    ran = bridge("call", "tap", "--args", arguments, "--device", "no-such-phone")
    answer = json.loads(ran.stdout)
    assert ran.returncode == 2
    assert answer["outcome"] == "NOT_SENT"
    assert answer["result"] is None
    assert answer["error"]["field"] == field


def test_call_of_an_unknown_tool_is_refused(bridge: Bridge) -> None:
    """There is no tool but those listed by bridge tools."""
    ran = bridge("call", "fly")
    assert ran.returncode == 2
    assert "fly" in json.loads(ran.stdout)["error"]["message"]


@pytest.mark.parametrize(
    ("argv", "word"),
    [
        (["run", "--protocol", "json", "task"], "cannot be"),
        (["run", "--provider", "demo", "--protocol", "native-inc", "task"], "native-inc"),
        (["run", "task"], "--provider demo"),
        (["run", "--provider", "nobody", "task"], "nobody"),
        (["run", "--provider", "demo", "--max-turns", "65", "task"], "at most 64"),
        (["run", "--provider", "demo", "--ask", "maybe", "task"], "maybe"),
        (["run", "--provider", "demo", "--deny", "magic", "task"], "magic"),
        (["run", "--provider", "demo", " "], "task is empty"),
        (["observe", "--xml", "absent.xml"], "absent.xml"),
        (["virtual", "start", "../x"], "'../x'"),
    ],
)
def test_wrong_usage_is_two_lines_and_exit_2(bridge: Bridge, argv: list[str], word: str) -> None:
    """Configuration errors say what and what to do, without a traceback, and start nothing."""
    ran = bridge(*argv)
    assert ran.returncode == 2, ran.stderr
    assert word in ran.stderr
    assert "Traceback" not in ran.stderr
    assert len(ran.stderr.splitlines()) <= 2
    assert ran.stdout == ""


def test_settings_layer_file_environment_and_flags(bridge: Bridge, tmp_path: Path) -> None:
    """The environment wins over the file, and each value says where it came from."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text(
        'provider = "ollama"\nmodel = "a"\n[groups]\nterminal = false\n'
    )
    ran = bridge("config", "show", "--json", BRIDGE_MODEL="b")
    shown = json.loads(ran.stdout)
    assert shown["settings"]["provider"] == "ollama" and shown["sources"]["provider"] == "file"
    assert shown["settings"]["model"] == "b" and shown["sources"]["model"] == "environment"
    assert shown["settings"]["groups"]["terminal"] is False


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("colour = 1", "colour"),
        ('api_key = "k"', "environment"),
        ("max_turns = 1.5", "max_turns"),
        ('quirk = "fast"', "quirk"),
    ],
)
def test_unknown_and_wrong_settings_are_named(
    bridge: Bridge, tmp_path: Path, text: str, word: str
) -> None:
    """A key that is no setting, or a value of the wrong kind, is an error with exit 2."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text(text + "\n")
    ran = bridge("config", "show")
    assert ran.returncode == 2
    assert word in ran.stderr


def test_sessions_of_an_empty_home(bridge: Bridge) -> None:
    """An empty record lists nothing; an unknown id is an error that says how to find one."""
    assert bridge("sessions", "list").stdout == ""
    assert "no run is recorded" in bridge("sessions", "show").stderr
    ran = bridge("sessions", "show", "r-0")
    assert ran.returncode == 1
    assert "sessions list" in ran.stderr


def test_tools_as_json_lines(bridge: Bridge) -> None:
    """Each tool is one JSON object with a closed schema."""
    tools = [json.loads(line) for line in bridge("tools", "--json").stdout.splitlines()]
    assert {"tap", "observe_screen", "finish"} <= {tool["name"] for tool in tools}
    assert all(tool["parameters"]["additionalProperties"] is False for tool in tools)


def test_half_a_character_is_no_text(bridge: Bridge) -> None:
    """JSON can spell a lone surrogate; it is refused before any phone, and the answer is JSON."""
    ran = bridge("call", "type_text", "--args", '{"text": "a\\ud800b"}')
    assert ran.returncode == 2
    assert json.loads(ran.stdout)["error"]["field"] == "text"


def test_what_is_printed_cannot_steer_the_terminal(bridge: Bridge, tmp_path: Path) -> None:
    """Escape sequences and direction marks of a screen are not sent to it."""
    dump = tmp_path / "dump.xml"
    node = '<node text="a\x9b31m\u202eb" bounds="[0,0][9,9]" resource-id="\x9b" />'
    dump.write_text(f'<hierarchy rotation="0">{node}</hierarchy>')
    for form in ("text", "json"):
        shown = bridge("observe", "--xml", str(dump), "--format", form).stdout
        assert "31m" in shown
        assert not {"\x1b", "\x9b", "\u202e"} & set(shown)


def test_a_terminal_without_utf_8_gets_escapes(bridge: Bridge, tmp_path: Path) -> None:
    """A character that the terminal lacks is no crash."""
    dump = tmp_path / "dump.xml"
    dump.write_text('<hierarchy rotation="0"><node text="设置" bounds="[0,0][9,9]"/></hierarchy>')
    ran = bridge("observe", "--xml", str(dump), PYTHONIOENCODING="ascii")
    assert ran.returncode == 0, ran.stderr
    assert "\\u8bbe\\u7f6e" in ran.stdout


def test_ctrl_c_while_the_program_loads_is_130() -> None:
    """An interrupt in the middle of the imports ends quietly with 130."""
    code = (
        "import sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from bridge.__main__ import main\n"
        "main()"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "")


def test_a_home_that_cannot_be_made(bridge: Bridge, tmp_path: Path) -> None:
    """A folder that cannot be written is named in two lines; doctor points at it."""
    (tmp_path / "file").write_text("")
    home = str(tmp_path / "file" / "home")
    ran = bridge("virtual", "start", BRIDGE_HOME=home)
    assert ran.returncode == 1
    assert "file" in ran.stderr and "Traceback" not in ran.stderr
    assert "FAIL  home folder" in bridge("doctor", BRIDGE_HOME=home).stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_that_cannot_be_written() -> None:
    """A full disk behind stdout is a failure in two lines, not a success or a traceback."""
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "bridge", "tools"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert ran.returncode == 1
    assert len(ran.stderr.splitlines()) == 2


def test_a_wrong_setting_names_where_it_was_written(bridge: Bridge) -> None:
    """The message has the environment variable, not only the setting."""
    assert "BRIDGE_MAX_TURNS" in bridge("config", "show", BRIDGE_MAX_TURNS="x").stderr


def test_finish_is_no_tool_to_call(bridge: Bridge) -> None:
    """finish is listed for the model; the refusal says why it cannot be called alone."""
    ran = bridge("call", "finish", "--json")
    assert ran.returncode == 2
    assert "ends a run" in json.loads(ran.stdout)["error"]["message"]


def test_a_broken_dump_names_its_file(bridge: Bridge, tmp_path: Path) -> None:
    """A file without a hierarchy is told with its name."""
    dump = tmp_path / "dump.xml"
    dump.write_text("no hierarchy")
    ran = bridge("observe", "--xml", str(dump))
    assert ran.returncode == 3
    assert "dump.xml" in ran.stderr
