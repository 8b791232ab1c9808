"""The home screen, the list of all apps, and the recent tasks."""

from __future__ import annotations

from collections.abc import Sequence

from device_tools.virtual.apps.packages import APPS, App
from device_tools.virtual.state import HEIGHT, LAUNCHER, RECENTS_ACTIVITY, WIDTH, Task
from device_tools.virtual.views.view import BUTTON, FRAME, TEXT, Rect, Style, View, Window
from device_tools.virtual.views.widgets import NAV_BAR, STATUS_BAR, Page

PACKAGE = LAUNCHER
_HOTSEAT = ("com.android.messaging", "com.android.contacts", "com.android.browser")
_COLUMNS, _CELL = 4, 300


def windows(page: Page) -> list[Window]:
    """Home, the drawer (``args["drawer"]``) or recents."""
    if page.screen.activity == RECENTS_ACTIVITY:
        return [_recents(page)]
    return [_drawer(page) if page.screen.args.get("drawer") else _home(page)]


def _home(page: Page) -> Window:
    apps = _apps(page)
    hotseat = [app for app in apps if app.package in _HOTSEAT]
    desktop = [app for app in apps if app.package not in _HOTSEAT]
    date = View(
        Rect(66, 240, WIDTH - 66, 340),
        TEXT,
        "Monday, Nov 30",
        rid="clock",
        style=Style(color="#ffffff", size=58),
    )
    workspace = View(
        Rect(0, STATUS_BAR, WIDTH, 1880),
        "android.view.ViewGroup",
        rid="workspace",
        children=(date, *_grid(page, desktop, 1400)),
    )
    dock = View(
        Rect(0, 1900, WIDTH, HEIGHT - NAV_BAR),
        "android.view.ViewGroup",
        rid="hotseat",
        children=_grid(page, hotseat, 1920),
    )
    return _window(page, "#2b4a78", workspace, dock)


def _drawer(page: Page) -> Window:
    search = View(
        Rect(48, 130, WIDTH - 48, 260),
        TEXT,
        "All apps",
        rid="all_apps_header",
        style=Style(color=page.theme.text, size=58),
    )
    area = Rect(0, STATUS_BAR, WIDTH, HEIGHT - NAV_BAR)
    apps = View(
        area,
        "android.view.ViewGroup",
        rid="apps_list_view",
        children=(search, *_grid(page, _apps(page), 320, page.theme.text)),
    )
    return _window(page, page.theme.background, apps)


def _apps(page: Page) -> list[App]:
    return [app for app in APPS if app.launchable and app.package not in page.state.removed]


def _grid(page: Page, apps: Sequence[App], top: int, color: str = "#ffffff") -> tuple[View, ...]:
    cell = WIDTH // _COLUMNS
    return tuple(
        _icon(
            page,
            app,
            Rect(column * cell, top + line * _CELL, (column + 1) * cell, top + (line + 1) * _CELL),
            color,
        )
        for line, column, app in (
            (number // _COLUMNS, number % _COLUMNS, app) for number, app in enumerate(apps)
        )
    )


def _icon(page: Page, app: App, cell: Rect, color: str) -> View:
    def start() -> None:
        page.state.launch(app.package, app.activities[0])

    # one node as on real launchers: the picture is part of the text view
    return View(
        Rect(cell.left + 10, cell.top, cell.right - 10, cell.bottom - 20),
        TEXT,
        app.label,
        rid="icon",
        desc=app.label,
        on_click=start,
        on_long_click=start,
        style=Style(color=color, size=36, align="center", valign="bottom", icon=f"app {app.label}"),
    )


def _recents(page: Page) -> Window:
    state = page.state
    tasks = [task for task in reversed(state.tasks) if task.package != LAUNCHER][:4]
    if not tasks:
        empty = View(
            Rect(0, 1100, WIDTH, 1240),
            TEXT,
            "No recent items",
            rid="empty",
            style=Style(color="#ffffff", align="center", size=52),
        )
        return _window(page, "#22262f", empty)
    cards = [_card(page, task, 200 + 420 * number) for number, task in enumerate(tasks)]
    clear = View(
        Rect(340, 2020, 740, 2140),
        BUTTON,
        "Clear all",
        rid="clear_all",
        on_click=lambda: _clear(page),
        style=Style(color="#ffffff", fill="#3a4252", align="center", radius=60),
    )
    return _window(page, "#22262f", *cards, clear)


def _card(page: Page, task: Task, top: int) -> View:
    label = next(app.label for app in APPS if app.package == task.package)
    name = View(
        Rect(160, top + 20, WIDTH - 160, top + 120),
        TEXT,
        label,
        style=Style(color=page.theme.text, size=50),
    )
    return View(
        Rect(110, top, WIDTH - 110, top + 390),
        FRAME,
        rid="task",
        desc=label,
        children=(name,),
        on_click=lambda: _resume(page, task),
        style=Style(fill=page.theme.background, radius=48),
    )


def _resume(page: Page, task: Task) -> None:
    page.state.home()
    page.state.launch(task.package, task.screens[0].activity)


def _clear(page: Page) -> None:
    page.state.tasks = [task for task in page.state.tasks if task.package == LAUNCHER]
    page.state.home()


def _window(page: Page, fill: str, *children: View) -> Window:
    root = View(Rect(0, 0, WIDTH, HEIGHT), FRAME, children=children, style=Style(fill=fill))
    return Window(LAUNCHER, page.screen.component, root)
