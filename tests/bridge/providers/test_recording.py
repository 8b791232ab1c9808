"""Recordings and debug output over real sockets, and the way back: playing a recording."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bridge.conversation.messages import ModelRequest, UserMessage
from bridge.conversation.stream import Finish, StreamEvent, TextDelta
from bridge.errors import ConfigurationError, ProviderError, RecordError
from bridge.providers.debug_log import DebugLog
from bridge.providers.endpoint import Endpoint, HttpLimits
from bridge.providers.keys import Key
from bridge.providers.line_file import LineFile
from bridge.providers.opening import no_secrets, open_provider
from bridge.providers.recording import Recording
from bridge.providers.replay import read_recording
from bridge.providers.settings import ProviderSettings, resolve
from bridge.store.redaction import Redactor
from device_tools.cancel import CancelScope
from device_tools.result import Image
from tests.doubles.provider_server import (
    DONE,
    Answer,
    Delay,
    HangUp,
    ScriptedServer,
    chat_answer,
    chat_chunk,
    event,
)

KEY = "sk-verysecretkey0123456789"
LIMITS = HttpLimits(first_pause=0.01, idle=5, first_byte=5)
PICTURE = Image(b"\xff\xd8 picture bytes \xff\xd9", "image/jpeg", 1, 1, "screenshot")
REQUEST = ModelRequest("rules", (UserMessage("the task"), UserMessage("the screen", (PICTURE,))))
ANSWERS = (
    Answer([HangUp()], head=b""),
    Answer([b'{"error":{"message":"busy"}}'], 503, "application/json"),
    Answer(
        [
            chat_chunk({"content": "hello "}),
            Delay(0.05),
            event({"choices": [{"delta": {"content": f"key {KEY}"}}]}),
            event({"choices": [{"delta": {"x": {"signature": "U0lHTkFUVVJF"}}}]}),
            chat_chunk({"content": "世界"})[:40],
            chat_chunk({"content": "世界"})[40:],
            chat_chunk(finish="stop"),
            chat_chunk(usage=(3, 4)),
            DONE,
        ]
    ),
)


def ask(settings: ProviderSettings, notices: list[str] | None = None) -> list[StreamEvent]:
    chosen = resolve(settings)
    key = Key(KEY, "X") if chosen.key_account else None
    told = [] if notices is None else notices
    with (
        open_provider(
            chosen,
            key,
            CancelScope(),
            limits=LIMITS,
            on_retry=told.append,
            find=Redactor([KEY]).spans,
        ) as provider,
        provider.stream(REQUEST) as events,
    ):
        return list(events)


def text_of(events: Sequence[StreamEvent]) -> str:
    return "".join(each.text for each in events if isinstance(each, TextDelta))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_recording_plays_back_the_same_answer(tmp_path: Path) -> None:
    """Retries, timing, cuts and text come again over a real socket; what was hidden stays so."""
    path = tmp_path / "wire.jsonl"
    with ScriptedServer(ANSWERS) as server:
        settings = ProviderSettings("custom", server.base_url, "m", record=str(path))
        first_notices: list[str] = []
        heard = ask(settings, first_notices)
    notices: list[str] = []
    again = ask(ProviderSettings(f"replay:{path}"), notices)
    assert text_of(heard) == f"hello key {KEY}世界"
    assert text_of(again) == f"hello key {'*' * len(KEY)}世界"
    assert again[-2:] == heard[-2:]
    assert isinstance(again[-1], Finish)
    assert len(notices) == len(first_notices) == 2
    assert "503: busy" in notices[1]


def test_a_recording_has_as_many_answers_as_were_recorded(tmp_path: Path) -> None:
    """A program that asks more often than the recorded one is told so."""
    path = tmp_path / "wire.jsonl"
    with ScriptedServer(ANSWERS) as server:
        ask(ProviderSettings("custom", server.base_url, "m", record=str(path)))
    kept = [each for each in lines(path) if each.get("n") in (None, 2)]
    path.write_text("\n".join(json.dumps(each) for each in kept) + "\n", encoding="utf-8")
    with pytest.raises(ProviderError, match="410: the recording has no further answer"):
        ask(ProviderSettings(f"replay:{path}"))


def test_a_recording_holds_no_key_no_picture_and_nothing_opaque(tmp_path: Path) -> None:
    """Its owner alone may read it, and every byte of it can be shown."""
    path, log = tmp_path / "wire.jsonl", tmp_path / "http.log"
    with ScriptedServer(ANSWERS) as server:
        ask(ProviderSettings("custom", server.base_url, "m", record=str(path), debug_http=str(log)))
        sent = server.requests[-1].body
    assert b"the screen" in sent
    for file in (path, log):
        assert os.stat(file).st_mode & 0o777 == 0o600
        written = file.read_text(encoding="utf-8")
        for secret in (
            KEY,
            "U0lHTkFUVVJF",
            "the screen",
            sent.decode().partition("base64,")[2][:9],
        ):
            assert secret not in written
    assert "the task" in path.read_text(encoding="utf-8")
    assert "世界" in path.read_text(encoding="utf-8")
    kinds = [(each["type"], each.get("n")) for each in lines(path) if each["type"] != "chunk"]
    assert kinds == [
        ("recording", None),
        ("request", 1), ("end", 1),
        ("request", 2), ("response", 2), ("end", 2),
        ("request", 3), ("response", 3), ("end", 3),
    ]  # fmt: skip
    assert [each["how"] for each in lines(path) if each["type"] == "end"] == [
        "failed", "closed", "left",
    ]  # fmt: skip
    assert "> POST http://127.0.0.1" in log.read_text(encoding="utf-8")
    assert "status 503" in log.read_text(encoding="utf-8")


def test_a_broken_stream_is_broken_again(tmp_path: Path) -> None:
    """A hang-up in the middle of an answer is recorded and comes again as the same error."""
    path = tmp_path / "wire.jsonl"
    with (
        ScriptedServer([Answer([chat_chunk({"content": "a"}), HangUp()])]) as server,
        pytest.raises(ProviderError, match="broke off"),
    ):
        ask(ProviderSettings("custom", server.base_url, "m", record=str(path)))
    assert lines(path)[-1]["how"] == "broken"
    with pytest.raises(ProviderError, match="broke off"):
        ask(ProviderSettings(f"replay:{path}"))


def test_a_file_that_exists_is_never_overwritten(tmp_path: Path) -> None:
    """A recording needs a new file, whatever the old one is."""
    path = tmp_path / "old"
    path.write_text("keep me")
    for settings in (
        ProviderSettings("custom", "http://127.0.0.1:9/v1", "m", record=str(path)),
        ProviderSettings("custom", "http://127.0.0.1:9/v1", "m", debug_http=str(path)),
    ):
        with pytest.raises(ConfigurationError, match="cannot be made"):
            ask(settings)
    assert path.read_text() == "keep me"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"type":"recording"}',
        '{"v":2,"type":"recording","provider":"x","model":"m","wire":"chat","protocol":"ctl"}',
        '{"v":1,"type":"request"}',
        '{"v":1,"type":"recording","provider":"x","model":"m","wire":"chat","protocol":"ctl"}\n'
        '{"type":"end","n":1,"how":"oddly"}\n{}',
        "\xff",
    ],
)
def test_what_is_no_recording_is_refused_in_words(tmp_path: Path, content: str) -> None:
    """Any other file is a configuration error that says what recordings are."""
    path = tmp_path / "r"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(ConfigurationError, match="cannot be played back") as caught:
        read_recording(path)
    assert "--record" in caught.value.advice


def test_a_recording_cut_by_a_kill_is_played_as_far_as_it_goes(tmp_path: Path) -> None:
    """Half a line at the end is dropped; the answer then ends without evidence."""
    path = tmp_path / "wire.jsonl"
    with ScriptedServer([chat_answer("hello world")]) as server:
        ask(ProviderSettings("custom", server.base_url, "m", record=str(path)))
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.index('finish_reason\\": \\"stop')], encoding="utf-8")
    with pytest.raises(ProviderError, match="broke off the connection"):
        ask(ProviderSettings(f"replay:{path}"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is a full disk")
def test_a_full_disk_is_told_as_a_fault_of_the_recording() -> None:
    """The run ends with what cannot be written, not with a fault of the provider."""
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        with pytest.raises(RecordError, match="file of --record cannot be written: No space left"):
            Recording(LineFile(full, "--record"), no_secrets, {})
        log = DebugLog(LineFile(full, "--debug-http"))
        with pytest.raises(RecordError, match="file of --debug-http cannot be written"):
            log.begin(Endpoint("http://h/v1/x"), b"{}")
    finally:
        os.close(full)
