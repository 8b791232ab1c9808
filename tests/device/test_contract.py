"""What every phone must do for us, virtual or real. Needs only Android's own Settings app."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from device_tools.errors import Outcome
from device_tools.result import ToolResult

Call = Callable[..., ToolResult]


def elements(call: Call) -> list[dict[str, Any]]:
    seen = call("observe_screen", screenshot=False)
    assert seen.ok, seen.text
    return list(seen.data["elements"])


def test_an_observation_has_numbered_elements_and_a_picture(call: Call) -> None:
    """The list counts from 1 and the picture is a JPEG with the proportions of the screen."""
    seen = call("observe_screen")

    assert seen.ok, seen.text
    listed = [element["index"] for element in seen.data["elements"]]
    assert list(range(1, len(listed) + 1)) == listed
    (picture,) = seen.images
    width, height = seen.data["size"]
    assert picture.data[:2] == b"\xff\xd8"
    assert picture.width / picture.height == pytest.approx(width / height, rel=0.02)


def test_settings_opens_by_name_and_is_in_front(call: Call) -> None:
    """open_app is done only when the app is in front."""
    opened = call("open_app", app="Settings")

    assert opened.ok, opened.text
    assert call("current_app").data["package"] == opened.data["package"]


def test_an_unknown_app_is_refused_with_its_name(call: Call) -> None:
    """Nothing is opened, and the answer says which name was not found."""
    refused = call("open_app", app="Zyxwvut Qqq")

    assert not refused.ok
    assert "Zyxwvut Qqq" in refused.text


def test_home_leaves_the_app(call: Call) -> None:
    """The home key brings the launcher to the front."""
    package = call("open_app", app="Settings").data["package"]

    assert call("press_key", key="home").ok
    assert call("wait_for", text="no such text 8d1f", gone=True).ok
    assert call("current_app").data["package"] != package


def test_a_long_list_scrolls_and_says_so(call: Call) -> None:
    """Scrolling down shows other elements and reports that something moved."""
    call("open_app", app="Settings")
    before = [element["label"] for element in elements(call)]
    scrolled = call("scroll", direction="down")

    assert scrolled.ok and scrolled.data["moved"]
    assert before != [element["label"] for element in elements(call)]


def test_an_element_of_the_list_is_tapped_and_opens_another_screen(call: Call) -> None:
    """A row of Settings is found again by identity and tapped; back returns."""
    call("open_app", app="Settings")
    listed = elements(call)
    rows = [e for e in listed if "tap" in e["actions"] and e["role"] == "item"]
    tapped = call("tap_element", index=rows[1]["index"])

    assert tapped.ok, tapped.text
    assert [e["label"] for e in listed] != [e["label"] for e in elements(call)]
    assert call("press_key", key="back").ok


def test_a_tap_outside_the_screen_is_not_sent(call: Call) -> None:
    """The refusal names the coordinate."""
    refused = call("tap", x=19_999, y=10, coordinate_space="screen")

    assert Outcome.NOT_SENT is refused.outcome
    assert refused.exit_code == 2
    assert "x" in refused.text


def test_an_index_beyond_the_list_is_not_sent(call: Call) -> None:
    """A number that is not in the list the model saw touches nothing."""
    call("observe_screen", screenshot=False)
    refused = call("tap_element", index=9999)

    assert Outcome.NOT_SENT is refused.outcome
    assert refused.exit_code == 2


def test_installed_apps_are_listed_with_their_packages(call: Call) -> None:
    """Settings is on every phone."""
    packages = [app["package"] for app in call("list_apps").data["apps"]]

    assert any("settings" in package for package in packages)


def test_waiting_for_a_text_that_never_comes_ends_at_its_limit(call: Call) -> None:
    """A time-out is an answer of its own, not a success; a text that is not there is gone."""
    waited = call("wait_for", text="no such text 8d1f", timeout_ms=300)

    assert not waited.ok
    assert call("wait_for", text="no such text 8d1f", gone=True, timeout_ms=300).ok
