"""Messages: the list of conversations and one conversation with a field to answer."""

from __future__ import annotations

from functools import partial

from device_tools.virtual.records import Message, Thread
from device_tools.virtual.state import WIDTH, Screen
from device_tools.virtual.views.picture import wrap
from device_tools.virtual.views.theme import Theme
from device_tools.virtual.views.view import TEXT, Rect, Style, View, Window
from device_tools.virtual.views.widgets import STATUS_BAR, TOOLBAR, Page, Row, icon_button, row

PACKAGE = "com.android.messaging"
CONVERSATION = ".ui.conversation.ConversationActivity"
_BUBBLE = 760
_COMPOSE = 150


def windows(page: Page) -> list[Window]:
    """The list, or the conversation named in ``args["thread"]``."""
    name = page.screen.args.get("thread")
    thread = next((thread for thread in page.state.threads if thread.name == name), None)
    return [_list(page) if thread is None else _conversation(page, thread)]


def _list(page: Page) -> Window:
    rows = [
        row(
            thread.name,
            thread.messages[-1].text,
            partial(open_thread, page, thread),
            icon=thread.name,
            bold=thread.unread,
            trailing=thread.messages[-1].time,
        )
        for thread in page.state.threads
    ]
    return page.window(page.toolbar("Messages", up=False), page.list(rows))


def open_thread(page: Page, thread: Thread) -> None:
    """Show a conversation; it is read then."""
    thread.unread = False
    page.state.open(conversation_screen(thread))


def conversation_screen(thread: Thread) -> Screen:
    """A conversation opens at its newest message."""
    return Screen(PACKAGE, CONVERSATION, {"thread": thread.name}, scroll={"list": 1_000_000})


def _conversation(page: Page, thread: Thread) -> Window:
    compose = page.bottom - _COMPOSE
    area = Rect(0, STATUS_BAR + TOOLBAR, WIDTH, compose)
    rows = [_bubble(message) for message in thread.messages]
    text = page.edit(
        Rect(40, compose + 10, WIDTH - 190, page.bottom - 16),
        "message",
        "Text message",
        rid="compose_message_text",
        fill=page.theme.surface,
    )
    send = icon_button(
        Rect(WIDTH - 170, compose, WIDTH - 20, page.bottom),
        "send",
        "Send message",
        lambda: _send(page, thread),
        page.theme,
    )
    return page.window(page.toolbar(thread.name), page.list(rows, area), text, send)


def _bubble(message: Message) -> Row:
    style = Style(size=44)
    lines = wrap(message.text, style, _BUBBLE - 72, 40)
    height = len(lines) * 60 + 62

    def build(place: Rect, look: Theme) -> View:
        left = place.right - 48 - _BUBBLE if message.mine else 48
        box = Rect(left, place.top + 16, left + _BUBBLE, place.top + 16 + height)
        fill, color = (look.accent, look.on_accent) if message.mine else (look.surface, look.text)
        text = View(
            Rect(box.left + 36, box.top, box.right - 36, box.bottom),
            TEXT,
            message.text,
            rid="message_text",
            style=Style(color=color, size=44),
        )
        bubble = View(box, children=(text,), style=Style(fill=fill, radius=48))
        align = "right" if message.mine else "left"
        time = View(
            Rect(60, box.bottom + 6, WIDTH - 60, box.bottom + 56),
            TEXT,
            message.time,
            rid="message_status",
            style=Style(color=look.faint, size=32, align=align),
        )
        return View(place, "android.widget.LinearLayout", children=(bubble, time))

    return height + 90, build


def _send(page: Page, thread: Thread) -> None:
    text = page.screen.fields.pop("message", "").strip()
    if text:
        thread.messages.append(Message(text, page.state.clock, mine=True))
        page.screen.scroll["list"] = 1_000_000
        page.state.threads.remove(thread)
        page.state.threads.insert(0, thread)
