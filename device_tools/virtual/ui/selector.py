"""uiautomator2 selectors: which nodes of the screen a JSON selector means.

Source of the format: the masks of ``com.wetest.uia2`` / uiautomator2's ``_selector.py``. Only the
fields whose mask bit is set count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from device_tools.virtual.views.view import Node

_Test = Callable[[Node, Any], bool]
_CHECKED, _INDEX, _INSTANCE = 0x800, 0x800000, 0x1000000


def _text(node: Node) -> str:
    return node.text


def _desc(node: Node) -> str:
    return node.view.desc


def _equals(get: Callable[[Node], str]) -> _Test:
    return lambda node, value: get(node) == value


def _contains(get: Callable[[Node], str]) -> _Test:
    # UiSelector compares case-insensitively here
    return lambda node, value: str(value).lower() in get(node).lower()


def _starts(get: Callable[[Node], str]) -> _Test:
    return lambda node, value: get(node).lower().startswith(str(value).lower())


def _matches(get: Callable[[Node], str]) -> _Test:
    return lambda node, value: re.fullmatch(value, get(node), re.DOTALL) is not None


def _is(get: Callable[[Node], bool]) -> _Test:
    return lambda node, value: get(node) == value


_FIELDS: dict[str, tuple[int, _Test]] = {
    "text": (0x1, _equals(_text)),
    "textContains": (0x2, _contains(_text)),
    "textMatches": (0x4, _matches(_text)),
    "textStartsWith": (0x8, _starts(_text)),
    "className": (0x10, _equals(lambda node: node.view.cls)),
    "classNameMatches": (0x20, _matches(lambda node: node.view.cls)),
    "description": (0x40, _equals(_desc)),
    "descriptionContains": (0x80, _contains(_desc)),
    "descriptionMatches": (0x100, _matches(_desc)),
    "descriptionStartsWith": (0x200, _starts(_desc)),
    "checkable": (0x400, _is(lambda node: node.view.checkable)),
    "checked": (_CHECKED, _is(lambda node: node.view.checked)),
    "clickable": (0x1000, _is(lambda node: node.view.clickable)),
    "longClickable": (0x2000, _is(lambda node: node.view.long_clickable)),
    "scrollable": (0x4000, _is(lambda node: node.view.scroll is not None)),
    "enabled": (0x8000, _is(lambda node: node.view.enabled)),
    "focusable": (0x10000, _is(lambda node: node.view.focusable)),
    "focused": (0x20000, _is(lambda node: node.view.focused)),
    "selected": (0x40000, _is(lambda node: node.view.selected)),
    "packageName": (0x80000, _equals(lambda node: node.window.package)),
    "packageNameMatches": (0x100000, _matches(lambda node: node.window.package)),
    "resourceId": (0x200000, _equals(lambda node: node.rid)),
    "resourceIdMatches": (0x400000, _matches(lambda node: node.rid)),
    "index": (_INDEX, lambda node, value: node.index == value),
}


def find(selector: Mapping[str, Any], nodes: Sequence[Node]) -> list[Node]:
    """All nodes the selector means, in the order of the hierarchy.

    Raises:
        re.error: a ``*Matches`` field is no regular expression.
    """
    found = _own(selector, nodes)
    kinds = selector.get("childOrSibling", [])
    inner = selector.get("childOrSiblingSelector", [])
    for kind, sub in zip(kinds, inner, strict=False):
        scope = _unique(each for node in found for each in _scope(kind, node))
        found = _own(sub, scope)
    return found


def _own(selector: Mapping[str, Any], nodes: Iterable[Node]) -> list[Node]:
    mask = int(selector.get("mask", 0))
    tests = [(test, selector.get(name)) for name, (bit, test) in _FIELDS.items() if mask & bit]
    found = [node for node in nodes if all(test(node, value) for test, value in tests)]
    if mask & _INSTANCE:
        number = int(selector.get("instance", 0))
        return found[number : number + 1]
    return found


def _scope(kind: str, node: Node) -> Iterator[Node]:
    if kind == "child":
        walk = node.walk()
        next(walk)
        yield from walk
    elif node.parent is not None:
        for sibling in node.parent.children():
            yield from sibling.walk()


def _unique(nodes: Iterable[Node]) -> list[Node]:
    # nodes are rebuilt on every walk: the view object is what stays the same
    seen: dict[int, Node] = {}
    for node in nodes:
        seen.setdefault(id(node.view), node)
    return list(seen.values())


def describe(selector: Mapping[str, Any] | str) -> str:
    """``UiSelector[TEXT=Wi-Fi]``, as the server writes it."""
    if isinstance(selector, str):
        return selector
    mask = int(selector.get("mask", 0))
    parts = [
        f"{_constant(name)}={selector.get(name)}"
        for name, (bit, _) in _FIELDS.items()
        if mask & bit
    ]
    if mask & _INSTANCE:
        parts.append(f"INSTANCE={selector.get('instance')}")
    return f"UiSelector[{', '.join(parts)}]"


def _constant(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()


def info(node: Node) -> dict[str, Any]:
    """ObjInfo of the JSON-RPC interface; bounds in pixels."""
    view = node.view
    box = dict(zip(("left", "top", "right", "bottom"), node.bounds, strict=True))
    return {
        "bounds": box,
        "visibleBounds": box,
        "childCount": sum(1 for _ in node.children()),
        "className": view.cls,
        "contentDescription": view.desc,
        "packageName": node.window.package,
        "resourceName": node.rid,
        "text": node.text,
        "checkable": view.checkable,
        "checked": view.checked,
        "clickable": view.clickable,
        "enabled": view.enabled,
        "focusable": view.focusable,
        "focused": view.focused,
        "longClickable": view.long_clickable,
        "scrollable": view.scroll is not None,
        "selected": view.selected,
    }
