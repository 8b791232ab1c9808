"""Commands shown in the README and in docs/ are executed: every block fenced as ``sh run``.

A command that is meant to fail ends in a comment such as ``# exit 2``. The commands of one page
run in order, in one home. Every other ``bridge …`` on a page is held against the program's own
commands and options.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

from bridge.cli.main import app

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```sh run\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<!`)`(bridge [^`\n]+)`(?!`)")
FLAG = re.compile(r"(?<!\S)--[a-z][-a-z]*")
EXIT = re.compile(r"# exit (\d+)$")


def commands(page: Path) -> list[str]:
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [line for block in blocks for line in block.splitlines() if line.strip()]


SHOWN = [page for page in PAGES if commands(page)]


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_shown_on_a_page_do_what_the_page_says(page: Path, tmp_path: Path) -> None:
    """Each command ends with the exit code the page promises, 0 unless it says otherwise."""
    scripts = tmp_path / "bin"
    scripts.mkdir()
    launcher = scripts / "bridge"
    launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bridge "$@"\n')
    launcher.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "BRIDGE_HOME": str(tmp_path / "home"),
    }
    for line in commands(page):
        promised = EXIT.search(line)
        ended = subprocess.run(
            ["sh", "-c", line],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=100,
        )

        assert ended.returncode == int(promised[1] if promised else 0), (line, ended.stderr)


def test_the_readme_shows_commands() -> None:
    """The README's first command is among those that are executed."""
    assert any("bridge run --device virtual" in line for line in commands(ROOT / "README.md"))


def mentions(page: Path) -> list[str]:
    """Each ``bridge …`` of a page that is not executed."""
    text = page.read_text(encoding="utf-8")
    fenced = "".join(FENCED.findall(text)).replace("\\\n", " ").splitlines()
    return [*INLINE.findall(text), *(line for line in fenced if line.startswith("bridge "))]


def wrong_in(mention: str) -> str:
    """The first word of a command that the program does not know, "" when it knows all."""
    # quoted words are data; what follows | > or # is not ours
    line = re.split(r"[|>#]", re.sub(r"'[^']*'|\"[^\"]*\"", "DATA", mention))[0]
    command = typer.main.get_command(app)
    options = {name for parameter in command.params for name in parameter.opts}
    for word in line.split()[1:]:
        if not isinstance(command, TyperGroup):
            break
        if word.startswith("-") or not word[0].islower():
            continue
        if word not in command.commands:
            return word
        command = command.commands[word]
        options |= {name for parameter in command.params for name in parameter.opts}
    known = {*options, "--help"}
    return next((flag for flag in FLAG.findall(line) if flag not in known), "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_mentioned_on_a_page_exist(page: Path) -> None:
    """Each command and option that a page names is one of the program's."""
    assert [(each, bad) for each in mentions(page) if (bad := wrong_in(each))] == []


def test_a_command_that_does_not_exist_is_found() -> None:
    """The check sees a wrong command and a wrong option, and knows the right ones."""
    assert wrong_in("bridge session show") == "session"
    assert wrong_in("bridge sessions shown") == "shown"
    assert wrong_in("bridge run --modle X 'do --it'") == "--modle"
    assert wrong_in("bridge config key set openai  # --asks") == ""
    assert any("--base-url" in each for each in mentions(ROOT / "README.md"))
