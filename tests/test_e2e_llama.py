"""The script that anyone can point at a model server, pointed at one that plays a model."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.doubles import anthropic_stream, responses_stream
from tests.doubles.provider_server import Answer, ScriptedServer, chat_answer

ROOT = Path(__file__).resolve().parents[1]
FINISH = "call c1 finish\narg success true\narg summary done\nend\n"


def run_script(base_url: str, *more: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "scripts/e2e_llama.py", "--base-url", base_url, "--tasks", "1"]
    argv += ["--carriers", "ctl-heredoc", "--seconds", "80", *more]
    return subprocess.run(
        argv, cwd=ROOT, env={**os.environ, "PYTHONPATH": "."}, capture_output=True, text=True,
        timeout=270, check=False,
    )  # fmt: skip


@pytest.mark.timeout(300)
def test_every_wire_has_its_line_in_the_table() -> None:
    """A model that finishes at once is done with one call on each wire."""
    answers = [
        chat_answer(FINISH),
        Answer([responses_stream.stream(responses_stream.message(FINISH))]),
        Answer([anthropic_stream.message([anthropic_stream.text(FINISH)], "end_turn")]),
    ]
    with ScriptedServer(answers) as server:
        done = run_script(server.base_url)
        paths = [request.path for request in server.requests]
    assert done.returncode == 0, done.stderr
    assert paths == ["/v1/chat/completions", "/v1/responses", "/v1/messages"]
    rows = [line for line in done.stdout.splitlines() if "ctl-heredoc" in line]
    assert [row.split(" | ")[3:8] for row in rows] == [["done", "0", "1", "1", "0"]] * 3


@pytest.mark.timeout(300)
def test_a_server_that_fails_makes_the_script_fail() -> None:
    """A fault that no model's words explain is told apart from a task that was not done."""
    with ScriptedServer([Answer([b""], 401, "text/plain")]) as server:
        done = run_script(server.base_url, "--wires", "chat")
    assert done.returncode == 1
    assert "unsound" in done.stderr
