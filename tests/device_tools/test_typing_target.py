"""What of a typed text may be stored before it is typed."""

from __future__ import annotations

from dataclasses import replace

from device_tools.observation import Observation, observation_of_dump
from device_tools.result import Secrecy
from device_tools.typing_target import TypingTarget

NAME, PASSWORD, BUTTON = 1, 2, 3
HIDDEN = Secrecy(hidden=("text",))
SURE = Secrecy(("text",), ("hunter2",))


def screen(focused: int = 0) -> Observation:
    views = [
        f'<node class="android.widget.EditText" bounds="[0,{n}00][900,{n}90]" hint="{hint}" '
        f'clickable="true" focused="{str(n == focused).lower()}"/>'
        for n, hint in ((NAME, "Name"), (PASSWORD, "Password"))
    ]
    button = (
        '<node class="android.widget.Button" bounds="[0,300][900,390]" text="OK" clickable="true"/>'
    )
    root = f'<node bounds="[0,0][1000,2000]">{"".join(views)}{button}</node>'
    return observation_of_dump(f"<hierarchy rotation='0'>{root}</hierarchy>")


def typed(target: TypingTarget, seen: Observation | None, **arguments: object) -> Secrecy:
    return target.secrecy("type_text", {"text": "hunter2\n", **arguments}, seen)


def test_a_named_field_decides() -> None:
    """By its index: what goes into a plain field is stored, into a password field never."""
    target, seen = TypingTarget(), screen()
    assert typed(target, seen, index=NAME) == Secrecy()
    assert typed(target, seen, index=PASSWORD) == SURE


def test_the_focused_field_decides_where_none_is_named() -> None:
    """As the newest look at the screen shows it."""
    target = TypingTarget()
    for field, expected in ((NAME, Secrecy()), (PASSWORD, SURE), (0, HIDDEN)):
        target.seen(screen(field))
        assert typed(target, screen(field)) == expected


def test_a_tap_on_a_field_moves_the_focus() -> None:
    """Within a turn: tap the password field, then type."""
    target, seen = TypingTarget(), screen(NAME)
    target.seen(seen)
    target.acted("tap_element", {"index": PASSWORD}, seen)
    assert typed(target, seen) == SURE


def test_text_is_left_out_where_nobody_knows_the_field() -> None:
    """Before the first look, after a tap on a point or a button, or with an index of no field."""
    target, seen = TypingTarget(), screen(NAME)
    assert typed(target, None) == HIDDEN
    for name, arguments in (("tap", {"x": 1, "y": 1}), ("tap_element", {"index": BUTTON})):
        target.seen(seen)
        target.acted(name, arguments, seen)
        assert typed(target, seen) == HIDDEN
    assert typed(target, seen, index=99) == HIDDEN


def test_typing_does_not_leave_a_secret_field_for_a_plain_one() -> None:
    """Boxes hand the focus on by themselves; after a plain field nobody knows where it went."""
    target, seen = TypingTarget(), screen()
    target.acted("type_text", {"text": "4", "index": PASSWORD}, seen)
    assert typed(target, seen) == SURE
    target.acted("type_text", {"text": "Bob", "index": NAME}, seen)
    assert typed(target, seen) == HIDDEN


def test_other_tools_have_nothing_to_hide() -> None:
    """Only what types text is asked, and a text that is none is not touched."""
    target, seen = TypingTarget(), replace(screen(), id="o2")
    assert target.secrecy("tap_element", {"index": PASSWORD}, seen) == Secrecy()
    assert target.secrecy("type_text", {"text": 5, "index": PASSWORD}, seen) == Secrecy()
