"""The further tools of the screen, on a virtual phone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from device_tools.adb_server import AdbAddress
from device_tools.cancel import CancelScope
from device_tools.catalog import PHONE_TOOLS
from device_tools.executor import PhoneTools, open_phone_tools
from device_tools.result import ToolResult
from device_tools.schema import validate
from device_tools.virtual import launcher
from device_tools.virtual.launcher import VirtualPhone

SPECS = {spec.name: spec for spec in PHONE_TOOLS}
SECRET = "-k7 'quoted' \"ключ\" 🔑"


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VirtualPhone]:
    with launcher.start(tmp_path_factory.mktemp("phone"), name="more") as started:
        yield started


@pytest.fixture(scope="module")
def opened(phone: VirtualPhone) -> Iterator[PhoneTools]:
    address = AdbAddress("127.0.0.1", phone.handle.adb_port)
    secrets = {"mail": SECRET}.get
    with open_phone_tools(phone.handle.serial, address, CancelScope(), secrets=secrets) as tools:
        yield tools


@pytest.fixture
def tools(opened: PhoneTools) -> PhoneTools:
    opened.begin_turn()
    for app in ("com.example.notes", "com.android.settings"):
        did(opened, "close_app", app=app)
    did(opened, "press_key", key="home")
    look(opened)
    return opened


def call(tools: PhoneTools, name: str, /, **arguments: Any) -> ToolResult:
    return tools.execute(validate(SPECS[name], "c1", arguments))


def did(tools: PhoneTools, name: str, /, **arguments: Any) -> ToolResult:
    result = call(tools, name, **arguments)
    assert result.ok, result.text
    return result


def look(tools: PhoneTools) -> list[dict[str, Any]]:
    seen = did(tools, "observe_screen", screenshot=False)
    tools.begin_turn()
    return list(seen.data["elements"])


def number(tools: PhoneTools, label: str) -> int:
    return next(int(e["index"]) for e in look(tools) if str(e["label"]).startswith(label))


def test_an_area_is_tapped_in_both_spaces(tools: PhoneTools) -> None:
    """The middle of the rectangle, in device pixels and in pixels of the picture."""
    for space in ("screen", "screenshot"):
        did(tools, "press_key", key="home")
        seen = did(tools, "observe_screen")
        tools.begin_turn()
        box = next(e for e in seen.data["elements"] if e["label"].startswith("Settings"))["bounds"]
        scale = seen.data["scale"] if space == "screenshot" else [1, 1]
        x1, y1, x2, y2 = (int(value * scale[n % 2]) for n, value in enumerate(box))
        did(tools, "tap_area", x1=x1, y1=y1, x2=x2, y2=y2, coordinate_space=space)
        assert did(tools, "current_app").data["package"] == "com.android.settings"


def test_an_area_the_wrong_way_round_is_refused(tools: PhoneTools) -> None:
    """Nothing is sent, and the coordinate is named."""
    result = call(tools, "tap_area", x1=50, y1=10, x2=40, y2=20, coordinate_space="screen")
    assert (result.exit_code, result.error) == (2, "invalid_call")
    assert "x1 = 50" in result.text


def test_drag_pinch_and_long_press_reach_the_phone_once(
    tools: PhoneTools, phone: VirtualPhone
) -> None:
    """Each is counted once by the phone."""
    before = dict(phone.state()["counters"])
    did(tools, "drag", x1=500, y1=900, x2=500, y2=1200, coordinate_space="screen")
    area = {"x1": 200, "y1": 600, "x2": 900, "y2": 1500, "coordinate_space": "screen"}
    did(tools, "pinch", direction="out", **area)
    did(tools, "pinch", direction="in", **area)
    did(tools, "long_press_element", index=number(tools, "Settings"))
    after = phone.state()["counters"]
    rise = {name: after.get(name, 0) - before.get(name, 0) for name in ("drag", "gesture")}
    assert rise == {"drag": 1, "gesture": 2}
    assert after["long_click"] - before.get("long_click", 0) == 1


def test_a_list_is_scrolled_by_its_number(tools: PhoneTools) -> None:
    """scroll_element moves what it names, and the result says what came."""
    did(tools, "open_app", app="settings")
    lists = [e for e in look(tools) if "scroll" in e["actions"]]
    result = did(tools, "scroll_element", index=lists[0]["index"], direction="down")
    assert result.data["moved"]
    assert any(line.startswith("+") for line in result.data["changes"])


def test_an_action_tells_what_it_changed(tools: PhoneTools) -> None:
    """A tap that opens a page tells what appeared; one that does nothing says that."""
    did(tools, "open_app", app="settings")
    result = did(tools, "tap_element", index=number(tools, "Network & internet"))
    assert any("Airplane mode" in line for line in result.data["changes"])
    assert result.text.splitlines()[1:] == result.data["changes"]
    again = did(tools, "press_key", key="volume_up")
    assert again.data["changes"] == ["nothing changed on the screen"]


@pytest.mark.parametrize(
    "text",
    [
        "-n --help",
        'it\'s "quoted" `$(id)`',
        "日本語 العربية עברית",
        "👩‍👩‍👧 🇩🇪 e\u0301",
        "0123456789",
        "a\nb\n\nc",
        "%s %d",
    ],
)
def test_any_text_is_typed_as_it_is_and_cleared(tools: PhoneTools, text: str) -> None:
    """Dashes, quotes, scripts, emoji, digits and line breaks are read back exactly."""
    did(tools, "open_app", app="notes")
    did(tools, "tap_element", index=number(tools, "New note"))
    fields = [e for e in look(tools) if e["role"] == "field"]
    typed = did(tools, "type_text", text=text, index=fields[-1]["index"])
    assert typed.data["reads"] == text
    did(tools, "clear_text")
    assert not [e for e in look(tools) if e["role"] == "field"][-1]["value"]


def test_a_secret_is_typed_and_never_shown(tools: PhoneTools, phone: VirtualPhone) -> None:
    """The field holds it; no answer, list, picture data or clipboard does."""
    did(tools, "open_app", app="notes")
    did(tools, "tap_element", index=number(tools, "New note"))
    title = number(tools, "Title")
    result = did(tools, "type_secret", name="mail", index=title)
    assert SECRET in phone.state()["fields"].values()
    assert result.secrets == (SECRET,)
    seen = did(tools, "observe_screen")
    assert "[secret mail]" in seen.text
    assert "ключ" not in seen.text + result.text + repr(seen.data) + repr(result.data)
    assert tools.latest is not None
    assert "ключ" not in tools.latest.xml
    assert phone.state()["clipboard"] is None


def test_an_unknown_secret_is_not_available(tools: PhoneTools) -> None:
    """The answer says where the user can store it."""
    result = call(tools, "type_secret", name="other")
    assert result.error == "not_available"
    assert "BRIDGE_SECRET_" in result.text


def test_the_clipboard_is_set_and_read(tools: PhoneTools) -> None:
    """Both directions, any script."""
    did(tools, "clipboard_set", text="übergabe 一\n")
    assert did(tools, "clipboard_get").data["clipboard"] == "übergabe 一"


def test_apps_are_listed_with_versions_and_closed(tools: PhoneTools) -> None:
    """close_app takes the app from the front; a version code stands behind each app."""
    did(tools, "open_app", app="notes")
    assert "version code 231" in did(tools, "list_apps", query="notes").text
    did(tools, "close_app", app="notes")
    assert did(tools, "current_app").data["package"] != "com.example.notes"


def test_a_link_of_a_closed_kind_is_not_opened(tools: PhoneTools) -> None:
    """Files, content providers and intents are not reached through links."""
    for url in ("file:///data/x", "INTENT:#Intent;end", "javascript:alert(1)"):
        assert call(tools, "open_url", url=url).error == "action_refused"
