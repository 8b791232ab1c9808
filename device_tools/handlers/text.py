"""Typing, clearing, secrets and the clipboard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from device_tools import gestures, text_input
from device_tools.errors import ActionRefused, NotAvailable, Outcome
from device_tools.handlers.touch import named
from device_tools.result import ToolResult, done
from device_tools.session import ScreenSession

Arguments = Mapping[str, Any]
MAX_CLIPBOARD = 10_000


def type_text(session: ScreenSession, arguments: Arguments) -> ToolResult:
    text = text_input.without_final_newline(arguments["text"])
    if "index" in arguments:
        _focus_field(session, arguments["index"])
    anew = arguments.get("mode", "append") == "replace"
    typed = text_input.type_text(session.ui, session.phone, text, replace=anew)
    if typed.reads is None:
        result = done("typed into a password field, which cannot be read back")
        return replace(result, secrets=(text,))
    said = "typed;" if typed.exact else "typed, but"
    reads = session.hidden.without(typed.reads)
    result = done(f"{said} the field now reads {reads!r}", reads=reads)
    if not typed.secret:
        return result
    storable = f"{said} the field, which holds a password or a code, was read back"
    return replace(result, secrets=(text, typed.reads), storable=storable)


def clear_text(session: ScreenSession, arguments: Arguments) -> ToolResult:
    if "index" in arguments:
        _focus_field(session, arguments["index"])
    typed = text_input.type_text(session.ui, session.phone, "", replace=True)
    if typed.reads:
        raise ActionRefused("the field did not let itself be cleared", outcome=Outcome.UNKNOWN)
    return done("cleared the field")


def type_secret(session: ScreenSession, arguments: Arguments) -> ToolResult:
    """The value reaches the field and nothing else: no clipboard, no shell, no answer."""
    name = arguments["name"]
    value = session.secrets(name)
    if not value:
        raise NotAvailable(
            f"there is no secret named {name!r}",
            advice="the user sets it as BRIDGE_SECRET_NAME, or in the keyring as secret NAME",
        )
    session.hidden.add(name, value)
    if "index" in arguments:
        _focus_field(session, arguments["index"])
    typed = text_input.type_text(session.ui, session.phone, value, replace=True, keys=False)
    if not typed.exact:
        raise ActionRefused(
            f"the field does not hold the secret {name!r} as it is", outcome=Outcome.UNKNOWN
        )
    return replace(done(f"typed the secret {name!r}"), secrets=(value,))


def clipboard_get(session: ScreenSession, _arguments: Arguments) -> ToolResult:
    text = session.ui.read("getClipboard")
    if text is None:
        raise NotAvailable(
            "the clipboard is empty, or this phone keeps it from everything but the app in front",
            advice="Android 10 and newer; paste into a field and read it there",
        )
    clean = session.hidden.without(str(text))
    cut = clean[:MAX_CLIPBOARD]
    more = f"\n({len(clean) - len(cut)} more characters)" if len(clean) > len(cut) else ""
    return done(f"clipboard:\n{cut}{more}", clipboard=cut)


def clipboard_set(session: ScreenSession, arguments: Arguments) -> ToolResult:
    text = text_input.without_final_newline(arguments["text"])
    session.ui.act("setClipboard", ["bridge", text])
    now = session.ui.read("getClipboard")
    if now is None:
        return done("set; this phone does not let the clipboard be read back", verified=False)
    if now != text:
        raise ActionRefused("the clipboard did not take the text", outcome=Outcome.UNKNOWN)
    return done(f"the clipboard holds {len(text)} characters", verified=True)


def _focus_field(session: ScreenSession, index: int) -> None:
    element, tree = session.found(index)
    if "type" not in element.actions:
        # a tap on a button that was meant as a field would press it
        raise ActionRefused(
            f"{named(element, index)} is no text field",
            advice="give the index of a field, or tap this element first",
        )
    before = text_input.focused_field(tree.hierarchy)
    if before is not None and before.bounds == element.bounds:
        return
    gestures.tap(session.ui, *element.tap)
    text_input.wait_for_focus(session.ui, session.phone, element.resource_id, element.tap, before)
