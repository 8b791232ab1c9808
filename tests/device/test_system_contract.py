"""The tools on plain adb, as every phone must serve them. Nothing of the user's is changed: what
a test sets it sets back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from device_tools.catalog import ALL_PHONE_TOOLS
from device_tools.errors import InvalidCall, Outcome
from device_tools.result import ToolResult
from device_tools.schema import Effect, RiskGroup
from device_tools.system.catalog import SENSITIVE_READ_TOOLS

Call = Callable[..., ToolResult]
# may be "not available" on a phone, with its reason; anything else must be answered
ARGUMENTS = {"get_setting": {"namespace": "global", "key": "wifi_on"}}


@pytest.mark.parametrize("name", [spec.name for spec in SENSITIVE_READ_TOOLS])
def test_every_read_answers_or_says_why_not(call: Call, name: str) -> None:
    """An answer that is bounded, or the reason why this phone has none: never a broken answer."""
    answer = call(name, **ARGUMENTS.get(name, {}))

    assert answer.ok or answer.error == "not_available", answer
    assert 0 < len(answer.text) <= 17_000


@pytest.mark.parametrize(
    "name", ["device_status", "network_info", "top_memory_apps", "top_storage_apps"]
)
def test_the_state_of_the_phone_is_told(call: Call, name: str) -> None:
    """These need no rights beyond adb's own, on every supported version."""
    answer = call(name)

    assert answer.ok, answer.text
    assert answer.text


def test_the_volume_is_set_and_read_back(call: Call) -> None:
    """Half, then what it was before."""
    half = call("set_volume", percent=50)

    assert half.ok, half.text
    assert half.data["volume"] <= half.data["highest"]


def test_a_setting_is_written_read_and_set_back(call: Call) -> None:
    """The value before is part of the answer, so that it can be restored."""
    place = {"namespace": "system", "key": "screen_off_timeout"}
    before = call("get_setting", **place).data["value"]
    written = call("set_setting", **place, value="61000")

    assert written.ok, written.text
    assert before == written.data["before"]
    assert call("get_setting", **place).data["value"] == "61000"
    assert call("set_setting", **place, value=before).ok


def test_text_of_a_call_never_reaches_a_shell(call: Call) -> None:
    """A filter, a query and a value that a shell would run are only text."""
    evil = "'; touch /sdcard/bridge-evil; echo \"$(id)"
    assert call("get_logcat", text=evil).ok
    assert call("search_messages", query=evil).error in ("", "not_available")
    place = {"namespace": "system", "key": "bridge_test_text"}
    assert call("set_setting", **place, value=evil).error in ("", "not_available", "action_refused")
    seen = call("get_file_from_phone", path="/sdcard/bridge-evil", file="evil")
    assert "there is no file" in seen.text


def test_an_unknown_package_is_refused_by_name(call: Call) -> None:
    """Nothing is stopped, frozen or removed that is not installed."""
    for name, more in (("app_state_control", {"action": "freeze"}), ("uninstall_app", {})):
        refused = call(name, package="no.such.package", **more)

        assert Outcome.NOT_SENT is refused.outcome
        assert "no.such.package is not installed" in refused.text


def test_what_the_phone_needs_is_not_frozen(call: Call) -> None:
    """System UI and Settings can be neither frozen nor removed."""
    for package in ("com.android.systemui", "com.android.settings"):
        assert not call("app_state_control", package=package, action="freeze").ok
        assert not call("uninstall_app", package=package).ok


def test_a_file_goes_to_the_phone_and_comes_back(call: Call, exchange: Path) -> None:
    """The same bytes, also more than fit one packet; nothing is replaced without being told to."""
    data = bytes(range(256)) * 700
    (exchange / "to phone.bin").write_bytes(data)
    path = "/sdcard/Download/bridge test.bin"
    sent = call("send_file_to_phone", file="to phone.bin", path=path, overwrite=True)

    assert sent.ok, sent.text
    again = call("send_file_to_phone", file="to phone.bin", path=path)
    assert not again.ok and "exists" in again.text
    back = call("get_file_from_phone", path=path, file="back.bin")
    assert back.ok, back.text
    assert data == (exchange / "back.bin").read_bytes()
    assert not call("get_file_from_phone", path=path, file="back.bin").ok
    assert sorted(each.name for each in exchange.iterdir()) == ["back.bin", "to phone.bin"]


def test_no_other_folder_of_this_computer_can_be_named(call: Call, exchange: Path) -> None:
    """A link out of the exchange folder is no file of it; a path is no name."""
    (exchange / "link").symlink_to("/etc/passwd")
    refused = call("send_file_to_phone", file="link", path="/sdcard/Download/p")
    (exchange / "link").unlink()

    assert "there is no file" in refused.text
    for name in ("../x", "/etc/passwd", ".hidden", "a/b"):
        with pytest.raises(InvalidCall):
            call("send_file_to_phone", file=name, path="/sdcard/Download/p")
    for path in ("/etc/hosts", "/sdcard/../data/system/x"):
        with pytest.raises(InvalidCall) if path.startswith("/etc") else nullcontext():
            assert not call("get_file_from_phone", path=path, file="x").ok


def test_groups_and_effects_are_those_of_the_names() -> None:
    """Reads have no effect; every tool of a sensitive group is hidden wholly by redaction."""
    for spec in ALL_PHONE_TOOLS:
        if spec.group is RiskGroup.SENSITIVE_READ:
            assert Effect.NONE is spec.effect
        if spec.group is RiskGroup.SENSITIVE_ACTION:
            assert spec.effect is not Effect.NONE
        assert spec.parameters["additionalProperties"] is False
