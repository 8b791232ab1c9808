"""Observations: scale, notes and shapes, against a scripted phone on real sockets."""

from __future__ import annotations

import base64
import io
import json
import socket
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image

from device_tools.adb import AdbPhone
from device_tools.cancel import CancelScope
from device_tools.errors import ScreenUnreadable
from device_tools.focus import FocusReader
from device_tools.observation import (
    Observation,
    as_json,
    as_text,
    observation_of_dump,
)
from device_tools.observer import Observer
from device_tools.ui_server import UiServer
from tests.doubles.adb_server import AdbServerDouble, adb_server, answer

XML = (
    '<hierarchy rotation="0"><node class="android.widget.FrameLayout" package="com.a" '
    'bounds="[0,0][1000,2000]"><node class="android.widget.TextView" package="com.a" text="Hello" '
    'bounds="[0,0][500,100]" /><node class="android.widget.Button" package="com.a" text="Go" '
    'clickable="true" bounds="[0,100][500,200]" /></node></hierarchy>'
)
FACTS = {"displayWidth": 1000, "displayHeight": 1900, "currentPackageName": "com.a"}
FOCUS = b"  mCurrentFocus=Window{1 u0 com.a/com.a.Main}\n"


def jpeg(size: tuple[int, int], color: str = "white") -> str:
    data = io.BytesIO()
    Image.new("RGB", size, color).save(data, "JPEG")
    return base64.b64encode(data.getvalue()).decode()


def phone_service(replies: dict[str, Any], double: Callable[[], AdbServerDouble]) -> Any:
    def serve(sock: socket.socket, request: str) -> None:
        sock.sendall(b"OKAY")
        if request.startswith("shell,v2,raw:dumpsys window windows"):
            sock.sendall(b"\1" + len(FOCUS).to_bytes(4, "little") + FOCUS + b"\3\1\0\0\0\0")
        elif request.startswith("shell,v2,raw:screencap"):
            sock.sendall(b"\3\1\0\0\0\1")
        else:
            method = json.loads(double().read_http(sock))["method"]
            answer(
                sock, json.dumps({"jsonrpc": "2.0", "id": 1, "result": replies[method]}).encode()
            )

    return serve


def observe(picture: str | None, xml: str = XML, **facts: object) -> Observation:
    replies = {
        "dumpWindowHierarchy": xml,
        "takeScreenshot": picture,
        "deviceInfo": {**FACTS, **facts},
    }
    with adb_server(phone_service(replies, lambda: double)) as double:
        phone = AdbPhone("fake-1", double.address, CancelScope())
        return Observer(UiServer(phone), FocusReader(phone)).observe()


def test_the_picture_is_resized_once_and_the_scale_is_exact() -> None:
    """The long side becomes 1280, the true size comes from the picture, and points map back."""
    seen = observe(jpeg((1000, 2000)))
    assert seen.screenshot is not None
    assert (seen.screenshot.width, seen.screenshot.height) == (640, 1280)
    assert seen.size == (1000, 2000)
    assert seen.scale == (0.64, 0.64)
    assert seen.to_screen(0, 0) == (0, 0)
    assert seen.to_screen(639, 1279) == (999, 1999)
    assert Image.open(io.BytesIO(seen.screenshot.data)).size == (640, 1280)


def test_the_text_has_header_notes_and_elements() -> None:
    """The model reads one header line, notes in parentheses, one line per element."""
    assert as_text(observe(jpeg((1000, 2000)))).splitlines() == [
        "Screen o1: Hello (com.a/.Main) 1000x2000 rotation 0",
        "(screenshot 640x1280)",
        '[1] "Hello"',
        '[2] button "Go"',
    ]


@pytest.mark.parametrize(
    ("picture", "facts", "note"),
    [
        (jpeg((1000, 2000), "black"), {}, "secure screen: its picture is black"),
        (jpeg((1000, 2000), "black"), {"screenOn": False}, "the screen is off"),
        (None, {}, "no picture: the capture failed"),
        ("AAAA", {}, "no picture: the capture failed"),
    ],
)
def test_a_missing_picture_says_why(picture: str | None, facts: dict[str, Any], note: str) -> None:
    """Secure, off and failed are told apart, and the elements are there all the same."""
    seen = observe(picture, **facts)
    assert seen.screenshot is None
    assert seen.notes == (note,)
    assert len(seen.elements) == 2


def test_an_empty_dump_is_a_failed_dump() -> None:
    """No hierarchy is never shown as a screen without elements."""
    for empty in ("", '<hierarchy rotation="0" />'):
        with pytest.raises(ScreenUnreadable):
            observe(None, empty)


def test_the_json_shape_is_stable() -> None:
    """A stored dump gives the documented keys, with bounds as left, top, right, bottom."""
    shape = as_json(observation_of_dump(XML))
    assert shape["elements"][1] == {
        "index": 2,
        "label": "Go",
        "role": "button",
        "value": None,
        "flags": [],
        "actions": ["tap"],
        "resource_id": "",
        "class": "android.widget.Button",
        "package": "com.a",
        "bounds": [0, 100, 500, 200],
    }
    assert json.loads(json.dumps(shape))["size"] == [1000, 2000]


def test_without_a_tree_the_picture_is_the_observation() -> None:
    """A dump that fails is said, no element is invented, and the picture is there to act on."""
    seen = observe(jpeg((1000, 2000)), '<hierarchy rotation="0" />')
    assert seen.screenshot is not None
    assert (seen.elements, seen.digest, seen.rotation) == ((), "", 0)
    assert any(note.startswith("no element list: ") for note in seen.notes)


@pytest.mark.parametrize(
    ("body", "note"),
    [
        (
            '<node class="android.view.SurfaceView" package="g" bounds="[0,0][9,9]" />',
            "SurfaceView",
        ),
        (
            '<node class="android.widget.FrameLayout" package="android" bounds="[0,0][9,9]" />',
            "frame",
        ),
        ('<node class="android.view.View" package="g" bounds="[0,0][9,9]" />', "coordinates"),
    ],
)
def test_a_screen_without_a_usable_list_says_so(body: str, note: str) -> None:
    """Drawn, bare and empty screens are told apart and point to the picture."""
    seen = observation_of_dump(f'<hierarchy rotation="0">{body}</hierarchy>')
    assert any(note in each and "picture" in each for each in seen.notes)


def test_a_long_list_is_cut_and_says_how_to_see_the_rest() -> None:
    """After 300 elements the text tells how many are left, and from where to read on."""
    rows = "".join(
        f'<node class="android.widget.TextView" text="row {n}" package="a" '
        f'bounds="[0,{n}][9,{n + 1}]" />'
        for n in range(310)
    )
    seen = observation_of_dump(f'<hierarchy rotation="0">{rows}</hierarchy>')
    assert as_text(seen).splitlines()[-1] == "(10 more elements: observe_screen with first=301)"
    assert as_text(seen, 301).splitlines()[-1] == '[310] "row 309"'


def test_numbers_are_drawn_on_the_picture_when_asked() -> None:
    """The overlay changes the picture and nothing else of the observation."""
    replies = {
        "dumpWindowHierarchy": XML,
        "takeScreenshot": jpeg((1000, 2000)),
        "deviceInfo": FACTS,
    }
    with adb_server(phone_service(replies, lambda: double)) as double:
        phone = AdbPhone("fake-1", double.address, CancelScope())
        observer = Observer(UiServer(phone), FocusReader(phone))
        plain, marked = observer.observe(), observer.observe(numbers=True)
    assert plain.screenshot is not None and marked.screenshot is not None
    assert plain.scale == marked.scale
    before, after = (
        Image.open(io.BytesIO(s.screenshot.data)) for s in (plain, marked) if s.screenshot
    )
    assert before.getpixel((2, 70)) == (255, 255, 255)
    assert after.getpixel((2, 70)) != (255, 255, 255)
