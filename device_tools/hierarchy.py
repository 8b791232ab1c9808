"""The hierarchy dump of uiautomator as trees of ``Node``, lenient about what phones really send.

Accepted: UTF-8 with faults, UTF-16, status lines before and after the document, several
documents or roots, missing attributes, control characters, surrogate references, the form
in which tags are class names. Refused with a named reason: empty, truncated or broken XML,
and any document type declaration.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers import expat

from device_tools.errors import ScreenUnreadable

MAX_BYTES = 32 * 1024 * 1024
MAX_DEPTH = 500


@dataclass(frozen=True, slots=True)
class Bounds:
    """Device pixels; right and bottom are exclusive."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def height(self) -> int:
        return self.bottom - self.top

    @property
    def area(self) -> int:
        return max(0, self.width) * max(0, self.height)

    @property
    def center(self) -> tuple[int, int]:
        return (self.left + self.right) // 2, (self.top + self.bottom) // 2

    def contains(self, x: int, y: int) -> bool:
        return self.left <= x < self.right and self.top <= y < self.bottom

    def clipped(self, other: Bounds) -> Bounds:
        """The common part; its area is 0 when there is none."""
        return Bounds(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One view. Attributes that are missing from the dump have the values a plain view has."""

    class_name: str = ""
    package: str = ""
    resource_id: str = ""
    text: str = ""
    description: str = ""
    hint: str = ""
    bounds: Bounds = Bounds(0, 0, 0, 0)
    flags: frozenset[str] = frozenset()
    children: tuple[Node, ...] = ()

    def has(self, flag: str) -> bool:
        """Whether a boolean attribute, named as in the dump ("long-clickable"), is true."""
        return flag in self.flags


@dataclass(frozen=True)
class Hierarchy:
    """``windows``: one tree per window, in the order of the dump, which is no stacking order."""

    rotation: int
    windows: tuple[Node, ...]


def parse_hierarchy(dump: bytes | str) -> Hierarchy:
    """Read one dump.

    Raises:
        ScreenUnreadable: empty, truncated, not XML, or with a document type declaration.
    """
    if len(dump) > MAX_BYTES:
        raise ScreenUnreadable(f"the hierarchy dump is larger than {MAX_BYTES} bytes")
    builder = _Builder()
    _feed(_document(dump if isinstance(dump, str) else _decoded(dump)), builder)
    if not builder.windows:
        raise ScreenUnreadable(
            "the phone returned an empty hierarchy",
            advice="wait a moment and observe again; if it stays empty, restart the phone",
        )
    return Hierarchy(builder.rotation, tuple(builder.windows))


def _decoded(dump: bytes) -> str:
    if dump.startswith((b"\xff\xfe", b"\xfe\xff")):
        return dump.decode("utf-16", errors="replace")
    if dump[:2] == b"<\x00":
        return dump.decode("utf-16-le", errors="replace")
    if dump[:2] == b"\x00<":
        return dump.decode("utf-16-be", errors="replace")
    return dump.decode("utf-8-sig", errors="replace")


_OPENING = re.compile(r"<hierarchy\b")
_EMPTY = re.compile(r"<hierarchy\b[^<>]*/>")
_DECLARATION = re.compile(r"<\?xml[^>]*\?>")
_REFERENCE = re.compile(r"&#(x[0-9a-fA-F]+|[0-9]+);")
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_CLOSING = "</hierarchy>"


def _document(text: str) -> str:
    """Only the hierarchy elements, without the lines that tools print around them."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ScreenUnreadable("the hierarchy dump has a document type declaration")
    opening = _OPENING.search(text)
    if opening is None:
        raise ScreenUnreadable(f"the phone returned no hierarchy: {_quoted(text)}")
    end = text.rfind(_CLOSING)
    if end >= 0:
        body = text[opening.start() : end + len(_CLOSING)]
    elif empty := _EMPTY.search(text):
        body = empty.group(0)
    else:
        raise ScreenUnreadable("the hierarchy dump is truncated", advice="observe again")
    body = _DECLARATION.sub("", body)
    return f"<dumps>{_ILLEGAL.sub(' ', _resolved(body))}</dumps>"


def _resolved(body: str) -> str:
    """Numeric references as characters: phones write UTF-16 surrogates, which XML forbids."""
    if "&#" not in body:
        return body
    replaced = _REFERENCE.sub(_character, body)
    return replaced.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _character(match: re.Match[str]) -> str:
    digits = match.group(1)
    code = int(digits[1:], 16) if digits.startswith("x") else int(digits)
    # these five keep their reference: as characters they would change the document
    if code in (9, 10, 13, 34, 38, 39, 60, 62):
        return match.group(0)
    return chr(code) if 32 <= code <= 0x10FFFF else " "


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return f'"{line[:120]}"' if line else "nothing"


def _feed(document: str, builder: _Builder) -> None:
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.StartDoctypeDeclHandler = builder.refuse
    parser.buffer_text = True
    try:
        parser.Parse(document.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        raise ScreenUnreadable(
            f"the hierarchy dump is not well-formed: {error}", advice="observe again"
        ) from error


@dataclass
class _Builder:
    """Expat calls this; nodes are made when they close, so that they can be frozen."""

    rotation: int = 0
    windows: list[Node] = field(default_factory=list)
    _attributes: list[dict[str, str]] = field(default_factory=list)
    _children: list[list[Node]] = field(default_factory=list)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "dumps":
            return
        if tag == "hierarchy":
            self.rotation = _number(attributes.get("rotation", "0")) % 4
            return
        if len(self._attributes) >= MAX_DEPTH:
            raise ScreenUnreadable(f"the hierarchy is deeper than {MAX_DEPTH} levels")
        self._attributes.append(attributes)
        self._children.append([])

    def end(self, tag: str) -> None:
        if tag in ("dumps", "hierarchy"):
            return
        node = _node(tag, self._attributes.pop(), tuple(self._children.pop()))
        (self._children[-1] if self._children else self.windows).append(node)

    def refuse(self, *_declaration: object) -> None:
        raise ScreenUnreadable("the hierarchy dump has a document type declaration")


def _node(tag: str, attributes: dict[str, str], children: tuple[Node, ...]) -> Node:
    flags = {name for name, value in attributes.items() if value == "true"}
    if attributes.get("enabled") == "false":
        flags.add("disabled")
    if "false" in (attributes.get("visible-to-user"), attributes.get("displayed")):
        flags.add("invisible")
    return Node(
        class_name=attributes.get("class") or ("" if tag == "node" else tag),
        package=attributes.get("package", ""),
        resource_id=attributes.get("resource-id", ""),
        text=attributes.get("text", ""),
        description=attributes.get("content-desc", ""),
        hint=attributes.get("hint", ""),
        bounds=_bounds(attributes.get("bounds", "")),
        flags=frozenset(flags),
        children=children,
    )


_BOUNDS = re.compile(r"\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]")


def _bounds(text: str) -> Bounds:
    match = _BOUNDS.fullmatch(text)
    return Bounds(*(int(part) for part in match.groups())) if match else Bounds(0, 0, 0, 0)


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 0
