"""Typing into the focused field: set on the view itself, then read back.

The clipboard is never used: other apps and keyboards can read it, and its history keeps it.
Selector objects: uiautomator2's JSON form, a bit mask and the fields it names.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from device_tools import limits
from device_tools.adb import AdbPhone
from device_tools.elements import pick_elements
from device_tools.errors import ActionRefused, Outcome
from device_tools.hierarchy import Hierarchy, Node, parse_hierarchy
from device_tools.ui_server import UiServer

_MASK_CLASS = 0x10
_MASK_FOCUSED = 0x20000
_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Typed:
    """``reads``: what the field shows now, None when it cannot be read (a password). ``secret``:
    the field holds a password or a code."""

    wanted: str
    reads: str | None
    secret: bool = False

    @property
    def exact(self) -> bool:
        return self.reads is None or self.reads == self.wanted


def without_final_newline(text: str) -> str:
    """A heredoc argument ends in a newline that nobody meant to type."""
    return text[:-2] if text.endswith("\r\n") else text.removesuffix("\n")


def type_text(
    ui: UiServer, phone: AdbPhone, text: str, *, replace: bool, keys: bool = True
) -> Typed:
    """Put ``text`` into the focused field, behind what it holds or in its place. ``keys``: where
    the view cannot be set, type it by the shell's key events, which other tools may see.

    Raises:
        ActionRefused: no field has the focus, or the field did not take the text.
    """
    hierarchy = parse_hierarchy(ui.read("dumpWindowHierarchy", [False, 50]))
    field = focused_field(hierarchy)
    if field is None:
        raise ActionRefused(
            "no text field has the focus", advice="tap the field first, or give its index"
        )
    password = field.has("password")
    secret = password or _is_secret(hierarchy)
    old = "" if field.text == field.hint else field.text
    wanted = text if replace or password else old + text
    selector = _focused(field)
    if not _set(ui, selector, wanted):
        if not keys:
            raise ActionRefused("the field cannot be set, only typed into by keys")
        _by_keys(ui, phone, selector, text, replace=replace)
    if password:
        return Typed(wanted, None, secret=True)
    reads = ui.read("getText", [selector])
    if reads == field.hint and not wanted:
        # an empty field reads as its hint
        reads = ""
    typed = Typed(wanted, reads if isinstance(reads, str) else "", secret)
    if not typed.exact and typed.reads in (old, field.hint) and wanted != old:
        raise ActionRefused("the field did not take the text", advice="tap the field, try again")
    return typed


def wait_for_focus(
    ui: UiServer, phone: AdbPhone, resource_id: str, point: tuple[int, int], before: Node | None
) -> None:
    """Wait until the field tapped at ``point`` has the focus that ``before`` had.

    The keyboard may have moved the field, so its place alone does not identify it.

    Raises:
        ActionRefused: it did not get the focus within the limit (UNKNOWN: it was tapped).
    """
    end = time.monotonic() + limits.FIELD_FOCUS.seconds
    while time.monotonic() < end:
        field = focused_field(parse_hierarchy(ui.read("dumpWindowHierarchy", [False, 50])))
        if field is not None and field.resource_id == resource_id:
            moved = before is None or field.bounds != before.bounds
            if moved or field.bounds.contains(*point):
                return
        phone.cancel.wait(_POLL_SECONDS)
    raise ActionRefused(
        f"the field was tapped but took no focus within {limits.FIELD_FOCUS.seconds:g} s",
        advice="observe the screen again",
        outcome=Outcome.UNKNOWN,  # whatever the tap did, it was done
    )


def focused_field(hierarchy: Hierarchy) -> Node | None:
    """The editable view that has the focus."""
    stack = list(hierarchy.windows)
    while stack:
        node = stack.pop()
        if node.has("focused") and ("Edit" in node.class_name or "Auto" in node.class_name):
            return node
        stack += node.children
    return None


def _is_secret(hierarchy: Hierarchy) -> bool:
    fields = (each for each in pick_elements(hierarchy) if "type" in each.actions)
    return any(field.secret for field in fields if "focused" in field.flags)


def _focused(field: Node) -> dict[str, Any]:
    # the class too: a list around the field may count as focused
    return {
        "mask": _MASK_CLASS | _MASK_FOCUSED,
        "childOrSibling": [],
        "childOrSiblingSelector": [],
        "className": field.class_name,
        "focused": True,
    }


def _set(ui: UiServer, selector: dict[str, Any], text: str) -> bool:
    """Whether the view took it; a view that cannot be set says false, and nothing changed."""
    try:
        if text:
            ui.act("setText", [selector, text])
        else:
            ui.act("clearTextField", [selector])
    except ActionRefused:
        return False
    return True


def _by_keys(
    ui: UiServer, phone: AdbPhone, selector: dict[str, Any], text: str, *, replace: bool
) -> None:
    """``input text``, which knows only ASCII and writes a space as %s."""
    if not (text.isascii() and text.isprintable()) or "%s" in text:
        raise ActionRefused("the field accepts only typed keys, and this text has none for some")
    if replace:
        ui.act("clearTextField", [selector])
    result = phone.shell(["input", "text", text.replace(" ", "%s")])
    if result.code != 0:
        raise ActionRefused(f"typing failed: {result.text.strip()[:200]}", outcome=Outcome.UNKNOWN)
