"""Notes: a list, an editor with a title and a text of several lines, and a lock with a password, a
one-time code and a box for each digit of a code."""

from __future__ import annotations

from collections.abc import Callable

from device_tools.virtual.records import Note
from device_tools.virtual.state import WIDTH, Screen
from device_tools.virtual.views.view import Rect, View, Window
from device_tools.virtual.views.widgets import (
    STATUS_BAR,
    TOOLBAR,
    Page,
    icon_button,
    row,
    text_button,
)

PACKAGE = "com.example.notes"
EDITOR = ".EditNoteActivity"
UNLOCK = ".UnlockActivity"
BOXES = 6


def windows(page: Page) -> list[Window]:
    """The list, the editor, or the lock."""
    if page.screen.activity == UNLOCK:
        return [_lock(page)]
    return [_editor(page) if page.screen.activity == EDITOR else _list(page)]


def _list(page: Page) -> Window:
    notes = page.state.notes
    rows = [
        row(
            note.title or note.body.split("\n")[0],
            note.body if note.title else "",
            _opener(page, number),
        )
        for number, note in enumerate(notes)
    ]
    body: View = page.list(rows) if rows else page.empty("No notes yet")
    bottom = page.bottom
    new = text_button(
        Rect(WIDTH - 420, bottom - 210, WIDTH - 60, bottom - 70),
        "New note",
        _opener(page, None),
        page.theme,
        rid="new_note",
    )
    return page.window(page.toolbar("Notes", up=False), body, new)


def _opener(page: Page, number: int | None) -> Callable[[], None]:
    def click() -> None:
        screen = Screen(PACKAGE, EDITOR)
        if number is not None:
            note = page.state.notes[number]
            screen.args["note"] = str(number)
            screen.fields = {"title": note.title, "body": note.body}
        page.state.open(screen)

    return click


def _editor(page: Page) -> Window:
    bar = STATUS_BAR + TOOLBAR
    save = text_button(
        Rect(WIDTH - 220, STATUS_BAR, WIDTH - 20, bar),
        "Save",
        lambda: _save(page),
        page.theme,
        rid="save",
        plain=True,
    )
    actions = [save]
    if "note" in page.screen.args:
        place = Rect(WIDTH - 360, STATUS_BAR, WIDTH - 230, bar)
        actions.insert(0, icon_button(place, "delete", "Delete", lambda: _delete(page), page.theme))
    title = page.edit(
        Rect(40, bar + 20, WIDTH - 40, bar + 160), "title", "Title", rid="note_title", size=58
    )
    body = page.edit(
        Rect(40, bar + 180, WIDTH - 40, page.bottom - 30),
        "body",
        "Note",
        rid="note_body",
        multiline=True,
    )
    heading = "Edit note" if "note" in page.screen.args else "New note"
    return page.window(page.toolbar(heading, *actions), title, body)


def _lock(page: Page) -> Window:
    left, top, height = 40, STATUS_BAR + TOOLBAR + 20, 140
    right, step = WIDTH - left, height + 20
    lines = [Rect(left, top + n * step, right, top + n * step + height) for n in range(4)]
    width = (right - left) // BOXES
    boxes = [
        page.edit(
            Rect(left + n * width, lines[3].top, left + (n + 1) * width - 20, lines[3].bottom),
            f"digit{n + 1}",
            "",
            rid=f"box_{n + 1}",
        )
        for n in range(BOXES)
    ]
    name = page.edit(lines[0], "name", "Your name", rid="owner")
    password = page.edit(lines[1], "password", "Password", rid="password", password=True)
    code = page.edit(lines[2], "code", "One-time code", rid="sms_code")
    return page.window(page.toolbar("Locked notes"), name, password, code, *boxes)


def _save(page: Page) -> None:
    fields = page.screen.fields
    note = Note(fields.get("title", "").strip(), fields.get("body", ""))
    number = page.screen.args.get("note")
    if number is not None:
        page.state.notes[int(number)] = note
    elif note.title or note.body.strip():
        page.state.notes.insert(0, note)
    page.state.close()


def _delete(page: Page) -> None:
    del page.state.notes[int(page.screen.args["note"])]
    page.state.close()
