"""Selectors of uiautomator2 against the phone's screens."""

from __future__ import annotations

from typing import Any

import pytest

from device_tools.virtual.state import PhoneState
from device_tools.virtual.ui.objects import ObjectMethods, ObjectNotFound
from device_tools.virtual.ui.screen import TouchScreen

TEXT, CONTAINS, MATCHES, CLASS, CHECKED, RID = 0x1, 0x2, 0x4, 0x10, 0x800, 0x200000
SCROLLABLE, INSTANCE = 0x4000, 0x1000000
LIST = {"mask": SCROLLABLE, "scrollable": True}


@pytest.fixture
def screen() -> TouchScreen:
    screen = TouchScreen(PhoneState())
    screen.state.launch("com.android.settings", ".Settings")
    return screen


@pytest.fixture
def call(screen: TouchScreen) -> dict[str, Any]:
    return ObjectMethods(screen).table()


def test_only_masked_fields_count(call: dict[str, Any]) -> None:
    """A field without its mask bit is ignored."""
    assert call["count"]({"mask": TEXT, "text": "Display", "className": "nothing"}) == 1


@pytest.mark.parametrize(
    ("selector", "texts"),
    [
        ({"mask": CONTAINS, "textContains": "& INTER"}, ["Network & internet"]),
        ({"mask": MATCHES, "textMatches": r"Sou.*n"}, ["Sound & vibration"]),
        ({"mask": MATCHES, "textMatches": r"Sou"}, []),
    ],
)
def test_text_matching(call: dict[str, Any], selector: dict[str, Any], texts: list[str]) -> None:
    """textContains ignores case; textMatches must match the whole text."""
    assert [each["text"] for each in call["objInfoOfAllInstances"](selector)] == texts


def test_instance_picks_one(call: dict[str, Any]) -> None:
    """instance counts from 0 in the order of the hierarchy; past the end nothing is found."""
    selector = {"mask": RID | INSTANCE, "resourceId": "android:id/title", "instance": 1}
    assert call["objInfo"](selector)["text"] == "Connected devices"
    with pytest.raises(ObjectNotFound):
        call["objInfo"]({**selector, "instance": 99})


def test_child_and_sibling(call: dict[str, Any]) -> None:
    """child looks inside, sibling beside the found node."""
    child = {"mask": TEXT, "text": "Display"}
    outer = {**LIST, "childOrSibling": ["child"], "childOrSiblingSelector": [child]}
    assert call["count"](outer) == 1
    sibling = {"mask": RID, "resourceId": "android:id/summary"}
    beside = {**child, "childOrSibling": ["sibling"], "childOrSiblingSelector": [sibling]}
    assert call["getText"](beside) == "Dark theme, font size, brightness"


def test_child_by_text_gives_a_usable_id(call: dict[str, Any]) -> None:
    """childByText returns a string that every selector method takes in place of a selector."""
    row = {"mask": CLASS, "className": "android.widget.LinearLayout"}
    handle = call["childByText"](LIST, row, "Display")
    assert isinstance(handle, str)
    assert call["objInfo"](handle)["clickable"] is True
    assert call["exist"]("no such id") is False


def test_scroll_to_brings_an_entry_into_view(call: dict[str, Any]) -> None:
    """scrollTo finds an entry below the fold; scrollForward answers false at the end."""
    about = {"mask": TEXT, "text": "About phone"}
    assert call["exist"](about) is False
    assert call["scrollTo"](LIST, about, True) is True
    assert call["exist"](about) is True
    call["scrollToEnd"](LIST, True, 500, 55)
    assert call["scrollForward"](LIST, True, 55) is False
    assert call["scrollToBeginning"](LIST, True, 500, 55) is True
    assert call["exist"](about) is False


def test_set_text_changes_a_field_without_focus(screen: TouchScreen, call: dict[str, Any]) -> None:
    """setText replaces a field's text; on something that is no field it answers false."""
    screen.state.launch("com.android.browser", ".BrowserActivity")
    field = {"mask": RID, "resourceId": "com.android.browser:id/url"}
    assert call["setText"](field, "news.example") is True
    assert call["getText"](field) == "news.example"
    assert screen.state.keyboard is False
    assert call["setText"]({"mask": TEXT, "text": "Weather"}, "x") is False


def test_empty_field_reads_as_its_hint(screen: TouchScreen, call: dict[str, Any]) -> None:
    """As on Android 8 and later, the text of an empty field is its hint."""
    screen.state.launch("com.example.notes", ".EditNoteActivity")
    field = {"mask": RID, "resourceId": "com.example.notes:id/note_title"}
    assert call["getText"](field) == "Title"
    call["setText"](field, "x")
    assert call["getText"](field) == "x"
    call["clearTextField"](field)
    assert call["getText"](field) == "Title"
