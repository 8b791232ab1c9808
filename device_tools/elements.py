"""From view trees to the short numbered list that a model reads and acts on.

An element is a view one can act on, or a text nobody else shows. A view that can be acted on
takes over the texts below it; a switch inside a clickable row lends its state to the row.
Numbers follow the reading order of the dump: the app's window first, system bars last. The
letter keys of a keyboard are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from device_tools.hierarchy import Bounds, Hierarchy, Node

MAX_LABEL = 160
_MERGE_LIMIT = 240
_SYSTEM_UI = "com.android.systemui"
_PRIVATE_USE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff\ufffc\ufffd\u200b\u200e\u200f]")
_IME = re.compile(r"inputmethod|keyboard|\.ime\b|\.latin$|honeyboard|swiftkey|sogou|gboard")

_FIELD = re.compile(r"EditText|AutoComplete")
_ROLES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"Switch|ToggleButton"), "switch"),
    (re.compile(r"RadioButton"), "radio"),
    (re.compile(r"CheckBox|CheckedText"), "checkbox"),
    (_FIELD, "field"),
    (re.compile(r"TabWidget|TabView|ActionBar\$Tab|\.Tab$"), "tab"),
    (re.compile(r"(?<!Radio)Button$|ImageButton|Chip$"), "button"),
)


@dataclass(frozen=True)
class Element:
    """``tap``: a point inside that no other element covers. ``name``: what identifies it when
    the screen is read again (the label may also hold texts that change)."""

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


def pick_elements(hierarchy: Hierarchy, screen: Bounds | None = None) -> tuple[Element, ...]:
    """The numbered elements of a screen; ``screen`` defaults to what the windows span."""
    area = screen or _extent(hierarchy)
    candidates: list[_Candidate] = []
    for window, covers in _ordered(hierarchy, area):
        picked = list(_walk(window, area, is_bar=_is_bar(window, area)))
        if _is_keyboard(window):
            picked = [c for c in picked if not _is_letter_key(c)]
        candidates += _reachable(picked, covers)
    return tuple(_element(number, c) for number, c in enumerate(candidates, 1))


def keyboard_shown(hierarchy: Hierarchy) -> bool:
    """Whether an input method has a window of its own in the dump."""
    return any(_is_keyboard(window) and window.bounds.height > 60 for window in hierarchy.windows)


def render(elements: tuple[Element, ...]) -> str:
    """One line per element: ``[N] role "label" ="value" flags``."""
    return "\n".join(describe(element) for element in elements)


def describe(element: Element) -> str:
    """The line of one element."""
    parts = [f"[{element.index}]", element.role, _quote(element.label)]
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


def _extent(hierarchy: Hierarchy) -> Bounds:
    windows = [window.bounds for window in hierarchy.windows]
    return Bounds(0, 0, max(b.right for b in windows), max(b.bottom for b in windows))


def _ordered(hierarchy: Hierarchy, area: Bounds) -> list[tuple[Node, list[Bounds]]]:
    """Windows in reading order, each with the bounds of the windows that lie on top of it."""
    windows = sorted(hierarchy.windows, key=_layer)
    stacked = [
        (window, [above.bounds for above in windows[:position] if above.bounds.area])
        for position, window in enumerate(windows)
    ]
    return sorted(stacked, key=lambda pair: _rank(pair[0], area))


def _layer(window: Node) -> tuple[int, int]:
    """Sorts topmost first. The order of the dump does not tell: older servers kept windows in
    a hash set. A window that overlaps a larger one lies on it: dialogs, menus, popups."""
    if _is_keyboard(window):
        return (0, 0)
    return (1, 0) if window.package == _SYSTEM_UI else (2, window.bounds.area)


def _rank(window: Node, area: Bounds) -> int:
    if _is_bar(window, area):
        return 2
    return 1 if _is_keyboard(window) else 0


def _is_keyboard(window: Node) -> bool:
    return bool(_IME.search(window.package.lower()))


def _is_letter_key(candidate: _Candidate) -> bool:
    """Thirty keys of one character each are noise: typing text has a tool of its own."""
    return len("".join(candidate.pieces)) <= 1


def _is_bar(window: Node, area: Bounds) -> bool:
    """Status and navigation bars: thin windows of the system."""
    thin = min(window.bounds.width, window.bounds.height)
    return window.package == _SYSTEM_UI and thin * 8 <= max(area.width, area.height)


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
            actions = _actions(node)
            if actions:
                yield _acting(node, bounds, actions, parents, taken, row_text, area)
            elif not is_bar and _own_texts(node):
                yield _showing(node, bounds)
        stack += [(child, (*parents[-2:], node)) for child in reversed(node.children)]


def _showing(node: Node, bounds: Bounds) -> _Candidate:
    role = "image" if not node.text and "Image" in node.class_name else ""
    return _Candidate(node, bounds, role, _own_texts(node), node, ())


def _acting(
    node: Node,
    bounds: Bounds,
    actions: tuple[str, ...],
    parents: tuple[Node, ...],
    taken: set[int],
    row_text: dict[int, str],
    area: Bounds,
) -> _Candidate:
    role = _role(node, actions)
    state = node
    pieces = [] if role == "field" else _own_texts(node)
    if role not in ("field", "list"):
        below, inner = _below(node)
        whole = sum(len(text) for _, texts in below for text in texts)
        if whole <= _MERGE_LIMIT and (bounds.area * 2 <= area.area or not _crowded(node)):
            pieces = _unique([*pieces, *(text for _, texts in below for text in texts)])
            taken.update(id(owner) for owner, _ in below)
        if len(inner) == 1 and "check" not in actions:
            state = inner[0]
            taken.add(id(state))
            role = _role(state, ("check",))
            actions = (*actions, "check")
    if role == "field":
        pieces = _unique([_clean(node.description), _clean(node.hint)])
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
        actions = _actions(child)
        if actions == ("check",):
            marks.append(child)
        elif actions:
            continue
        if _own_texts(child):
            texts.append((child, [] if _is_state_text(child) else _own_texts(child)))
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
        if _actions(child):
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


def _actions(node: Node) -> tuple[str, ...]:
    found = []
    if node.has("clickable"):
        found.append("tap")
    if node.has("long-clickable"):
        found.append("long_press")
    if node.has("checkable"):
        found.append("check")
    if node.has("scrollable"):
        found.append("scroll")
    if _FIELD.search(node.class_name) or node.has("editable"):
        found.append("type")
    return tuple(found)


def _role(node: Node, actions: tuple[str, ...]) -> str:
    for pattern, role in _ROLES:
        if pattern.search(node.class_name):
            return role
    if "check" in actions:
        return "checkbox"
    if "scroll" in actions:
        return "list"
    return "button" if "Image" in node.class_name else "item"


def _own_texts(node: Node) -> list[str]:
    # a password is shown as dots, and even their number is nobody's business
    text = "" if node.has("password") else _clean(node.text)
    description = _clean(node.description)
    is_symbol = not any(letter.isalnum() for letter in text)
    longer = len(description) > len(text) and text.casefold() in description.casefold()
    if description and (is_symbol or longer):
        return [description]
    return _unique([text, description])


def _clean(text: str) -> str:
    """Without icon glyphs and surrounding space; line breaks stay."""
    lines = (" ".join(line.split()) for line in _PRIVATE_USE.sub("", text).splitlines())
    return "\n".join(line for line in lines if line)


def _unique(texts: list[str]) -> list[str]:
    """Without empty ones and ones that an earlier one says already; the first stays first."""
    kept: list[str] = []
    for text in texts:
        if text and not any(_says(other.casefold(), text.casefold()) for other in kept):
            kept.append(text)
    return kept


def _says(longer: str, text: str) -> bool:
    # short words such as "on" are inside many others by chance
    return text == longer or (len(text) >= 4 and text in longer)


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


def _element(number: int, candidate: _Candidate) -> Element:
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
    )


def _value(candidate: _Candidate) -> str | None:
    node = candidate.node
    if candidate.role != "field":
        return None
    if node.has("password") or node.text == node.hint:
        return ""
    return _clean(node.text)


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
