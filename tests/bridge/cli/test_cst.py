"""``bridge cst parse`` as a user runs it: raw text in, JSON Lines out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

FRAME = "I tap.\ncall c1 tap\narg x 12\narg y 3\nend\n"
XML = (
    '<minimax:tool_call>\n<invoke name="open_app"><parameter name="app">Notes</parameter>'
    "</invoke>\n</minimax:tool_call>"
)


def parse(*argv: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "bridge", "cst", "parse", *argv],
        input=given, capture_output=True, check=False, timeout=60,
    )  # fmt: skip


def events(*argv: str, given: bytes = b"") -> list[dict[str, Any]]:
    ran = parse(*argv, given=given)
    assert (ran.returncode, ran.stderr) == (0, b"")
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_a_file_of_frames_becomes_one_event_a_line(tmp_path: Path) -> None:
    """The stable shape of every event, in the order of confirmation."""
    file = tmp_path / "reply.txt"
    file.write_text(FRAME + "Done.\n", encoding="utf-8")
    assert events("--protocol", "ctl-heredoc", str(file)) == [
        {"type": "text_confirmed", "text": "I tap.\n"},
        {"type": "call_opened", "id": "c1", "name": "tap"},
        {"type": "argument_confirmed", "id": "c1", "key": "x", "text": "12"},
        {"type": "argument_confirmed", "id": "c1", "key": "y", "text": "3"},
        {"type": "call_ready", "id": "c1", "name": "tap", "arguments": {"x": 12, "y": 3}},
        {"type": "stop_reading"},
    ]


def test_standard_input_and_the_default_mode() -> None:
    """Without FILE the text comes in through the pipe; without --protocol it is ctl-heredoc."""
    assert events(given=FRAME.encode())[-1]["arguments"] == {"x": 12, "y": 3}


def test_a_last_end_without_newline_is_unfinished_unless_told() -> None:
    """Raw text is no evidence of a clean end; --finish stop gives it."""
    given = FRAME.encode().removesuffix(b"\n")
    error = events(given=given)[-1]
    assert (error["type"], error["kind"], error["id"]) == (
        "contract_error",
        "unexpected_line",
        "c1",
    )
    assert isinstance(error["message"], str) and error["position"] >= 0
    assert {"declared", "arrived"} <= error.keys()
    assert events("--finish", "stop", given=given)[-1]["type"] == "call_ready"


def test_xml_calls_come_at_the_end_of_the_text() -> None:
    """There the end of the file counts as a clean stop; any other end refuses the batch."""
    ready = {"type": "call_ready", "id": "x1", "name": "open_app", "arguments": {"app": "Notes"}}
    assert events("--protocol", "xml", given=XML.encode())[-1] == ready
    refused = events("--protocol", "xml", "--finish", "length", given=XML.encode())[-1]
    assert (refused["type"], refused["id"], refused["error"]) == ("call_refused", "x1", "truncated")


def test_digits_are_a_length_in_ctl_alone() -> None:
    """The same text means two things in the two modes."""
    given = b"call c1 type_text\narg text 2\n12\nend\n"
    assert events("--protocol", "ctl", given=given)[-1]["arguments"] == {"text": "12"}
    assert events("--protocol", "ctl-heredoc", given=given)[-1]["kind"] == "unexpected_line"


def test_any_chunk_size_gives_the_same_sequence() -> None:
    """Byte by byte through the middle of characters."""
    given = ("é😀\n" + FRAME).encode()
    small = events("--chunk", "1", given=given)
    text = "".join(event["text"] for event in small if event["type"] == "text_confirmed")
    assert text == "é😀\nI tap.\n"
    assert [event for event in small if event["type"] != "text_confirmed"] == events(given=given)[
        1:
    ]


def test_events_are_printed_while_the_text_still_comes() -> None:
    """A call is told at its end line, not at the end of the input."""
    command = [sys.executable, "-m", "bridge", "cst", "parse"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as ran:
        assert ran.stdin is not None and ran.stdout is not None
        ran.stdin.write(FRAME.encode())
        ran.stdin.flush()
        lines = [json.loads(ran.stdout.readline()) for _ in range(5)]
        assert ran.poll() is None
        ran.stdin.close()
        assert lines[-1]["type"] == "call_ready"
        assert ran.wait(timeout=30) == 0


def test_bytes_that_are_no_text_do_not_stop_it() -> None:
    """They read as replacement characters."""
    assert events(given=b"\xff\n") == [{"type": "text_confirmed", "text": "\ufffd\n"}]


def test_wrong_modes_and_files_are_usage_errors(tmp_path: Path) -> None:
    """Two lines on stderr, exit 2."""
    for argv, says in (
        (["--protocol", "native-eos"], b"raw text cannot carry the calls of native-eos"),
        (["--protocol", "json"], b"there is no protocol 'json'"),
        (["--output-cap", "9"], b"raw text does not say how many tokens it is"),
        ([str(tmp_path / "none")], b"cannot be read"),
        ([str(tmp_path)], b"cannot be read"),
    ):
        ran = parse(*argv)
        assert (ran.returncode, ran.stdout) == (2, b"")
        assert says in ran.stderr


def test_help_names_modes_and_events() -> None:
    """The help is enough to use it."""
    ran = subprocess.run(
        [sys.executable, "-m", "bridge", "cst", "parse", "--help"],
        capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip
    for word in ("--protocol", "ctl-heredoc", "ctl or xml", "--finish", "--chunk", "call_refused"):
        assert word in ran.stdout
