"""The unmodified uiautomator2 client on the virtual phone, through the real adb server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import adbutils
import pytest
import uiautomator2

from device_tools.virtual.launcher import VirtualPhone

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def client(virtual_phone: VirtualPhone) -> Iterator[Any]:
    adb = adbutils.AdbClient("127.0.0.1", virtual_phone.handle.adb_port)
    client = uiautomator2.connect(adb.device(virtual_phone.handle.serial))
    yield client
    client.stop_uiautomator()


def test_it_connects_and_reads_the_screen(client: Any) -> None:
    """connect pushes and launches the server; info, size, dump and screenshot agree."""
    assert client.info["displayWidth"] == 1080
    assert client.window_size() == (1080, 2400)
    assert client.dump_hierarchy().count("<node") > 5
    assert client.screenshot().size == (1080, 2400)
    assert client.app_current()["package"]


def test_a_switch_in_settings_is_the_setting(client: Any) -> None:
    """Wi-Fi switched off over the shell is off for every reader."""
    assert client.shell("settings get global wifi_on").output.strip() == "1"
    assert client.shell("svc wifi disable").exit_code == 0
    assert client.shell("settings get global wifi_on").output.strip() == "0"


def test_it_clicks_swipes_and_presses(client: Any, virtual_phone: VirtualPhone) -> None:
    """Actions arrive once each: the phone's counters grow by what was done."""
    before = virtual_phone.state()["counters"]
    client.press("home")
    client.click(540, 1200)
    client.swipe(540, 1800, 540, 900, steps=10)
    client.press("home")
    after = virtual_phone.state()["counters"]
    grown = {key: after[key] - before.get(key, 0) for key in after}
    assert sum(grown.values()) >= 4


def test_it_starts_an_app_and_waits_for_it(client: Any) -> None:
    """app_start brings Settings to the front."""
    client.app_start("com.android.settings")
    assert client.app_wait("com.android.settings", timeout=5, front=True)


def test_the_clipboard_is_set_and_read(client: Any) -> None:
    """set_clipboard and clipboard agree."""
    client.set_clipboard("你好 clip")
    assert client.clipboard == "你好 clip"


def test_a_command_of_the_clients_keeps_its_exit_code(client: Any) -> None:
    """The marker of d.shell gives the code of the command."""
    assert client.shell("false").exit_code == 1
    assert client.shell("echo a b").output == "a b\n"
