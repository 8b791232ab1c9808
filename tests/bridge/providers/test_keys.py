from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Bridge = Callable[..., "subprocess.CompletedProcess[str]"]
KEY = "sk-keptinthekeyring0123456789"
READ = (
    "import os; from bridge.providers.settings import *\n"
    "key = key_of(resolve(ProviderSettings('openai')), {})\n"
    "print(key.source, key.value, key)"
)


@pytest.fixture
def run(tmp_path: Path) -> Bridge:
    """Runs Python with a keyring of its own: a file."""
    pytest.importorskip("keyring")
    pytest.importorskip("keyrings.alt")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("BRIDGE_")},
        "PYTHON_KEYRING_BACKEND": "keyrings.alt.file.PlaintextKeyring",
        "XDG_DATA_HOME": str(tmp_path),
        "BRIDGE_HOME": str(tmp_path / "home"),
    }

    def run(*argv: str, stdin: str = "", **extra: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *argv],
            env={**environment, **extra},
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    return run


def test_a_key_is_kept_used_and_deleted(run: Bridge) -> None:
    """It is read from stdin, found for the provider's own server, and never shown."""
    kept = run("-m", "bridge", "config", "key", "set", "openai", stdin=f"{KEY}\n")
    assert kept.returncode == 0, kept.stderr
    assert KEY not in kept.stdout + kept.stderr
    found = run("-c", READ)
    assert found.stdout.startswith(f"the keyring {KEY} ")
    assert found.stdout.count(KEY) == 1, "the key's repr must not hold it"
    assert run("-m", "bridge", "config", "key", "delete", "openai").returncode == 0
    gone = run("-m", "bridge", "config", "key", "delete", "openai")
    assert gone.returncode == 2
    assert "no key" in gone.stderr
    assert "needs a key" in run("-c", READ).stderr


@pytest.mark.parametrize("stdin", ["", "\n", "a b\n", "schlüssel\n"])
def test_what_is_no_key_is_not_kept(run: Bridge, stdin: str) -> None:
    """Nothing, blanks inside or other letters: the user is told to copy it again."""
    ran = run("-m", "bridge", "config", "key", "set", "openai", stdin=stdin)
    assert ran.returncode == 2
    assert "Traceback" not in ran.stderr


def test_a_machine_without_keyring_is_told_so(run: Bridge) -> None:
    """Keeping a key fails in words; looking for one is as if there were none."""
    broken = "keyring.backends.fail.Keyring"
    ran = run(
        "-m", "bridge", "config", "key", "set", "openai", stdin="k\n", PYTHON_KEYRING_BACKEND=broken
    )
    assert ran.returncode == 2
    assert "keyring of this machine does not work" in ran.stderr
    assert "needs a key" in run("-c", READ, PYTHON_KEYRING_BACKEND=broken).stderr
