"""The virtual phone's UI server over a real loopback socket, and its final state."""

from __future__ import annotations

import asyncio
import base64
import http.client
import io
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from PIL import Image

from device_tools.virtual.phone import Phone


class Server:
    """Runs ``Phone.ui_port_handler`` in a thread of its own, as the daemon's loop would."""

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self._ready = threading.Event()
        self.port = 0
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        assert self._ready.wait(5)

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._phone.ui_port_handler, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(5)

    def request(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        connection.request(method, path, body or None, {"Connection": "close"})
        response = connection.getresponse()
        result = response.status, response.read(), response.getheader("Content-Type", "")
        connection.close()
        return result

    def call(self, method: str, *params: Any) -> dict[str, Any]:
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params) or {}}
        status, body, _ = self.request("POST", "/jsonrpc/0", json.dumps(request).encode())
        assert status == 200
        answer: dict[str, Any] = json.loads(body)
        return answer


@pytest.fixture
def phone() -> Phone:
    return Phone()


@pytest.fixture
def server(phone: Phone) -> Iterator[Server]:
    server = Server(phone)
    yield server
    server.close()


def test_ping_and_unknown_path(server: Server) -> None:
    """/ping says pong and nothing else; any other path is 404 with NanoHTTPD's text."""
    assert server.request("GET", "/ping")[:2] == (200, b"pong")
    assert server.request("GET", "/nothing")[:2] == (404, b"Not Found!!!")


def test_broken_json_is_a_server_error(server: Server) -> None:
    """A body that is no JSON gets status 500, which the client treats as HTTPError."""
    assert server.request("POST", "/jsonrpc/0", b"{")[0] == 500


def test_unknown_method_and_bad_arity(server: Server) -> None:
    """Unknown methods are -32601, wrong parameters -32602."""
    assert server.call("makeToast", "hi", 1)["error"]["code"] == -32601
    assert server.call("click", 1)["error"]["code"] == -32602


def test_missing_object_is_not_found(server: Server) -> None:
    """objInfo of nothing gives the exception class the client looks for."""
    error = server.call("objInfo", {"mask": 1, "text": "Nowhere"})["error"]
    assert error["code"] == -32001
    assert error["message"] == "androidx.test.uiautomator.UiObjectNotFoundException"
    assert error["data"] == "UiSelector[TEXT=Nowhere]"


def test_click_with_floats_opens_an_app(server: Server, phone: Phone) -> None:
    """A click at the centre of a launcher icon starts the app and is counted once."""
    info = server.call("objInfo", {"mask": 1, "text": "Settings"})["result"]
    box = info["bounds"]
    x, y = (box["left"] + box["right"]) / 2, (box["top"] + box["bottom"]) / 2
    assert server.call("click", x, y)["result"] is True
    assert phone.state()["foreground"] == "com.android.settings/com.android.settings.Settings"
    assert phone.state()["counters"]["click"] == 1
    assert server.call("deviceInfo")["result"]["currentPackageName"] == "com.android.settings"


def test_click_outside_is_refused(server: Server, phone: Phone) -> None:
    """A negative coordinate answers false and touches nothing."""
    assert server.call("click", -1, 5)["result"] is False
    assert phone.state()["counters"] == {}


def test_screenshot_is_a_jpeg_of_the_screen(server: Server) -> None:
    """takeScreenshot gives base64 of a JPEG with the display's size and many colours."""
    data = base64.b64decode(server.call("takeScreenshot", 1, 80)["result"])
    image = Image.open(io.BytesIO(data))
    assert image.format == "JPEG"
    assert image.size == (1080, 2400)
    assert len(image.convert("RGB").getcolors(1 << 22) or []) > 50


def test_wait_for_exists_blocks_until_the_text_comes(server: Server, phone: Phone) -> None:
    """waitForExists returns when another client changes the screen, not before."""
    results: list[Any] = []
    selector = {"mask": 1, "text": "No notes yet"}
    waiter = threading.Thread(
        target=lambda: results.append(server.call("waitForExists", selector, 4000))
    )
    waiter.start()
    waiter.join(0.3)
    assert waiter.is_alive()
    server.call("click", 400, 1500)
    waiter.join(4)
    assert [answer["result"] for answer in results] == [True]
    assert server.call("waitForExists", {"mask": 1, "text": "Nowhere"}, 150)["result"] is False


def test_clipboard_paste_and_clear(server: Server, phone: Phone) -> None:
    """Text goes through the clipboard into the focused field, and Ctrl+A DEL empties it."""
    server.call("click", 400, 1500)
    for rid in ("new_note", "note_body"):
        selector = {"mask": 0x200000, "resourceId": f"com.example.notes:id/{rid}"}
        box = server.call("objInfo", selector)["result"]["bounds"]
        server.call("click", (box["left"] + box["right"]) / 2, (box["top"] + box["bottom"]) / 2)
    server.call("setClipboard", None, "Milk 牛奶")
    assert server.call("getClipboard")["result"] == "Milk 牛奶"
    server.call("pasteClipboard")
    assert phone.state()["fields"] == {"body": "Milk 牛奶"}
    server.call("clearInputText")
    assert phone.state()["fields"] == {"body": ""}


def test_touch_events_make_a_swipe(server: Server, phone: Phone) -> None:
    """down, move and up from the top of the screen pull the notification shade."""
    for action, y in ((0, 10), (2, 700), (1, 1500)):
        assert server.call("injectInputEvent", action, 500, y, 0)["result"] is True
    assert phone.state()["shade"] == "notifications"


def test_resting_touch_is_a_click(server: Server, phone: Phone) -> None:
    """down and up at one place count as one click and as nothing else."""
    server.call("injectInputEvent", 0, 400, 1500, 0)
    server.call("injectInputEvent", 1, 402, 1501, 0)
    assert phone.state()["counters"] == {"click": 1}
    assert phone.state()["foreground"].startswith("com.example.notes/")


def test_state_is_json(phone: Phone) -> None:
    """The final state can be written to a file."""
    assert json.loads(json.dumps(phone.state()))["wifi"] is True


def test_service_times_slow_a_click_down() -> None:
    """With service times a click takes at least the 100 ms a real phone holds it."""
    server = Server(Phone(service_times=True))
    try:
        before = time.monotonic()
        server.call("click", 5, 500)
        assert time.monotonic() - before >= 0.1
    finally:
        server.close()
