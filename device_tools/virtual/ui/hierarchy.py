"""Writes the windows as uiautomator hierarchy XML (attribute order of SDK 34)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from device_tools.virtual.views.view import IMAGE, IMAGE_BUTTON, Node, Rect, Window, root_node

_HEAD = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\r\n"
_QUOTES = {'"': "&quot;", "\n": "&#10;", "\t": "&#9;"}


def roots(windows: Sequence[Window], display: Rect) -> list[Node]:
    """One root per window; ``windows`` run bottom to top, Android tells the active one first."""
    order = list(reversed(windows))
    active = next((window for window in order if window.focusable), order[0])
    order.sort(key=lambda window: window is not active)
    return [root_node(window, index, display) for index, window in enumerate(order)]


def nodes(windows: Sequence[Window], display: Rect) -> Iterator[Node]:
    """Every visible node of every window, in the order of the XML."""
    for root in roots(windows, display):
        yield from root.walk()


def to_xml(
    windows: Sequence[Window], display: Rect, *, rotation: int = 0, max_depth: int = 50
) -> str:
    """The whole dump. ``max_depth`` counts the root nodes as 1."""
    body = "".join(_node(root, max_depth) for root in roots(windows, display))
    return f'{_HEAD}<hierarchy rotation="{rotation}">{body}</hierarchy>'


def _node(node: Node, depth: int) -> str:
    children = "".join(_node(child, depth - 1) for child in node.children()) if depth > 1 else ""
    attributes = " ".join(f'{key}="{escape(value, _QUOTES)}"' for key, value in attributes_of(node))
    return f"<node {attributes}>{children}</node>" if children else f"<node {attributes} />"


def attributes_of(node: Node) -> list[tuple[str, str]]:
    """The attributes of one ``<node>`` in Android's order."""
    view, box = node.view, node.bounds
    pairs = [("NAF", "true")] if _not_accessible(node) else []
    pairs += [
        ("index", str(node.index)),
        ("text", _safe(node.text)),
        ("resource-id", node.rid),
        ("class", view.cls),
        ("package", node.window.package),
        ("content-desc", _safe(view.desc)),
    ]
    flags = {
        "checkable": view.checkable,
        "checked": view.checked,
        "clickable": view.clickable,
        "enabled": view.enabled,
        "focusable": view.focusable,
        "focused": view.focused,
        "scrollable": view.scroll is not None,
        "long-clickable": view.long_clickable,
        "password": view.password,
        "selected": view.selected,
        "visible-to-user": True,
    }
    pairs += [(key, "true" if value else "false") for key, value in flags.items()]
    pairs += [
        ("bounds", f"[{box.left},{box.top}][{box.right},{box.bottom}]"),
        ("drawing-order", str(node.index + 1 if node.parent else 0)),
        ("hint", _safe(view.hint)),
        ("display-id", "0"),
    ]
    return pairs


def _not_accessible(node: Node) -> bool:
    view = node.view
    if not (view.clickable and view.enabled) or (view.cls in (IMAGE, IMAGE_BUTTON) and view.desc):
        return False
    return not any(each.text or each.view.desc for each in node.walk())


def _safe(text: str) -> str:
    """Control characters become ``.``, as AccessibilityNodeInfoDumper does; newlines stay."""
    return "".join("." if ord(char) < 0x20 and char not in "\n\t" else char for char in text)
