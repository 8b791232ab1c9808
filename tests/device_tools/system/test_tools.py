"""The tools on plain adb against the virtual phone: what they answer and what they change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from device_tools.adb_server import AdbAddress
from device_tools.cancel import CancelScope
from device_tools.catalog import ALL_PHONE_TOOLS
from device_tools.errors import Outcome
from device_tools.executor import PhoneTools, open_phone_tools
from device_tools.result import ToolResult
from device_tools.schema import validate
from device_tools.virtual import launcher
from device_tools.virtual.launcher import VirtualPhone

SPECS = {spec.name: spec for spec in ALL_PHONE_TOOLS}
Call = Callable[..., ToolResult]


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VirtualPhone]:
    with launcher.start(tmp_path_factory.mktemp("phone"), name="system") as phone:
        yield phone


@pytest.fixture(scope="module")
def exchange(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("exchange")


@pytest.fixture(scope="module")
def tools(phone: VirtualPhone, exchange: Path) -> Iterator[PhoneTools]:
    address = AdbAddress("127.0.0.1", phone.handle.adb_port)
    serial = phone.handle.serial
    with open_phone_tools(serial, address, CancelScope(), exchange=exchange) as tools:
        yield tools


@pytest.fixture
def call(tools: PhoneTools) -> Call:
    def run(name: str, **arguments: Any) -> ToolResult:
        return tools.execute(validate(SPECS[name], "c1", arguments))

    return run


def test_the_code_of_a_message_is_told_without_the_message(call: Call) -> None:
    """Code, sender and time in text and data; no other word of the message."""
    found = call("read_sms_code")

    assert found.text.startswith("482913 from AlphaBank at ")
    (code,) = found.data["codes"]
    assert {"code", "sender", "time"} == set(code)
    assert "verification" not in f"{found.text}{found.data}"


def test_a_code_outside_the_time_or_of_another_sender_is_none(call: Call) -> None:
    """The limit is the phone's own clock; the sender may be a part of it."""
    assert call("read_sms_code", minutes=1).data["codes"] == []
    assert call("read_sms_code", sender="library").data["codes"] == []
    assert len(call("read_sms_code", sender="alpha").data["codes"]) == 1


def test_messages_calls_and_contacts_are_found_by_words(call: Call) -> None:
    """All words of the query, in any column and script; newest first."""
    assert [row["address"] for row in call("search_messages", query="LUNCH").data["found"]] == [
        "+15550100123"
    ]
    assert len(call("search_messages", query="那本书").data["found"]) == 1
    assert call("search_messages", query="lunch 482913").text == "nothing found"
    assert call("search_contacts", query="王").text == "王小明: +8613800138000"
    assert "missed +15550100188" in call("search_call_history", days=3).text
    assert "+15550100188" not in call("search_call_history", days=1).text


def test_media_files_and_events_are_found(call: Call) -> None:
    """Names with commas stay whole; recordings are told from music."""
    assert "Aria, with comma" in call("search_audio").text
    assert [row["_id"] for row in call("search_recordings").data["found"]] == ["5"]
    assert "VID_20261128" in call("search_media", query="vid").text
    assert "Invoice" in call("search_downloads").text
    assert "三楼会议室" in call("search_calendar").text
    limited = call("search_files", limit=2)
    assert len(limited.data["found"]) == 2 and "more, not shown" in limited.text


def test_notifications_are_shown_and_remembered(call: Call, tools: PhoneTools) -> None:
    """Text and app of those on show; those removed are only named."""
    shown = call("recent_notifications", package="com.android.messaging")
    assert "482913" in shown.text and len(shown.data["notifications"]) == 1
    assert call("notification_history").data["removed"] == []
    tools.phone.shell(["cmd", "statusbar", "expand-notifications"])
    listed = call("observe_screen", screenshot=False).data["elements"]
    (clear,) = (element["index"] for element in listed if element["label"] == "Clear all")
    assert call("tap_element", index=clear).ok
    assert call("recent_notifications").text == "no notification is shown"
    removed = call("notification_history")
    assert "com.android.messaging" in removed.text and "482913" not in removed.text


def test_radios_are_switched_and_seen_off(call: Call, phone: VirtualPhone) -> None:
    """Done means that the phone says so; a second time changes nothing."""
    for device in ("wifi", "bluetooth"):
        assert call("set_device_state", device=device, on=False).data["changed"]
        assert phone.state()[device] is False
        assert not call("set_device_state", device=device, on=False).data["changed"]
        assert call("set_device_state", device=device, on=True).ok
    assert "network: AndroidWifi" in call("network_info").text


def test_an_app_is_frozen_hidden_and_usable_again(call: Call, phone: VirtualPhone) -> None:
    """A frozen app is not offered for opening."""
    notes = "com.example.notes"
    assert call("app_state_control", package=notes, action="freeze").ok
    assert phone.state()["frozen"] == [notes]
    assert "notes" not in call("list_apps").text
    assert call("app_state_control", package=notes, action="unfreeze").ok
    assert notes in call("list_apps").text


def test_a_stopped_app_has_no_task(call: Call, phone: VirtualPhone) -> None:
    """force_stop ends it."""
    assert call("open_app", app="Notes").ok
    assert call("app_state_control", package="com.example.notes", action="force_stop").ok
    assert "com.example.notes" not in phone.state()["tasks"]


def test_alarm_and_timer_are_set_once(call: Call, phone: VirtualPhone) -> None:
    """With a label that a shell would run; the alarm is listed then."""
    assert call("set_alarm", hour=7, minute=5, label="Gym; rm -rf /").ok
    assert call("set_timer", seconds=90, label="$(id)").ok
    state = phone.state()
    assert (len(state["alarms"]), state["timers"]) == (1, [90])
    assert "07:05:00" in call("list_alarms").text


def test_media_keys_and_volume(call: Call, phone: VirtualPhone) -> None:
    """The answer tells what is playing; a percentage becomes a step of the stream."""
    assert "playing: Morning song" in call("media_control", action="play").text
    assert phone.state()["playing"] is True
    assert call("media_control", action="pause").data["state"] == "paused"
    assert call("set_volume", percent=100).data["volume"] == 15
    assert call("set_volume", percent=0, stream="alarm").data["volume"] == 1


def test_a_refused_install_says_why_and_leaves_nothing(
    call: Call, phone: VirtualPhone, exchange: Path
) -> None:
    """The vendor's reason with what to do; the pushed file is gone."""
    (exchange / "app.apk").write_bytes(b"PK")
    refused = call("install_app", file="app.apk")

    assert Outcome.NOT_SENT is refused.outcome
    assert "INSTALL_FAILED_USER_RESTRICTED" in refused.text and "developer options" in refused.text
    assert "there is no file" in call("install_app", file="other.apk").text


def test_a_system_app_is_not_removed_and_the_reason_told(call: Call) -> None:
    """What to do instead is part of the answer."""
    refused = call("uninstall_app", package="com.android.browser")
    assert not refused.ok and "freeze it instead" in refused.text


def test_without_root_the_passwords_are_not_available(call: Call) -> None:
    """The reason is told, and who can change it."""
    answer = call("wifi_credentials")
    assert (answer.error, answer.exit_code) == ("not_available", 1)
    assert "root" in answer.text


def test_the_log_is_filtered_here(call: Call) -> None:
    """Text, tag and level."""
    assert "Displayed" in call("get_logcat", text="displayed").text
    assert call("get_logcat", level="E").data["matching"] == 0
    assert call("get_logcat", tag="NoSuch").data["matching"] == 0
    assert call("get_logcat", tag="ActivityTaskManager", level="I").data["matching"] == 1


def test_without_a_folder_no_file_is_copied(phone: VirtualPhone) -> None:
    """A program that sets none up cannot be made to read or write files."""
    address = AdbAddress("127.0.0.1", phone.handle.adb_port)
    with open_phone_tools(phone.handle.serial, address, CancelScope()) as tools:
        arguments = {"file": "x", "path": "/sdcard/x"}
        for name in ("send_file_to_phone", "get_file_from_phone"):
            answer = tools.execute(validate(SPECS[name], "c1", arguments))
            assert answer.error == "not_available"
