"""Every phone tool against a virtual phone, through the real adb server and client."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from device_tools.adb import open_device
from device_tools.adb_server import AdbAddress
from device_tools.cancel import CancelScope
from device_tools.catalog import PHONE_TOOLS
from device_tools.elements import Element
from device_tools.errors import Cancelled, Outcome
from device_tools.executor import PhoneTools, open_phone_tools
from device_tools.result import ToolResult
from device_tools.schema import validate
from device_tools.session import ScreenSession
from device_tools.ui_server import UiServer
from device_tools.virtual import launcher
from device_tools.virtual.launcher import VirtualPhone

SPECS = {spec.name: spec for spec in PHONE_TOOLS}


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VirtualPhone]:
    with launcher.start(tmp_path_factory.mktemp("phone"), name="tools") as started:
        yield started


@pytest.fixture(scope="module")
def ui(phone: VirtualPhone) -> Iterator[UiServer]:
    address = AdbAddress("127.0.0.1", phone.handle.adb_port)
    server = UiServer(open_device(None, address, CancelScope()))
    server.start()
    yield server
    server.close()


@pytest.fixture
def tools(ui: UiServer) -> PhoneTools:
    """Tools that have seen nothing yet, on the home screen, with every app at its start."""
    for package in ("com.android.settings", "com.example.notes"):
        assert ui.phone.shell(["am", "force-stop", package]).code == 0
    ready = PhoneTools(ScreenSession(ui.phone, ui))
    did(ready, "press_key", key="home")
    return ready


def opened(phone: VirtualPhone, cancel: CancelScope | None = None, **options: Any) -> Any:
    address = AdbAddress("127.0.0.1", phone.handle.adb_port)
    return open_phone_tools(phone.handle.serial, address, cancel or CancelScope(), **options)


def call(tools: PhoneTools, name: str, **arguments: Any) -> ToolResult:
    return tools.execute(validate(SPECS[name], "c1", arguments))


def did(tools: PhoneTools, name: str, **arguments: Any) -> ToolResult:
    result = call(tools, name, **arguments)
    assert result.ok, result.text
    return result


def look(tools: PhoneTools) -> tuple[Element, ...]:
    """A new turn that begins with a look at the screen."""
    did(tools, "observe_screen", screenshot=False)
    tools.begin_turn()
    assert tools.latest is not None
    return tools.latest.elements


def index(tools: PhoneTools, label: str) -> int:
    found = [element for element in look(tools) if element.label.startswith(label)]
    assert found, f"no {label!r} in {[element.label for element in look(tools)]}"
    return found[0].index


def press(tools: PhoneTools, label: str) -> None:
    did(tools, "tap_element", index=index(tools, label))


def counters(phone: VirtualPhone) -> dict[str, int]:
    found: dict[str, int] = phone.state()["counters"]
    return found


def test_wifi_is_switched_off_through_the_element_list(
    tools: PhoneTools, phone: VirtualPhone
) -> None:
    """App, page, page, switch: four looks and taps change the phone's real state."""
    did(tools, "open_app", app="settings")
    press(tools, "Network & internet")
    press(tools, "Internet")
    before = index(tools, "Wi-Fi")
    tapped = did(tools, "tap_element", index=before)
    assert tapped.text.startswith(f'tapped [{before}] switch "Wi-Fi')
    wifi = next(element for element in look(tools) if element.label.startswith("Wi-Fi"))
    assert "off" in wifi.flags


def test_the_observation_has_picture_scale_and_text(tools: PhoneTools) -> None:
    """Picture and elements come together, with the launcher in front."""
    result = did(tools, "observe_screen")
    (image,) = result.images
    assert max(image.width, image.height) == 1280
    assert result.text.startswith("Screen o")
    assert "1080x2400 rotation 0" in result.text
    assert tools.latest is not None
    assert tools.latest.scale == (image.width / 1080, image.height / 2400)


def test_screenshot_coordinates_reach_the_same_spot(tools: PhoneTools) -> None:
    """A tap in pixels of the picture opens what the picture shows there."""
    did(tools, "observe_screen")
    tools.begin_turn()
    assert tools.latest is not None
    target = next(e for e in tools.latest.elements if e.label.startswith("Settings"))
    sx, sy = tools.latest.scale
    did(tools, "tap", x=int(target.tap[0] * sx), y=int(target.tap[1] * sy))
    assert did(tools, "current_app").data["package"] == "com.android.settings"


@pytest.mark.parametrize("name", ["tap_element", "tap"])
def test_a_turn_that_was_shown_no_screen_touches_nothing(
    tools: PhoneTools, phone: VirtualPhone, name: str
) -> None:
    """An index or a point in the first reply, even behind a look, refers to nothing."""
    tools.begin_turn()
    did(tools, "observe_screen")
    before = counters(phone)
    refused = call(tools, name, **({"index": 1} if name == "tap_element" else {"x": 9, "y": 9}))
    assert (refused.outcome, refused.exit_code) == (Outcome.NOT_SENT, 2)
    assert "observe_screen" in refused.text
    assert counters(phone) == before


@pytest.mark.parametrize(("x", "y", "field"), [(1080, 5, "x"), (5, 2400, "y")])
def test_a_tap_outside_the_screen_is_refused(
    phone: VirtualPhone, x: int, y: int, field: str
) -> None:
    """Nothing is sent, the exit code is 2, and the coordinate is named."""
    with opened(phone, default_space="screen") as tools:
        before = counters(phone)
        result = call(tools, "tap", x=x, y=y)
        assert (result.outcome, result.exit_code) == (Outcome.NOT_SENT, 2)
        assert result.text.startswith(f"{field} = ")
        assert counters(phone) == before


def test_calls_for_another_screen_are_stale(tools: PhoneTools, phone: VirtualPhone) -> None:
    """When the app changed within the turn, elements and coordinates are not acted on."""
    did(tools, "open_app", app="settings")
    number = index(tools, "Network & internet")
    did(tools, "open_app", app="notes")
    before = counters(phone)
    for name, arguments in (("tap_element", {"index": number}), ("tap", {"x": 10, "y": 10})):
        result = call(tools, name, **arguments)
        assert (result.outcome, result.exit_code) == (Outcome.NOT_SENT, 2)
        assert result.error == "stale_screen"
        assert "com.example.notes" in result.text
    assert counters(phone) == before


def test_two_switches_in_one_reply_are_both_pressed(tools: PhoneTools) -> None:
    """The first press changes the screen, and the second is still for the same one."""
    did(tools, "open_app", app="settings")
    press(tools, "Network & internet")
    number = index(tools, "Airplane mode")
    for _ in range(2):
        did(tools, "tap_element", index=number)


def test_text_is_typed_appended_and_read_back(tools: PhoneTools) -> None:
    """Fields take any language, append by default, and lose one final newline."""
    did(tools, "open_app", app="notes")
    press(tools, "New note")
    title = index(tools, "Title")
    typed = did(tools, "type_text", text="Einkauf 购物\n", index=title)
    assert typed.data["reads"] == "Einkauf 购物"
    assert did(tools, "type_text", text="!").data["reads"] == "Einkauf 购物!"
    assert did(tools, "type_text", text="new", mode="replace").data["reads"] == "new"
    field = next(element for element in look(tools) if element.role == "field")
    assert (field.value, "focused" in field.flags) == ("new", True)
    assert tools.latest is not None
    assert tools.latest.keyboard
    body = next(e for e in tools.latest.elements if e.role == "field" and e is not field)
    assert did(tools, "type_text", text="a\nb", index=body.index).data["reads"] == "a\nb"


def test_typing_without_a_field_is_refused(tools: PhoneTools) -> None:
    """The home screen has no field: the answer says to tap one first."""
    result = call(tools, "type_text", text="x")
    assert (result.outcome, result.error) == (Outcome.NOT_SENT, "action_refused")
    assert "tap the field first" in result.text


def test_typing_into_a_button_presses_nothing(tools: PhoneTools, phone: VirtualPhone) -> None:
    """An index that is no text field is refused before any touch: Save is not pressed."""
    did(tools, "open_app", app="notes")
    press(tools, "New note")
    save, before = index(tools, "Save"), counters(phone)
    result = call(tools, "type_text", text="x", index=save)
    assert (result.outcome, result.error) == (Outcome.NOT_SENT, "action_refused")
    assert "no text field" in result.text
    assert counters(phone) == before


def test_the_phone_survives_half_a_character(tools: PhoneTools, phone: VirtualPhone) -> None:
    """Another client may set a lone surrogate into a field; the phone still tells its state."""
    did(tools, "open_app", app="notes")
    press(tools, "New note")
    did(tools, "type_text", text="x", index=index(tools, "Title"))
    selector = {"mask": 0x20010, "className": "android.widget.EditText", "focused": True}
    tools.phone.cancel.check()
    UiServer(tools.phone).act("setText", [selector, "a\ud800b"])
    assert "a?b" in phone.state()["fields"].values()
    assert look(tools)


def test_scrolling_shows_more_and_tells_the_end(tools: PhoneTools) -> None:
    """Down moves the list until its end, and the end is said."""
    did(tools, "open_app", app="settings")
    first = {element.label for element in look(tools)}
    assert did(tools, "scroll", direction="down").data["moved"]
    assert {element.label for element in look(tools)} != first
    for _ in range(10):
        if not did(tools, "scroll", direction="down").data["moved"]:
            break
    else:
        pytest.fail("the list has no end")
    did(tools, "swipe", x1=540, y1=600, x2=540, y2=1800, coordinate_space="screen")


def test_keys_wait_and_lists(tools: PhoneTools) -> None:
    """Back leaves an app, wait_for sees a text come, apps are listed by name and package."""
    did(tools, "open_app", app="Settings")
    did(tools, "wait_for", text="Network & internet", timeout_ms=1000)
    missing = call(tools, "wait_for", text="no such text", timeout_ms=200)
    assert (missing.exit_code, missing.outcome) == (1, Outcome.NOT_SENT)
    did(tools, "wait_for", text="no such text", gone=True)
    did(tools, "press_key", key="back")
    assert did(tools, "current_app").data["package"] != "com.android.settings"
    assert "com.example.notes" in did(tools, "list_apps", query="note").text
    refused = call(tools, "open_app", app="banking")
    assert "com.android.settings" in refused.text
    did(tools, "long_press", x=540, y=1200, coordinate_space="screen", duration_ms=400)


def test_an_app_that_asks_for_a_permission_counts_as_opened(tools: PhoneTools) -> None:
    """Android's question stands in front of the app, and the answer says so."""
    text = did(tools, "open_app", app="contacts").text
    assert text.startswith("opened Contacts (com.android.contacts)")
    assert "com.android.permissioncontroller asks" in text


def test_a_phone_that_dies_gives_results_not_tracebacks(tmp_path: Path) -> None:
    """After the phone is gone each call fails by name, and closing does not wait for it."""
    with launcher.start(tmp_path / "dying", name="dying") as phone, opened(phone) as tools:
        os.kill(phone.handle.pid, signal.SIGKILL)
        for name, arguments in (("tap", {"x": 5, "y": 5}), ("observe_screen", {})):
            result = call(tools, name, **arguments)
            assert not result.ok
            assert result.error in ("adb_unavailable", "device_not_found", "device_not_ready")
        started = time.monotonic()
    assert time.monotonic() - started < 4


def test_a_killed_ui_server_comes_back_and_the_tap_happens_once(
    tools: PhoneTools, phone: VirtualPhone
) -> None:
    """Nothing listens at first, so the tap was not sent: it is sent once behind the restart."""
    before = counters(phone).get("click", 0)
    tools.phone.hang_up()  # the server on the phone ends with the stream that launched it
    did(tools, "tap", x=540, y=1200, coordinate_space="screen")
    assert counters(phone)["click"] == before + 1


def test_a_cancelled_run_ends_its_waiting_call(phone: VirtualPhone) -> None:
    """Cancel raises out of the call, and nothing more is sent."""
    scope = CancelScope()
    with opened(phone, scope) as tools, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(call, tools, "wait_for", text="never", timeout_ms=20_000)
        scope.cancel()
        with pytest.raises(Cancelled):
            waiting.result(3)
        with pytest.raises(Cancelled):
            call(tools, "tap", x=1, y=1)


def test_two_phones_do_not_disturb_each_other(phone: VirtualPhone, tmp_path: Path) -> None:
    """Calls to one phone leave the other where it was."""
    with (
        launcher.start(tmp_path / "second", name="second") as other,
        opened(phone) as first,
        opened(other) as second,
    ):
        did(first, "open_app", app="settings")
        did(second, "open_app", app="notes")
        assert did(first, "current_app").data["package"] == "com.android.settings"
        assert did(second, "current_app").data["package"] == "com.example.notes"


def test_what_a_password_or_code_field_takes_is_marked_as_secret(tools: PhoneTools) -> None:
    """The field decides, whoever gave it the focus; the model still reads the code back."""
    opened = tools.phone.shell(["am", "start", "-n", "com.example.notes/.UnlockActivity"])
    assert opened.code == 0
    did(tools, "observe_screen")
    name, password, code = (index(tools, hint) for hint in ("Your name", "Password", "One-time"))
    assert did(tools, "type_text", text="Alice", index=name).secrets == ()
    typed = did(tools, "type_text", text="hunter2", index=password)
    assert "hunter2" in typed.secrets
    assert "hunter2" not in (typed.storable or typed.text)
    typed = did(tools, "type_text", text="771204", index=code)
    assert "771204" in typed.text
    assert "771204" not in (typed.storable or typed.text)
    seen = did(tools, "observe_screen")
    assert "771204" in seen.text
    assert "Alice" in (seen.storable or "")
    assert "771204" not in (seen.storable or seen.text)
    assert seen.images[0].sensitive
