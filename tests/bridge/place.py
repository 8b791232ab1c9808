"""A home folder with a running virtual phone, for runs of the program that need no own phone."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import ssl
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

KEY = "sk-wrongkey0123456789abcdef"


@dataclass
class Place:
    """``BRIDGE_API_KEY`` is ``KEY`` unless a run is given another environment."""

    home: Path

    def bridge(self, *argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("BRIDGE_")}
        return subprocess.run(
            [sys.executable, "-m", "bridge", *argv],
            env={**kept, "BRIDGE_HOME": str(self.home), **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )

    def run(self, *argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
        whole = {"BRIDGE_API_KEY": KEY, **environment}
        return self.bridge("run", "--device", "p", *argv, "do it", **whole)

    def last_events(self) -> list[tuple[str, str]]:
        """Type and body of the events of the newest run, from a database that is whole."""
        with closing(sqlite3.connect(self.home / "bridge.db")) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            [run] = database.execute("SELECT run FROM events ORDER BY seq DESC LIMIT 1").fetchone()
            return list(
                database.execute("SELECT type, body FROM events WHERE run = ? ORDER BY seq", [run])
            )


def checked(
    place: Place,
    ran: subprocess.CompletedProcess[str],
    words: str,
    advice: str,
    ends: tuple[int, str] = (4, "ProviderError"),
) -> None:
    """The exit code, one line what happened, one what to do, and the record tells the same."""
    assert ran.returncode == ends[0], ran.stderr
    assert ran.stdout == ""
    message, *rest = ran.stderr.splitlines()
    assert message.startswith("error: ")
    assert words in message
    assert len(message) < 500
    assert len(rest) <= 1
    assert advice in "".join(rest)
    events = place.last_events()
    assert events[0][0] == "run_started"
    kind, body = events[-1]
    assert kind == "run_finished"
    finished = json.loads(body)
    assert (finished["exit_code"], finished["error"]) == ends
    assert KEY not in ran.stderr + "".join(body for _, body in events)


def certified(folder: Path, names: Sequence[str]) -> tuple[Path, ssl.SSLContext]:
    """A new certificate for ``names`` (``DNS:host``, ``IP:address``), its own authority, and a
    server that shows it; skips where openssl is missing."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate of this test")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", "/CN=bridge test", "-addext",
         f"subjectAltName={','.join(names)}", "-keyout", key, "-out", certificate],
        check=True,
        capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return certificate, context
