"""The dialog that asks for a runtime permission (package com.android.permissioncontroller)."""

from __future__ import annotations

from collections.abc import Sequence

from device_tools.virtual.apps.packages import APPS, READ_CONTACTS
from device_tools.virtual.state import HEIGHT, WIDTH, PhoneState, Screen
from device_tools.virtual.views.view import FRAME, TEXT, Rect, Style, View, Window
from device_tools.virtual.views.widgets import Page, text_button

PACKAGE = "com.android.permissioncontroller"
ACTIVITY = ".permission.ui.GrantPermissionsActivity"
_WHAT = {READ_CONTACTS: "access your contacts"}


def ask(state: PhoneState, package: str, name: str) -> None:
    """Put the dialog over the foreground app."""
    state.asked.add((package, name))
    state.open(Screen(PACKAGE, ACTIVITY, {"package": package, "permission": name}))


def ask_at_first_start(state: PhoneState) -> None:
    """What Contacts does when it comes to the front and was never answered."""
    screen = state.screen
    key = (screen.package, READ_CONTACTS)
    if screen.package == "com.android.contacts" and key not in state.asked | state.granted:
        ask(state, *key)


def windows(page: Page) -> list[Window]:
    """Two buttons; each answer ends the dialog."""
    args = page.screen.args
    app = next(app for app in APPS if app.package == args["package"])

    def answer(allow: bool) -> None:
        if allow:
            page.state.granted.add((app.package, args["permission"]))
        page.state.close()

    buttons = [
        text_button(
            Rect(140, 1300, 940, 1430),
            "Allow",
            lambda: answer(True),
            page.theme,
            rid="permission_allow_button",
        ),
        text_button(
            Rect(140, 1460, 940, 1590),
            "Don\u2019t allow",
            lambda: answer(False),
            page.theme,
            rid="permission_deny_button",
        ),
    ]
    return [_dialog(page, f"Allow {app.label} to {_WHAT[args['permission']]}?", buttons, 920, 1650)]


def _dialog(page: Page, title: str, buttons: Sequence[View], top: int, bottom: int) -> Window:
    """A window of the page's own activity in the middle of the screen."""
    look = page.theme
    frame = Rect(80, top, WIDTH - 80, bottom)
    label = View(
        Rect(140, top + 50, WIDTH - 140, top + 330),
        TEXT,
        title,
        rid="permission_message",
        style=Style(color=look.text, size=52, align="center"),
    )
    card = View(frame, FRAME, children=(label, *buttons), style=Style(fill=look.surface, radius=72))
    # the whole screen: a dialog also takes the touches beside it
    root = View(Rect(0, 0, WIDTH, HEIGHT), FRAME, children=(card,))
    return Window(page.screen.package, page.screen.component, root)
