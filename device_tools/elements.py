"""From view trees to the short numbered list that a model reads and acts on.

An element is a view one can act on, or a text nobody else shows. A view that can be acted on
takes over the texts below it; a switch inside a clickable row lends its state to the row.
Numbers follow the reading order of the dump: the app's window first, system bars last. The
letter keys of a keyboard are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from device_tools.hierarchy import Bounds, Hierarchy, Node
from device_tools.labels import actions_of, clean, own_texts, role_of, unique
from device_tools.secret_fields import code_boxes, is_secret
from device_tools.windows import extent, is_bar, is_keyboard, stacked

MAX_LABEL = 160
_MERGE_LIMIT = 240
HIDDEN = "••••"
"""In place of what a secret field shows, whatever its length."""


@dataclass(frozen=True)
class Element:
    """``tap``: a point inside that no other element covers. ``name``: what identifies it when
    the screen is read again (the label may also hold texts that change). ``secret``: what it shows
    or takes is a password or a code."""

    index: int
    role: str
    label: str
    name: str
    value: str | None
    flags: tuple[str, ...]
    actions: tuple[str, ...]
    bounds: Bounds
    tap: tuple[int, int]
    resource_id: str
    class_name: str
    package: str
    secret: bool = False


def pick_elements(hierarchy: Hierarchy, screen: Bounds | None = None) -> tuple[Element, ...]:
    """The numbered elements of a screen; ``screen`` defaults to what the windows span."""
    area = screen or extent(hierarchy)
    candidates: list[_Candidate] = []
    boxes = {id(node) for row in code_boxes(hierarchy) for node in row}
    for window, covers in stacked(hierarchy, area):
        picked = list(_walk(window, area, is_bar=is_bar(window, area)))
        if is_keyboard(window):
            picked = [c for c in picked if not _is_letter_key(c)]
        candidates += _reachable(picked, covers)
    return tuple(_element(number, c, boxes) for number, c in enumerate(candidates, 1))


def storable(element: Element) -> Element:
    """The element without what a secret field shows: the form that may be kept."""
    if not element.secret:
        return element
    if element.role == "field":
        return replace(element, value=HIDDEN if element.value else element.value)
    return replace(element, label=HIDDEN, name="")


def render(elements: tuple[Element, ...]) -> str:
    """One line per element: ``[N] role "label" ="value" flags``."""
    return "\n".join(describe(element) for element in elements)


def describe(element: Element) -> str:
    """The line of one element."""
    return f"[{element.index}] {line_of(element)}"


def line_of(element: Element) -> str:
    """The line of one element without its number."""
    parts = [element.role, _quote(element.label)]
    if element.value:
        parts.append("=" + _quote(element.value))
    return " ".join(part for part in (*parts, *element.flags) if part)


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    cut = escaped if len(escaped) <= 2 * MAX_LABEL else escaped[: 2 * MAX_LABEL - 1] + "…"
    return f'"{cut}"'


@dataclass
class _Candidate:
    node: Node
    bounds: Bounds
    role: str
    pieces: list[str]
    state: Node
    actions: tuple[str, ...]
    tap: tuple[int, int] = (0, 0)


def _is_letter_key(candidate: _Candidate) -> bool:
    """Thirty keys of one character each are noise: typing text has a tool of its own."""
    return len("".join(candidate.pieces)) <= 1


def _walk(root: Node, area: Bounds, *, is_bar: bool) -> Iterator[_Candidate]:
    """Candidates in document order; texts taken over by an element are not repeated."""
    taken: set[int] = set()
    row_text: dict[int, str] = {}
    stack: list[tuple[Node, tuple[Node, ...]]] = [(root, ())]
    while stack:
        node, parents = stack.pop()
        if node.has("invisible"):
            continue
        bounds = node.bounds.clipped(area)
        if bounds.width >= 1 and bounds.height >= 1 and id(node) not in taken:
            actions = actions_of(node)
            if actions:
                yield _acting(node, bounds, actions, parents, taken, row_text, area)
            elif not is_bar and own_texts(node):
                yield _showing(node, bounds)
        stack += [(child, (*parents[-2:], node)) for child in reversed(node.children)]


def _showing(node: Node, bounds: Bounds) -> _Candidate:
    role = "image" if not node.text and "Image" in node.class_name else ""
    return _Candidate(node, bounds, role, own_texts(node), node, ())


def _acting(
    node: Node,
    bounds: Bounds,
    actions: tuple[str, ...],
    parents: tuple[Node, ...],
    taken: set[int],
    row_text: dict[int, str],
    area: Bounds,
) -> _Candidate:
    role = role_of(node, actions)
    state = node
    pieces = [] if role == "field" else own_texts(node)
    if role not in ("field", "list"):
        below, inner = _below(node)
        whole = sum(len(text) for _, texts in below for text in texts)
        if whole <= _MERGE_LIMIT and (bounds.area * 2 <= area.area or not _crowded(node)):
            pieces = unique([*pieces, *(text for _, texts in below for text in texts)])
            taken.update(id(owner) for owner, _ in below)
        if len(inner) == 1 and "check" not in actions:
            state = inner[0]
            taken.add(id(state))
            role = role_of(state, ("check",))
            actions = (*actions, "check")
    if role == "field":
        pieces = unique([clean(node.description), clean(node.hint)])
    if not pieces:
        pieces = [_borrowed(node, parents, role)]
    return _Candidate(node, bounds, role, pieces, state, actions)


def _below(node: Node) -> tuple[list[tuple[Node, list[str]]], list[Node]]:
    """Texts of the views below that cannot be acted on themselves, and the check marks that a
    tap on ``node`` toggles. Stops at views with a life of their own."""
    texts: list[tuple[Node, list[str]]] = []
    marks: list[Node] = []
    stack = list(reversed(node.children))
    while stack:
        child = stack.pop()
        if child.has("invisible"):
            continue
        actions = actions_of(child)
        if actions == ("check",):
            marks.append(child)
        elif actions:
            continue
        if own_texts(child):
            texts.append((child, [] if _is_state_text(child) else own_texts(child)))
        stack += reversed(child.children)
    return texts, marks


def _is_state_text(node: Node) -> bool:
    """A switch often shows ON or OFF as its text; the flag says it already."""
    return node.has("checkable") and node.text.strip().upper() in ("ON", "OFF")


def _crowded(node: Node) -> bool:
    """Whether other acting views live below: then a large view is a background."""
    stack = list(node.children)
    while stack:
        child = stack.pop()
        if actions_of(child):
            return True
        stack += child.children
    return False


def _borrowed(node: Node, parents: tuple[Node, ...], role: str) -> str:
    """A name for a view without texts: the row it stands in, else its resource id."""
    if role in ("switch", "checkbox", "radio", "field"):
        for parent in reversed(parents):
            texts = [text for _, found in _below(parent)[0] for text in found]
            if 0 < len(texts) <= 3:
                return texts[0]
    return node.resource_id.rpartition("/")[2]


def _reachable(picked: list[_Candidate], covers: list[Bounds]) -> Iterator[_Candidate]:
    """Drop what lies wholly below other windows, and wrappers of one view of the same size."""
    acting = [c for c in picked if "tap" in c.actions or "long_press" in c.actions]
    for position, candidate in enumerate(picked):
        inner = [c.bounds for c in acting if _inside(c, candidate)]
        point = _free_point(candidate.bounds, [*covers, *inner]) or _free_point(
            candidate.bounds, covers
        )
        if point is None or _is_wrapper(candidate, picked[position + 1 : position + 2]):
            continue
        candidate.tap = point
        yield candidate


def _inside(inner: _Candidate, outer: _Candidate) -> bool:
    if inner.bounds.area >= outer.bounds.area:
        return False
    common = inner.bounds.clipped(outer.bounds)
    return common.width > 0 and common.height > 0


def _is_wrapper(candidate: _Candidate, following: list[_Candidate]) -> bool:
    """A nameless clickable box around exactly one clickable view of its own size."""
    if not following or "scroll" in candidate.actions or candidate.role != "item":
        return False
    return following[0].bounds == candidate.bounds and "tap" in following[0].actions


def _free_point(bounds: Bounds, covers: list[Bounds]) -> tuple[int, int] | None:
    """The centre, else the first of a grid of points, that no cover contains."""
    for fx, fy in _GRID:
        x, y = bounds.left + int(bounds.width * fx), bounds.top + int(bounds.height * fy)
        if not any(cover.contains(x, y) for cover in covers):
            return x, y
    return None


_STEPS = (0.5, 0.25, 0.75, 0.1, 0.9)
_GRID = tuple((fx, fy) for fy in _STEPS for fx in _STEPS)


def _element(number: int, candidate: _Candidate, boxes: AbstractSet[int]) -> Element:
    node, pieces = candidate.node, candidate.pieces
    label = ", ".join(pieces)
    if len(label) > MAX_LABEL and candidate.actions:
        label = label[: MAX_LABEL - 1] + "…"
    return Element(
        index=number,
        role=candidate.role,
        label=label,
        name=pieces[0] if pieces else "",
        value=_value(candidate),
        flags=_flags(candidate),
        actions=candidate.actions,
        bounds=candidate.bounds,
        tap=candidate.tap,
        resource_id=node.resource_id,
        class_name=node.class_name,
        package=node.package,
        secret=id(node) in boxes or is_secret(node, label),
    )


def _value(candidate: _Candidate) -> str | None:
    node = candidate.node
    if candidate.role != "field":
        return None
    if node.has("password") or node.text == node.hint:
        return ""
    return clean(node.text)


def _flags(candidate: _Candidate) -> tuple[str, ...]:
    node, state = candidate.node, candidate.state
    flags = []
    if candidate.role == "switch":
        flags.append("on" if state.has("checked") else "off")
    elif "check" in candidate.actions or candidate.role in ("checkbox", "radio"):
        flags.append("checked" if state.has("checked") else "unchecked")
    names: tuple[str, ...] = ("selected", "focused", "disabled", "password")
    # a focused container says nothing to the reader; a focused field does
    if candidate.role != "field":
        names = ("selected", "disabled", "password")
    flags += [name for name in names if node.has(name)]
    if node.has("scrollable"):
        flags.append("scrollable")
    return tuple(flags)
