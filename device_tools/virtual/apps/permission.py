"""The dialog that asks for a runtime permission (package com.android.permissioncontroller)."""

from __future__ import annotations

from device_tools.virtual.apps.packages import APPS, READ_CONTACTS
from device_tools.virtual.state import PhoneState, Screen
from device_tools.virtual.ui.view import Rect, Window
from device_tools.virtual.ui.widgets import Page, dialog, text_button

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
    return [dialog(page, f"Allow {app.label} to {_WHAT[args['permission']]}?", buttons, 920, 1650)]
