"""Commands shown in the README and in docs/ are executed: every block fenced as ``sh run``.

A command that is meant to fail ends in a comment such as ``# exit 2``. The commands of one page
run in order, in one home.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```sh run\n(.*?)^```$", re.MULTILINE | re.DOTALL)
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
