"""What an action changed on the screen, in a few lines: appeared, vanished, changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from device_tools.elements import Element, line_of
from device_tools.observation import Tree

MAX_LINES = 10
_MAX_WIDTH = 120
NOTHING = "nothing changed on the screen"

_Identity = tuple[str, str, str, str]


def changes(before: Tree, after: Tree) -> list[str]:
    """Lines that begin with ``+`` (appeared), ``-`` (vanished) or ``~`` (has a new state).

    Elements are told without numbers: those of the list that the model saw stay the valid ones.
    """
    lines = _keyboard(before, after)
    lines += [f"~ {line}" for line in _changed(before.elements, after.elements)]
    lines += [f"+ {line}" for line in _only_in(after.elements, before.elements)]
    lines += [f"- {line}" for line in _only_in(before.elements, after.elements)]
    if not lines:
        return [NOTHING]
    if len(lines) <= MAX_LINES:
        return lines
    return [*_shared(lines), f"({len(after.elements)} elements now: observe_screen lists them)"]


def _shared(lines: list[str]) -> list[str]:
    """As many lines as are allowed, so many of each kind that none is lost to another."""
    kinds = [[line for line in lines if line[0] in group] for group in ("k", "~", "+", "-")]
    room, kept = MAX_LINES, []
    for place, found in enumerate(kinds):
        part = room // (len(kinds) - place)
        kept += found[:part]
        if len(found) > part:
            kept.append(f"{found[0][0]} {len(found) - part} more")
        room -= min(part, len(found))
    return kept


def _keyboard(before: Tree, after: Tree) -> list[str]:
    if before.keyboard == after.keyboard:
        return []
    return ["keyboard shown" if after.keyboard else "keyboard hidden"]


def _identity(element: Element) -> _Identity:
    return (element.package, element.resource_id, element.class_name, element.name)


def _changed(before: Sequence[Element], after: Sequence[Element]) -> list[str]:
    """Elements that are there once before and after, and look different."""
    old, new = _single(before), _single(after)
    return [
        _short(new[key]) for key in new if key in old and line_of(old[key]) != line_of(new[key])
    ]


def _single(elements: Sequence[Element]) -> dict[_Identity, Element]:
    count = Counter(_identity(element) for element in elements)
    return {key: e for e in elements if count[key := _identity(e)] == 1}


def _only_in(these: Sequence[Element], others: Sequence[Element]) -> list[str]:
    left = Counter(_identity(element) for element in others)
    found = []
    for element in these:
        key = _identity(element)
        if left[key]:
            left[key] -= 1
        else:
            found.append(_short(element))
    return found


def _short(element: Element) -> str:
    line = line_of(element)
    return line if len(line) <= _MAX_WIDTH else line[: _MAX_WIDTH - 1] + "…"
