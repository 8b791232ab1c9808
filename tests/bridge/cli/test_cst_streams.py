"""``bridge cst parse --sse`` and ``bridge cst check`` as a user runs them on kept streams."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ARGUMENTS = ['{"x": 1', '2, "y": 3}']
READY = {"type": "call_ready", "id": "c9", "name": "tap", "arguments": {"x": 12, "y": 3}}


def sse(*events: dict[str, Any], named: bool = False) -> bytes:
    lines = (
        (f"event: {each['type']}\n" if named else "") + f"data: {json.dumps(each)}\n\n"
        for each in events
    )
    return "".join(lines).encode()


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def chat(*extra: dict[str, Any], finish: str = "tool_calls") -> bytes:
    function = {"name": "tap", "arguments": ARGUMENTS[0]}
    return sse(
        chunk({"role": "assistant", "content": "I tap."}),
        chunk({"tool_calls": [{"index": 0, "id": "c9", "function": function}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": ARGUMENTS[1]}}]}),
        chunk({}, finish),
        *extra,
    )


def anthropic() -> bytes:
    block = {"type": "tool_use", "id": "c9", "name": "tap", "input": {}}
    delta = {"type": "content_block_delta", "index": 0}
    usage = {"input_tokens": 5, "output_tokens": 30}
    return sse(
        {"type": "message_start", "message": {"role": "assistant", "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *(
            delta | {"delta": {"type": "input_json_delta", "partial_json": piece}}
            for piece in ARGUMENTS
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": usage},
        {"type": "message_stop"},
        named=True,
    )


def responses() -> bytes:
    item = {"type": "function_call", "id": "fc", "call_id": "c9", "name": "tap"}
    done = item | {"arguments": "".join(ARGUMENTS), "status": "completed"}
    where = {"output_index": 0, "item_id": "fc"}
    delta = {"type": "response.function_call_arguments.delta", **where}
    return sse(
        {"type": "response.created", "response": {"id": "r", "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item | {"arguments": ""}},
        *(delta | {"delta": piece} for piece in ARGUMENTS),
        {"type": "response.output_item.done", "output_index": 0, "item": done},
        {"type": "response.completed", "response": {"status": "completed", "output": [done]}},
        named=True,
    )


STREAMS = {"chat": chat(), "anthropic": anthropic(), "responses": responses()}


def cst(command: str, *argv: str, given: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "bridge", "cst", command, *argv],
        input=given, capture_output=True, check=False, timeout=120,
    )  # fmt: skip


def lines(ran: subprocess.CompletedProcess[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ran.stdout.splitlines()]


@pytest.mark.parametrize("wire", STREAMS)
@pytest.mark.parametrize("mode", ["native-eos", "native-inc"])
def test_native_calls_are_read_from_the_stream_of_each_wire(wire: str, mode: str) -> None:
    """The same call from every format, byte by byte, with its pieces before it."""
    ran = cst("parse", "--protocol", mode, "--sse", wire, "--chunk", "1", given=STREAMS[wire])
    assert (ran.returncode, ran.stderr) == (0, b"")
    events = lines(ran)
    assert events[-1] == READY
    pieces = [each["text"] for each in events if each["type"] == "argument_confirmed"]
    assert "".join(pieces) == "".join(ARGUMENTS)


def test_frames_in_the_text_of_a_stream_are_read_in_text_modes() -> None:
    """Text deltas carry the frame; what stands behind it stops the reading, so a break there
    is nobody's business."""
    text = "call c1 tap\narg x 12\narg y 3\nend\nDone.\n"
    given = sse(*(chunk({"content": each}) for each in text)) + b"data: broken\n\n"
    ran = cst("parse", "--sse", "chat", given=given)
    assert ran.returncode == 0
    assert [each["type"] for each in lines(ran)][-2:] == ["call_ready", "stop_reading"]


def test_the_end_is_the_streams_own_word() -> None:
    """A reply that was cut runs nothing; --finish is refused; tokens at the cap are a cut."""
    ran = cst("parse", "--protocol", "native-eos", "--sse", "chat", given=chat(finish="length"))
    assert (ran.returncode, lines(ran)[-1]["error"]) == (0, "truncated")
    ran = cst("parse", "--sse", "chat", "--finish", "stop", given=b"")
    assert (ran.returncode, ran.stdout) == (2, b"")
    usage = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 30}}
    argv = ("--protocol", "native-inc", "--sse", "chat", "--output-cap")
    assert lines(cst("parse", *argv, "30", given=chat(usage)))[-1]["error"] == "truncated"
    assert lines(cst("parse", *argv, "31", given=chat(usage)))[-1] == READY


def test_a_broken_stream_tells_what_came_before(tmp_path: Path) -> None:
    """The events confirmed so far, the refusal of what waited, the error; exit 4."""
    file = tmp_path / "cut.sse"
    file.write_bytes(chat()[:-60])
    ran = cst("parse", "--protocol", "native-eos", "--sse", "chat", str(file), given=b"")
    assert ran.returncode == 4
    *_, refused, error = lines(ran)
    assert (refused["type"], refused["error"], refused["id"]) == ("call_refused", "no_end", "c9")
    assert error.keys() == {"type", "message"} and error["type"] == "stream_error"
    assert error["message"].encode() in ran.stderr
    raw = cst("parse", "--sse", "chat", given=b"call c1 home\nend\n")
    assert (raw.returncode, lines(raw)[-1]["type"]) == (4, "stream_error")
    assert b"without --sse" in raw.stderr


def test_tools_of_ones_own_give_the_types(tmp_path: Path) -> None:
    """A list as it stands in a request, in either of the usual forms; anything else is refused."""
    parameters = {"type": "object", "properties": {"n": {"type": "integer"}}}
    given = b"call c1 count\narg n 7\nend\n"
    file = tmp_path / "tools.json"
    for tool in (
        {"name": "count", "parameters": parameters},
        {"type": "function", "function": {"name": "count", "parameters": parameters}},
        {"name": "count", "description": "Counts.", "input_schema": parameters},
    ):
        file.write_text(json.dumps([tool]), encoding="utf-8")
        assert lines(cst("parse", "--tools", str(file), given=given))[-1]["arguments"] == {"n": 7}
    assert lines(cst("parse", given=given))[-1]["arguments"] == {"n": "7"}
    file.write_text('[{"name": "count", "parameters": {"properties": [1]}}]', encoding="utf-8")
    ran = cst("parse", "--tools", str(file), given=given)
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert b"is no list of tools" in ran.stderr


def test_check_holds_the_properties_against_a_stream() -> None:
    """A table for people, rows for programs; a broken stream is read as far as it goes."""
    frame = b"call c1 tap\narg x 12\narg y 3\nend\n"
    ran = cst("check", given=frame)
    assert ran.returncode == 0
    assert b"| S1 |" in ran.stdout and b"1 executable calls" in ran.stdout
    argv = ("--json", "--protocol", "native-inc", "--sse", "anthropic")
    *properties, stream = lines(cst("check", *argv, given=anthropic()))
    assert [(each["name"], each["holds"]) for each in properties] == [
        ("S1", True), ("S2", True), ("S3", True),
    ]  # fmt: skip
    assert properties[0]["compared"] >= len(anthropic())
    assert stream == {"type": "stream", "size": len(anthropic()), "calls": 1, "broken": ""}
    cut = lines(cst("check", *argv, given=anthropic()[:-100]))[-1]
    assert cut["calls"] == 1 and cut["broken"]
