"""Finding adb, and a private server that cannot start."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from device_tools.errors import AdbUnavailable
from device_tools.virtual.adb_server import start_server

_ROOT = Path(__file__).resolve().parents[3]


def test_the_bundled_adb_is_found_without_importing_adbutils() -> None:
    """Where PATH has no adb, the one of adbutils serves, and adbutils is not imported for it."""
    code = (
        "import sys; from device_tools.virtual.adb_server import find_adb; print(find_adb());"
        "print('adbutils' in sys.modules)"
    )
    env = {key: value for key, value in os.environ.items() if key != "BRIDGE_ADB"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**env, "PATH": "/nonexistent"},
        cwd=_ROOT,
        capture_output=True,
        text=True,
        timeout=30,
    )
    path, imported = done.stdout.split()
    assert Path(path).is_file()
    assert imported == "False"


def test_a_program_that_is_no_adb_is_named(tmp_path: Path) -> None:
    """What cannot be run as an adb server is an AdbUnavailable that names it."""
    program = tmp_path / "adb"
    program.write_text("not a program")
    with pytest.raises(AdbUnavailable, match=str(program)):
        asyncio.run(start_server(tmp_path / "home", str(program)))


def test_a_server_that_ends_at_once_is_reported(tmp_path: Path) -> None:
    """A program that exits instead of serving is reported with its code, not waited for."""
    with pytest.raises(AdbUnavailable, match="ended at once"):
        asyncio.run(start_server(tmp_path / "home", "/bin/false"))
