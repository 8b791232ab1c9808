"""What an action changed, as it is told."""

from __future__ import annotations

from device_tools.changes import MAX_LINES, NOTHING, changes
from device_tools.observation import Tree, observation_of_dump


def tree(*rows: tuple[str, str]) -> Tree:
    body = "".join(
        f'<node class="android.widget.CheckBox" package="a" text="{text}" checkable="true" '
        f'checked="{checked}" clickable="true" bounds="[0,{n * 9}][90,{n * 9 + 9}]" />'
        for n, (text, checked) in enumerate(rows)
    )
    found = observation_of_dump(f'<hierarchy rotation="0">{body}</hierarchy>').tree
    assert found is not None
    return found


def test_appeared_vanished_and_changed_are_told_without_numbers() -> None:
    """One line each; the numbers of the list that the model saw stay the valid ones."""
    before, after = tree(("A", "false"), ("B", "false")), tree(("A", "true"), ("C", "false"))
    assert changes(before, after) == [
        '~ checkbox "A" checked',
        '+ checkbox "C" unchecked',
        '- checkbox "B" unchecked',
    ]


def test_an_unchanged_screen_is_said() -> None:
    """Moving alone is no change: the same elements a little lower."""
    assert changes(tree(("A", "false")), tree(("A", "false"))) == [NOTHING]


def test_a_new_screen_is_told_in_a_few_lines() -> None:
    """Of many changes each kind keeps a share, and the rest is counted."""
    before = tree(*((f"old {n}", "false") for n in range(40)))
    after = tree(*((f"new {n}", "false") for n in range(30)))
    lines = changes(before, after)
    assert len(lines) <= MAX_LINES + 4
    assert sum(line.startswith("+") for line in lines) > 2
    assert sum(line.startswith("-") for line in lines) > 2
    assert "(30 elements now: observe_screen lists them)" in lines
