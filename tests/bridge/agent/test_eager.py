"""A long tool inside the stream, over real sockets: the server goes on while nobody reads.

``BRIDGE_PROOF_TOOL_SECONDS`` makes the tool as long as one likes (``scripts/proof/eager``).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bridge.errors import ProviderError
from bridge.providers.chat_completions import ChatWire
from bridge.providers.endpoint import HttpLimits, Server
from bridge.providers.provider import HttpProvider
from bridge.providers.wire import RequestOptions
from bridge.store.transcripts import unanswered
from device_tools.cancel import CancelScope
from device_tools.result import ToolResult, done
from tests.bridge.agent.bench import FINISH, OBSERVE, Bench, TinyPhone
from tests.doubles.provider_server import DONE, Answer, Do, HangUp, ScriptedServer, Step, chat_chunk

TOOL_SECONDS = float(os.environ.get("BRIDGE_PROOF_TOOL_SECONDS", "1"))
# shorter than the tool: while it runs nobody waits for the server
LIMITS = HttpLimits(attempts=1, idle=TOOL_SECONDS / 2, stragglers=TOOL_SECONDS / 2)
CALLS = 60
TEXT = "".join(f"line {number} of the text, 漢字 🙂\n" for number in range(36))


def frame(number: int) -> str:
    return f"call t{number} type_text\narg text <<END\n{number}\n{TEXT}END\nend\n"


def deltas(text: str, size: int = 7) -> bytes:
    """The text as one piece of stream, a hundred and more bytes for each few characters."""
    pieces = (text[start : start + size] for start in range(0, len(text), size))
    return b"".join(chat_chunk({"content": piece}) for piece in pieces)


@contextmanager
def model(*steps: Step) -> Iterator[HttpProvider]:
    with ScriptedServer([Answer(steps)]) as server:
        options, where = RequestOptions("m"), Server(server.base_url)
        yield HttpProvider("test", ChatWire(), options, where, CancelScope(), limits=LIMITS)


def slow_phone(until: threading.Event | None = None) -> TinyPhone:
    """Its first look takes its time, at least until the server is so far."""

    def look() -> ToolResult:
        time.sleep(TOOL_SECONDS)
        assert until is None or until.wait(20)
        return done("seen")

    return TinyPhone({"observe_screen": look})


def test_a_megabyte_queued_behind_a_long_tool_is_not_lost(tmp_path: Path) -> None:
    """Everything the server sent meanwhile is read afterwards, to the byte and in order."""
    queue = deltas("".join(frame(number) for number in range(CALLS)) + FINISH)
    assert len(queue) > 1_000_000
    bench = Bench(tmp_path, [], slow_phone())
    with model(deltas(OBSERVE), queue, chat_chunk(finish="stop"), DONE) as server:
        assert bench.run(server).success
    assert bench.phone.executed == ["observe_screen", *["type_text"] * CALLS]
    typed = [record["arguments"]["text"] for record in bench.of_type("call_intended")[1:-1]]
    assert typed == [f"{number}\n{TEXT}" for number in range(CALLS)]
    assert all(record["outcome"] == "DONE" for record in bench.of_type("call_finished"))


@pytest.mark.parametrize("reset", [False, True])
def test_a_server_that_hangs_up_during_a_tool_loses_nothing(reset: bool, tmp_path: Path) -> None:
    """The call that ran stands, whole calls that arrived run, the run ends with a named error."""
    left = threading.Event()
    open_call = deltas(frame(1)[:-8])
    steps = [deltas(OBSERVE), deltas(frame(0)), open_call, Do(left.set), HangUp(reset)]
    bench = Bench(tmp_path, [], slow_phone(left))
    with model(*steps) as server, pytest.raises(ProviderError) as caught:
        bench.run(server)
    assert caught.value.exit_code == 4 and caught.value.message
    outcomes = [(r["name"], r["outcome"]) for r in bench.of_type("call_finished")]
    assert outcomes == [("observe_screen", "DONE"), ("type_text", "DONE")]
    assert unanswered(bench.records) == []
    assert bench.of_type("response_finished")[0]["reason"] == "broken"
