"""Contacts: asks for its permission at the first start; list, details, new contact."""

from __future__ import annotations

from functools import partial

from device_tools.virtual.apps import messages, permission
from device_tools.virtual.apps.packages import READ_CONTACTS
from device_tools.virtual.records import Contact
from device_tools.virtual.state import WIDTH, Screen
from device_tools.virtual.views.theme import Theme
from device_tools.virtual.views.view import Action, Rect, View, Window
from device_tools.virtual.views.widgets import (
    STATUS_BAR,
    TOOLBAR,
    Page,
    Row,
    icon_button,
    row,
    text_button,
)

PACKAGE = "com.android.contacts"
DETAILS = ".quickcontact.QuickContactActivity"


def windows(page: Page) -> list[Window]:
    """The list, one contact's details (``args["name"]``) or the editor."""
    if "edit" in page.screen.args:
        return [_editor(page)]
    if page.screen.activity == DETAILS:
        return [_details(page)]
    return [_list(page)]


def _list(page: Page) -> Window:
    if (PACKAGE, READ_CONTACTS) not in page.state.granted:
        bar = page.toolbar("Contacts", up=False)
        allow = text_button(
            Rect(290, 1400, 790, 1530),
            "Allow access",
            lambda: permission.ask(page.state, PACKAGE, READ_CONTACTS),
            page.theme,
        )
        return page.window(bar, page.empty("Contacts needs permission to show them"), allow)
    rows = [
        row(contact.name, "", partial(_open, page, contact), icon=contact.name)
        for contact in page.state.contacts
    ]
    add = icon_button(
        Rect(WIDTH - 160, STATUS_BAR, WIDTH, STATUS_BAR + TOOLBAR),
        "plus",
        "Create contact",
        lambda: _new(page),
        page.theme,
    )
    return page.window(page.toolbar("Contacts", add, up=False), page.list(rows))


def _open(page: Page, contact: Contact) -> None:
    page.state.open(Screen(PACKAGE, DETAILS, {"name": contact.name}))


def _new(page: Page) -> None:
    page.state.open(Screen(PACKAGE, DETAILS, {"edit": "1"}))


def _details(page: Page) -> Window:
    name = page.screen.args["name"]
    contact = next(each for each in page.state.contacts if each.name == name)

    rows: list[Row] = [row("Phone", contact.phone), row("Mobile", "Default number")]
    thread = next((each for each in page.state.threads if each.number == contact.phone), None)
    if thread is not None:
        screen = messages.conversation_screen(thread)
        rows.append(_button_row("Messages", lambda: page.state.open(screen)))
    return page.window(page.toolbar(contact.name), page.list(rows))


def _button_row(text: str, click: Action) -> Row:
    def build(place: Rect, look: Theme) -> View:
        return text_button(Rect(66, place.top + 20, 520, place.bottom - 20), text, click, look)

    return 170, build


def _editor(page: Page) -> Window:
    top = STATUS_BAR + TOOLBAR
    save = text_button(
        Rect(WIDTH - 220, STATUS_BAR, WIDTH - 20, top),
        "Save",
        lambda: _save(page),
        page.theme,
        rid="save",
        plain=True,
    )
    name = page.edit(
        Rect(48, top + 30, WIDTH - 48, top + 170), "name", "Name", fill=page.theme.surface
    )
    phone = page.edit(
        Rect(48, top + 210, WIDTH - 48, top + 350), "phone", "Phone", fill=page.theme.surface
    )
    return page.window(page.toolbar("Create contact", save), name, phone)


def _save(page: Page) -> None:
    name = page.screen.fields.get("name", "").strip()
    if name:
        page.state.contacts.append(Contact(name, page.screen.fields.get("phone", "").strip()))
        page.state.contacts.sort(key=lambda contact: contact.name)
    page.state.close()
