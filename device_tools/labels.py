"""What one view says and does: its texts, its role, the actions it takes."""

from __future__ import annotations

import re

from device_tools.hierarchy import Node

_UNREADABLE = re.compile(
    "[\ue000-\uf8ff\U000f0000-\U0010ffff\ufffc\ufffd\u200b\u200e\u200f"  # icon glyphs, marks
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"  # controls, without the line breaks among them
    "\u202a-\u202e\u2066-\u2069]"  # would reorder the line they stand in
)
_FIELD = re.compile(r"EditText|AutoComplete")
_ROLES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"Switch|ToggleButton"), "switch"),
    (re.compile(r"RadioButton"), "radio"),
    (re.compile(r"CheckBox|CheckedText"), "checkbox"),
    (_FIELD, "field"),
    (re.compile(r"TabWidget|TabView|ActionBar\$Tab|\.Tab$"), "tab"),
    (re.compile(r"(?<!Radio)Button$|ImageButton|Chip$"), "button"),
)


def actions_of(node: Node) -> tuple[str, ...]:
    """What it takes: tap, long_press, check, scroll, type."""
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


def role_of(node: Node, actions: tuple[str, ...]) -> str:
    """The word for a view that takes ``actions``, by its class first."""
    for pattern, role in _ROLES:
        if pattern.search(node.class_name):
            return role
    if "check" in actions:
        return "checkbox"
    if "scroll" in actions:
        return "list"
    return "button" if "Image" in node.class_name else "item"


def own_texts(node: Node) -> list[str]:
    """Its text and description, said once; none of a password."""
    # a password is shown as dots, and even their number is nobody's business
    text = "" if node.has("password") else clean(node.text)
    description = clean(node.description)
    is_symbol = not any(letter.isalnum() for letter in text)
    longer = len(description) > len(text) and text.casefold() in description.casefold()
    if description and (is_symbol or longer):
        return [description]
    return unique([text, description])


def clean(text: str) -> str:
    """Without icon glyphs, control characters and surrounding space; line breaks stay."""
    lines = (" ".join(line.split()) for line in _UNREADABLE.sub("", text).splitlines())
    return "\n".join(line for line in lines if line)


def unique(texts: list[str]) -> list[str]:
    """Without empty ones and ones that an earlier one says already; the first stays first."""
    kept: list[str] = []
    for text in texts:
        if text and not any(_says(other.casefold(), text.casefold()) for other in kept):
            kept.append(text)
    return kept


def _says(longer: str, text: str) -> bool:
    # short words such as "on" are inside many others by chance
    return text == longer or (len(text) >= 4 and text in longer)
