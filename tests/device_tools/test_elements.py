"""The element list: what is listed, under which name, and how short it is."""

from __future__ import annotations

import statistics
from xml.sax.saxutils import quoteattr

from device_tools.elements import Element, describe, pick_elements, render
from device_tools.errors import ScreenUnreadable
from device_tools.hierarchy import Bounds, Node, parse_hierarchy
from device_tools.observation import observation_of_dump
from device_tools.windows import keyboard_shown
from tests.shared_data import shared_data

SCREEN = Bounds(0, 0, 1000, 2000)


def node(kind: str, bounds: str, *children: str, **attributes: str) -> str:
    named = {name.replace("_", "-"): value for name, value in attributes.items()}
    text = " ".join(f"{name}={quoteattr(value)}" for name, value in named.items())
    inner = "".join(children)
    return f'<node class="android.widget.{kind}" {text} bounds="{bounds}">{inner}</node>'


def elements(*windows: str) -> tuple[Element, ...]:
    return pick_elements(
        parse_hierarchy(f'<hierarchy rotation="0">{"".join(windows)}</hierarchy>'), SCREEN
    )


def lines(*windows: str) -> list[str]:
    return render(elements(*windows)).splitlines()


def row(title: str, *, checked: str) -> str:
    return node(
        "LinearLayout",
        "[0,200][1000,400]",
        node("TextView", "[0,200][500,300]", text=title),
        node("TextView", "[0,300][500,400]", text="Connected"),
        node("Switch", "[800,250][950,350]", text="ON", checkable="true", checked=checked),
        clickable="true",
    )


def test_a_row_takes_over_its_texts_and_the_state_of_its_switch() -> None:
    """A clickable row with a passive switch is one switch element with the row's texts."""
    assert lines(row("Wi-Fi", checked="true")) == ['[1] switch "Wi-Fi, Connected" on']
    assert elements(row("Wi-Fi", checked="false"))[0].flags == ("off",)


def test_a_field_shows_hint_and_value_apart() -> None:
    """The hint names a field, its text is the value, and a text equal to the hint is none."""
    box = "[0,0][1000,100]"
    filled = node("EditText", box, text='say "hi"', hint="Title", focused="true")
    assert lines(filled) == ['[1] field "Title" ="say \\"hi\\"" focused']
    assert lines(node("EditText", box, text="Title", hint="Title")) == ['[1] field "Title"']


def test_the_content_of_a_password_field_is_never_shown() -> None:
    """Neither the text nor the number of its dots appears anywhere in the element."""
    field = node("EditText", "[0,0][1000,100]", text="hunter2", password="true", hint="PIN")
    assert lines(field) == ['[1] field "PIN" password']
    assert "hunter2" not in repr(elements(field))


def test_what_cannot_be_touched_is_not_listed() -> None:
    """Zero-size, off-screen and invisible views are left out, icon glyphs are dropped."""
    views = [
        node("Button", "[0,0][0,0]", text="zero", clickable="true"),
        node("Button", "[0,2100][100,2200]", text="below", clickable="true"),
        node("Button", "[0,0][9,9]", text="gone", clickable="true", visible_to_user="false"),
        node("Button", "[0,500][100,600]", text="\ue8b6 Find", clickable="true"),
    ]
    assert lines(node("FrameLayout", "[0,0][1000,2000]", *views)) == ['[1] button "Find"']


def test_text_and_description_are_not_repeated() -> None:
    """A description equal to the text, or contained in it, is said once."""
    assert lines(node("TextView", "[0,0][100,100]", text="Hello", content_desc="hello")) == [
        '[1] "Hello"'
    ]


def test_a_row_keeps_its_title_in_front() -> None:
    """A summary that contains the title does not replace it: the title identifies the row."""
    texts = [
        node("TextView", "[0,0][500,50]", text="Apps"),
        node("TextView", "[0,50][500,100]", text="Installed apps"),
    ]
    (row_element,) = elements(node("LinearLayout", "[0,0][1000,100]", *texts, clickable="true"))
    assert (row_element.name, row_element.label) == ("Apps", "Apps, Installed apps")


def test_views_below_another_window_are_not_offered() -> None:
    """A view wholly below a keyboard is left out; a half covered one is tapped beside it."""
    app = node(
        "FrameLayout",
        "[0,0][1000,2000]",
        node("Button", "[0,1500][1000,1600]", text="hidden", clickable="true"),
        node("Button", "[0,1000][1000,1500]", text="half", clickable="true"),
    )
    keyboard = node("FrameLayout", "[0,1200][1000,2000]", package="com.example.inputmethod")
    (half,) = elements(app, keyboard)
    assert (half.label, half.tap) == ("half", (500, 1125))
    hierarchy = parse_hierarchy(f"<hierarchy>{app}{keyboard}</hierarchy>")
    assert keyboard_shown(hierarchy)


def test_letter_keys_are_not_listed() -> None:
    """Of a keyboard only the keys with a name remain: text is typed by a tool."""
    keys = [
        node("Key", "[0,1500][100,1600]", text="q", clickable="true"),
        node("Key", "[100,1500][200,1600]", text="↵", content_desc="Enter", clickable="true"),
    ]
    keyboard = node("FrameLayout", "[0,1400][1000,2000]", *keys, package="com.a.inputmethod.latin")
    assert lines(keyboard) == ['[1] item "Enter"']


def test_a_dialog_lies_on_the_window_it_overlaps_in_any_order() -> None:
    """The smaller window is on top, whichever the dump lists first."""
    under = node("Button", "[100,900][900,1000]", text="under", clickable="true")
    app = node("FrameLayout", "[0,0][1000,2000]", under, package="app")
    ok = node("Button", "[100,800][900,1000]", text="OK", clickable="true")
    dialog = node("FrameLayout", "[50,700][950,1100]", ok, package="app")
    assert lines(app, dialog) == lines(dialog, app) == ['[1] button "OK"']


def test_an_empty_overlay_hides_nothing() -> None:
    """A full-screen system window without content lets the app below be used."""
    go = node("Button", "[0,0][100,100]", text="Go", clickable="true")
    overlay = node("FrameLayout", "[0,0][1000,2000]", package="com.android.systemui")
    assert lines(overlay, node("FrameLayout", "[0,0][1000,2000]", go)) == ['[1] button "Go"']


def test_a_row_is_tapped_beside_the_button_inside_it() -> None:
    """The tap point of a row avoids the views inside that act for themselves."""
    button = node("Button", "[400,0][600,100]", text="more", clickable="true")
    title = node("TextView", "[0,0][300,100]", text="Row")
    outer = elements(node("LinearLayout", "[0,0][1000,100]", title, button, clickable="true"))[0]
    assert outer.label == "Row"
    assert not 400 <= outer.tap[0] < 600


def test_system_bars_come_last_and_without_their_texts() -> None:
    """The app's window is numbered first; a bar shows only what can be pressed."""
    bar = node(
        "FrameLayout",
        "[0,1900][1000,2000]",
        node("TextView", "[0,1900][100,2000]", text="12:30"),
        node("ImageView", "[400,1900][600,2000]", content_desc="Home", clickable="true"),
        package="com.android.systemui",
    )
    assert lines(bar, node("TextView", "[0,0][100,100]", text="App")) == [
        '[1] "App"',
        '[2] button "Home"',
    ]


def test_a_label_stays_on_one_line() -> None:
    """A line break inside a text is written as backslash n, and a long label is cut."""
    (element,) = elements(node("TextView", "[0,0][100,100]", text="a\nb" + "c" * 1000))
    assert "\n" not in describe(element)
    assert describe(element).startswith('[1] "a\\nb')
    assert len(describe(element)) < 400


def test_the_list_is_short_on_real_dumps() -> None:
    """Over the collection of real dumps the median list has at most 4 % of the dump's size."""
    ratios = []
    for file in sorted(shared_data("phone/xml").iterdir()):
        try:
            picked = pick_elements(parse_hierarchy(file.read_bytes()))
        except ScreenUnreadable:
            continue
        assert [element.index for element in picked] == list(range(1, len(picked) + 1))
        ratios.append(len(render(picked)) / len(file.read_bytes()))
    assert statistics.median(ratios) <= 0.04


ACTING = {"clickable", "long-clickable", "scrollable", "checkable"}


def acting_nodes(root: Node) -> list[Node]:
    found, stack = [], [root]
    while stack:
        view = stack.pop()
        if view.has("invisible"):
            continue
        if view.flags & ACTING or view.class_name.endswith("EditText"):
            found.append(view)
        stack += view.children
    return found


def test_every_view_that_acts_is_reachable_on_real_dumps() -> None:
    """Each acting view with an area on the screen has an element: its own, one of its exact
    size around or inside it, or the row whose tap toggles it."""
    missing, total = [], 0
    for file in sorted(shared_data("phone/xml").iterdir()):
        try:
            observation = observation_of_dump(file.read_bytes())
        except ScreenUnreadable:
            continue
        area = Bounds(0, 0, *observation.size)
        for window in parse_hierarchy(file.read_bytes()).windows:
            for view in acting_nodes(window):
                seen = view.bounds.clipped(area)
                if seen.width < 1 or seen.height < 1:
                    continue
                total += 1
                marks = view.flags & ACTING == {"checkable"}
                if not any(
                    e.bounds == seen or (marks and e.bounds.contains(*seen.center))
                    for e in observation.elements
                ):
                    missing.append((file.name, view.class_name, seen))
    assert total > 2000
    assert missing == []
