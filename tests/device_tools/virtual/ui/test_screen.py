"""What touching the screen does, and that tree, XML and picture tell the same."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from device_tools.virtual.state import PhoneState
from device_tools.virtual.ui.screen import TouchScreen
from device_tools.virtual.views.fonts import has_cjk
from device_tools.virtual.views.picture import text_width, wrap
from device_tools.virtual.views.view import Node, Style
from tests.shared_data import shared_data


@pytest.fixture
def screen() -> TouchScreen:
    return TouchScreen(PhoneState())


def node(screen: TouchScreen, label: str) -> Node:
    for each in screen.nodes():
        if label in (each.text, each.view.desc, each.view.hint):
            return each
    raise AssertionError(f"{label!r} is not on the screen: {labels(screen)}")


def tap(screen: TouchScreen, *names: str) -> None:
    for name in names:
        assert screen.click(*node(screen, name).bounds.center)


def labels(screen: TouchScreen) -> list[str]:
    return [each.text or each.view.desc for each in screen.nodes() if each.text or each.view.desc]


def test_wifi_switch_changes_the_settings(screen: TouchScreen) -> None:
    """Settings > Network & internet > Internet > Wi-Fi turns wifi_on off and hides networks."""
    tap(screen, "Settings", "Network & internet", "Internet")
    assert "AndroidWifi" in labels(screen)
    tap(screen, "Wi-Fi")
    assert screen.state.settings["global"]["wifi_on"] == "0"
    assert "AndroidWifi" not in labels(screen)
    assert next(n for n in screen.nodes() if n.view.checkable).view.checked is False


def test_settings_list_scrolls_to_its_end(screen: TouchScreen) -> None:
    """About phone is below the fold; swiping by a distance moves the list by that distance."""
    tap(screen, "Settings")
    assert "About phone" not in labels(screen)
    before = node(screen, "Battery").bounds.top
    screen.swipe(500, 1500, 500, 1300)
    assert node(screen, "Battery").bounds.top == before - 200
    screen.swipe(500, 2000, 500, 300)
    tap(screen, "About phone")
    assert "Android version" in labels(screen)


def test_note_is_typed_with_the_keyboard_and_saved(screen: TouchScreen) -> None:
    """A focused field brings the keyboard; its keys type; Save keeps the note; back hides it."""
    tap(screen, "Notes", "New note", "Note")
    assert screen.state.keyboard
    tap(screen, "Shift", "H", "i", "Space")
    screen.text("there")
    screen.key(66)
    screen.text("bye")
    assert node(screen, "q").window.package == "com.android.inputmethod.latin"
    screen.key(4)
    assert not screen.state.keyboard
    tap(screen, "Save")
    assert screen.state.notes[0].body == "Hi there\nbye"


def test_back_leaves_screens_one_by_one(screen: TouchScreen) -> None:
    """Back goes up through Settings to the launcher and stays there."""
    tap(screen, "Settings", "Display")
    screen.key(4)
    assert "Network & internet" in labels(screen)
    screen.key(4)
    assert screen.state.screen.package == "com.android.launcher3"
    screen.key(4)
    assert screen.state.screen.package == "com.android.launcher3"


def test_navigation_bar_works_like_keys(screen: TouchScreen) -> None:
    """Home and Overview of the navigation bar leave the app; a recent card brings it back."""
    tap(screen, "Settings", "Display", "Home")
    assert screen.state.screen.package == "com.android.launcher3"
    tap(screen, "Overview", "Settings")
    assert "Dark theme" in labels(screen)


def test_contacts_ask_once_and_remember_the_answer(screen: TouchScreen) -> None:
    """The permission dialog takes all touches until it is answered; Allow shows the contacts."""
    tap(screen, "Contacts")
    assert screen.focused_window().package == "com.android.permissioncontroller"
    screen.click(540, 300)
    assert "Allow Contacts to access your contacts?" in labels(screen)
    tap(screen, "Allow")
    assert "Maria Lopez" in labels(screen)
    tap(screen, "Home", "Contacts")
    assert screen.focused_window().package == "com.android.contacts"


def test_denied_contacts_show_no_names(screen: TouchScreen) -> None:
    """Don't allow leaves the list hidden and offers to ask again."""
    tap(screen, "Contacts", "Don’t allow")
    assert "Maria Lopez" not in labels(screen)
    tap(screen, "Allow access", "Allow")
    assert "Maria Lopez" in labels(screen)


def test_notification_opens_its_conversation(screen: TouchScreen) -> None:
    """A pull from the top opens the shade; touching the SMS there opens the thread, once."""
    screen.swipe(500, 5, 500, 1500)
    assert screen.focused_window().title == "NotificationShade"
    tap(screen, "AlphaBank")
    assert any("482913" in label for label in labels(screen))
    assert screen.state.threads[0].unread is False
    assert len(screen.state.notifications) == 1


def test_quick_settings_tile_toggles(screen: TouchScreen) -> None:
    """The Wi-Fi tile of the shade is the same switch as in Settings."""
    screen.open_shade("quick_settings")
    tap(screen, "Wi-Fi")
    assert screen.state.wifi is False
    screen.key(4)
    assert screen.state.shade == ""


def test_message_is_sent(screen: TouchScreen) -> None:
    """Text typed into a conversation is sent as one message and the field is empty again."""
    tap(screen, "Messages", "王小明", "Text message")
    screen.text("好")
    tap(screen, "Send message")
    assert screen.state.threads[0].messages[-1].text == "好"
    assert screen.state.screen.fields == {}


def test_browser_form_is_submitted(screen: TouchScreen) -> None:
    """Links lead to pages, a form sends its fields, back goes through the history."""
    tap(screen, "Browser", "Sign up for the newsletter", "Name")
    screen.text("Ann")
    tap(screen, "Subscribe")
    assert screen.state.submissions == [{"name": "Ann", "email": ""}]
    screen.key(4)
    assert "Newsletter" in labels(screen)


def test_brightness_follows_the_finger(screen: TouchScreen) -> None:
    """Touching the right end of the slider sets the highest brightness."""
    tap(screen, "Settings", "Display")
    box = node(screen, "Brightness level").bounds
    screen.click(box.right - 40, box.center[1])
    assert screen.state.settings["system"]["screen_brightness"] == "255"


def test_drawer_opens_by_swiping_up(screen: TouchScreen) -> None:
    """A swipe up on the home screen shows all apps; back closes them."""
    screen.swipe(540, 1800, 540, 600)
    assert "All apps" in labels(screen)
    screen.key(4)
    assert "All apps" not in labels(screen)


def test_xml_has_androids_attributes_in_order(screen: TouchScreen) -> None:
    """The node attributes are those of real dumps, in the same order, bounds inside the screen."""
    tap(screen, "Settings")
    root = ET.fromstring(screen.xml().partition("?>")[2].strip())
    assert root.attrib == {"rotation": "0"}
    real = shared_data("phone/xml/106_settings_home_en.xml").read_text().partition("?>")[2]
    expected = list(ET.fromstring(real.strip())[0].attrib)
    names = [name for name in root[0].attrib if name in expected]
    assert names == expected
    assert list(root[0].attrib)[-4:] == ["bounds", "drawing-order", "hint", "display-id"]
    packages = [window.get("package") for window in root]
    assert packages[0] == "com.android.settings"
    assert "com.android.systemui" in packages


def test_xml_escapes_and_keeps_newlines(screen: TouchScreen) -> None:
    """Quotes, angle brackets and newlines of a note come back unchanged; controls become dots."""
    tap(screen, "Notes", "New note", "Note")
    screen.text('a "b" <c> & d\ne\x01')
    root = ET.fromstring(screen.xml().partition("?>")[2].strip())
    texts = [each.get("text") for each in root.iter("node")]
    assert 'a "b" <c> & d\ne.' in texts


def test_xml_depth_is_limited(screen: TouchScreen) -> None:
    """max_depth 1 leaves one node per window."""
    root = ET.fromstring(screen.xml(1).partition("?>")[2].strip())
    assert all(len(window) == 0 for window in root)


def test_picture_shows_the_text_of_the_tree(screen: TouchScreen) -> None:
    """The place of a title has dark pixels on the light page; an empty place has none."""
    tap(screen, "Settings")
    image = screen.picture().convert("L")
    low, _ = image.crop(node(screen, "Display").bounds).getextrema()
    assert low < 80
    box = node(screen, "Display").bounds
    empty = image.crop((box.right - 60, box.top, box.right - 10, box.bottom)).getextrema()
    assert empty[0] == empty[1]


@pytest.mark.skipif(not has_cjk(), reason="no CJK font on this machine")
def test_chinese_is_drawn_as_different_glyphs(screen: TouchScreen) -> None:
    """Two Chinese words of the same length look different, so they are no boxes."""
    tap(screen, "Notes", "New note", "Note")
    pictures = []
    for word in ("你好", "谢谢"):
        screen.state.screen.fields["body"] = word
        pictures.append(screen.picture().crop(node(screen, word).bounds).tobytes())
    assert pictures[0] != pictures[1]


def test_sleeping_screen_is_black_and_ignores_touches(screen: TouchScreen) -> None:
    """The power key turns the picture black; a touch then opens nothing."""
    place = node(screen, "Settings").bounds.center
    screen.key(26)
    assert screen.picture().getextrema() == ((0, 0), (0, 0), (0, 0))
    screen.click(*place)
    screen.key(26)
    assert screen.state.screen.package == "com.android.launcher3"


def test_characters_without_a_shape_are_drawn_as_boxes() -> None:
    """A field may hold control and direction characters; the picture is still drawn."""
    hostile = "a\u2028[7]\x85[8]\x1b]0;x\x07\x9b31m\u202eabc\ud800"
    assert text_width(hostile, Style()) > 0
    assert wrap(hostile * 3, Style(), 300, 4)
