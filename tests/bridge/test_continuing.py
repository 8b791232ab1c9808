"""What a continued run takes over: settings of the newest run, its history, and what overrides."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bridge.continuing import UNNAMED_DEVICE, take_up
from bridge.conversation.events import (
    RunFinished,
    RunStarted,
    RunStatus,
    SteeringQueued,
    SteeringRead,
)
from bridge.errors import ConfigurationError, RecordError
from bridge.store.journal import Recorder
from bridge.store.transcripts import Transcripts
from tests.bridge.store.stories import take_turn

STARTED = RunStarted("the task", "phone-1", "openai", "m-1", "native-inc")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BRIDGE_HOME", str(tmp_path))
    return tmp_path


def ran(home: Path, started: RunStarted = STARTED, *, ended: bool = True) -> Transcripts:
    transcripts = Transcripts(home / "bridge.db")
    recorder = Recorder(transcripts, "r-1", "s-1")
    recorder.record(started)
    recorder.record(SteeringQueued(1, "and quickly", "socket"))
    recorder.record(SteeringRead(1, 1, "and quickly"))
    recorder.record(SteeringQueued(2, "one more thing", "socket"))
    take_turn(recorder, 1, "I tapped")
    if ended:
        unread = ("one more thing",)
        recorder.record(RunFinished(RunStatus.CANCELLED, 130, "cancelled", unread=unread))
    return transcripts


def settings(home: Path, started: RunStarted, **flags: Any) -> tuple[str | None, ...]:
    ran(home, started).close()
    loaded, past = take_up(home, "r-1", flags)
    assert (past.session, past.run) == ("s-1", "r-1")
    chosen = loaded.settings
    return chosen.device, chosen.provider, chosen.model, chosen.protocol, chosen.base_url


def test_the_settings_are_those_of_the_newest_run(home: Path) -> None:
    """Phone, provider, model, protocol and a server that was named."""
    started = RunStarted("t", "phone-1", "openai", "m-1", "ctl", base_url="http://127.0.0.1:1/v1")
    expected = ("phone-1", "openai", "m-1", "ctl", "http://127.0.0.1:1/v1")
    assert settings(home, started) == expected


def test_options_override_one_by_one(home: Path) -> None:
    """What is given wins, the rest stays; a run without a named phone names none."""
    started = RunStarted("t", UNNAMED_DEVICE, "openai", "m-1", "ctl", base_url="http://h:1/v1")
    given = {"model": "m-2", "base_url": "http://h:2/v1", "wire": None}
    assert settings(home, started, **given) == (None, "openai", "m-2", "ctl", "http://h:2/v1")


def test_another_provider_brings_its_own_model(home: Path) -> None:
    """Model, protocol and server of one provider mean nothing to another."""
    assert settings(home, STARTED, provider="demo") == ("phone-1", "demo", None, None, None)


def test_a_replayed_run_needs_a_provider(home: Path) -> None:
    """There is no model behind a recording; with one named it goes on."""
    started = RunStarted("t", "phone-1", "replay", "m", "ctl")
    with pytest.raises(ConfigurationError, match="recording"):
        settings(home, started)
    loaded, _ = take_up(home, "r-1", {"provider": "demo"})
    assert loaded.settings.provider == "demo"


def test_the_history_has_what_the_user_said_meanwhile(home: Path) -> None:
    """Messages stand where a turn read them; one that no turn read is told as such."""
    ran(home).close()
    _, past = take_up(home, "s-1", {})
    told = "\n".join(message.text for message in past.history if hasattr(message, "text"))
    order = ["the task", "and quickly", "I tapped", "one more thing", "cancelled"]
    places = [told.index(each) for each in order]
    assert places == sorted(places)
    assert told.count("and quickly") == 1
    assert "too late for a turn: one more thing" in told


def test_unread_messages_survive_a_crash(home: Path) -> None:
    """Acknowledged and not read when the process died: the record's end lists them."""
    ran(home, ended=False).close()
    with closing(Transcripts(home / "bridge.db")) as transcripts:
        *_, last = transcripts.events("r-1")
    assert (last["status"], last["unread"]) == ("interrupted", ["one more thing"])


def test_a_going_run_is_not_continued(home: Path) -> None:
    """It is named, with the advice to steer it."""
    with closing(ran(home, ended=False)), pytest.raises(RecordError, match="r-1 is going on"):
        take_up(home, "s-1", {})
