"""Windows of the system itself: status bar, navigation bar, notification shade."""

from __future__ import annotations

from device_tools.virtual.apps import settings as settings_app
from device_tools.virtual.apps.messages import PACKAGE as MESSAGES
from device_tools.virtual.apps.messages import conversation_screen
from device_tools.virtual.apps.packages import APPS
from device_tools.virtual.records import Notification
from device_tools.virtual.state import HEIGHT, LAUNCHER, WIDTH, PhoneState
from device_tools.virtual.ui.keys import press_key
from device_tools.virtual.views.theme import theme
from device_tools.virtual.views.view import (
    BUTTON,
    FRAME,
    IMAGE,
    SWITCH,
    TEXT,
    Action,
    Rect,
    Style,
    View,
    Window,
)
from device_tools.virtual.views.widgets import NAV_BAR, STATUS_BAR

PACKAGE = "com.android.systemui"


def bars(state: PhoneState) -> list[Window]:
    """Status bar and navigation bar; light icons on the dark home screen."""
    screen = state.screen
    wallpaper = screen.package == LAUNCHER and not screen.args.get("drawer")
    color = "#ffffff" if wallpaper or state.shade else theme(state).text
    return [_status_bar(state, color), _navigation_bar(state, color)]


def _status_bar(state: PhoneState, color: str) -> Window:
    children = [
        View(
            Rect(48, 0, 300, STATUS_BAR),
            TEXT,
            state.clock,
            rid="clock",
            style=Style(color=color, size=38),
        )
    ]
    if state.wifi:
        children.append(
            View(
                Rect(870, 0, 940, STATUS_BAR),
                IMAGE,
                rid="wifi_signal",
                desc="Wifi signal full.",
                style=Style(icon="wifi", color=color),
            )
        )
    if state.flag("airplane_mode_on"):
        children.append(
            View(
                Rect(790, 0, 860, STATUS_BAR),
                IMAGE,
                rid="airplane",
                desc="Airplane mode",
                style=Style(icon="close", color=color),
            )
        )
    children.append(
        View(
            Rect(960, 0, 1030, STATUS_BAR),
            IMAGE,
            rid="battery",
            desc=f"Battery {state.battery} percent.",
            style=Style(icon="battery", color=color),
        )
    )
    root = View(Rect(0, 0, WIDTH, STATUS_BAR), FRAME, rid="status_bar", children=tuple(children))
    return Window(PACKAGE, "StatusBar", root, focusable=False)


def _navigation_bar(state: PhoneState, color: str) -> Window:
    top = HEIGHT - NAV_BAR

    def key(name: str, desc: str, icon: str, left: int) -> View:
        return View(
            Rect(left, top, left + 240, HEIGHT),
            IMAGE,
            rid=name,
            desc=desc,
            on_click=lambda: press_key(state, desc_to_key[desc]),
            style=Style(icon=icon, color=color),
        )

    desc_to_key = {"Back": "back", "Home": "home", "Overview": "recent"}
    keys = (
        key("back", "Back", "nav-back", 90),
        key("home", "Home", "nav-home", 420),
        key("recent_apps", "Overview", "recents", 750),
    )
    root = View(Rect(0, top, WIDTH, HEIGHT), FRAME, rid="navigation_bar_frame", children=keys)
    return Window(PACKAGE, "NavigationBar0", root, focusable=False)


def shade(state: PhoneState) -> Window:
    """Quick settings tiles and the notifications below them."""
    tiles = _tiles(state)
    top = 150 + 190 * ((len(tiles) + 1) // 2) + 60
    cards = [
        _card(state, item, top + 290 * number) for number, item in enumerate(state.notifications)
    ]
    children: list[View] = [*tiles, *cards]
    if cards:
        bottom = top + 290 * len(cards)
        children.append(
            View(
                Rect(700, bottom + 10, 1020, bottom + 120),
                BUTTON,
                "Clear all",
                rid="dismiss_text",
                on_click=state.dismiss_all,
                style=Style(color="#ffffff", align="center", fill="#3a4252", radius=55),
            )
        )
    else:
        children.append(
            View(
                Rect(0, top, WIDTH, top + 120),
                TEXT,
                "No notifications",
                rid="no_notifications",
                style=Style(color="#c8cad2", align="center"),
            )
        )
    root = View(
        Rect(0, 0, WIDTH, HEIGHT),
        FRAME,
        rid="notification_panel",
        children=tuple(children),
        style=Style(fill="#171a21"),
    )
    return Window(PACKAGE, "NotificationShade", root)


def _tiles(state: PhoneState) -> list[View]:
    def flip(key: str) -> Action:
        return lambda: state.set_flag(key, not state.flag(key))

    dark = state.dark
    entries: list[tuple[str, bool, Action]] = [
        ("Wi-Fi", state.wifi, flip("wifi_on")),
        ("Bluetooth", state.flag("bluetooth_on"), flip("bluetooth_on")),
        ("Airplane mode", state.flag("airplane_mode_on"), lambda: settings_app.set_airplane(state)),
        ("Mobile data", state.flag("mobile_data"), flip("mobile_data")),
        ("Dark theme", dark, lambda: settings_app.set_dark(state, not dark)),
        (
            "Auto-rotate",
            state.flag("accelerometer_rotation", "system"),
            lambda: state.set_flag(
                "accelerometer_rotation",
                not state.flag("accelerometer_rotation", "system"),
                "system",
            ),
        ),
    ]
    return [_tile(number, *entry) for number, entry in enumerate(entries)]


def _tile(number: int, label: str, on: bool, click: Action) -> View:
    left, top = (40, 550)[number % 2], 150 + 190 * (number // 2)
    place = Rect(left, top, left + 490, top + 165)
    fill, color = ("#a9c4ff", "#10203f") if on else ("#2b303b", "#e6e6ec")
    text = View(
        Rect(left + 50, top + 20, left + 470, top + 90),
        TEXT,
        label,
        rid="tile_label",
        style=Style(color=color, size=42, bold=True),
    )
    status = View(
        Rect(left + 50, top + 88, left + 470, top + 148),
        TEXT,
        "On" if on else "Off",
        style=Style(color=color, size=36),
    )
    return View(
        place,
        SWITCH,
        desc=label,
        checkable=True,
        checked=on,
        on_click=click,
        children=(text, status),
        style=Style(fill=fill, radius=60),
    )


def _card(state: PhoneState, item: Notification, top: int) -> View:
    place = Rect(40, top, WIDTH - 40, top + 270)
    label = next(app.label for app in APPS if app.package == item.package)
    parts = (
        View(
            Rect(90, top + 18, 990, top + 68),
            TEXT,
            label,
            rid="android:id/app_name_text",
            style=Style(color="#a6a9b4", size=32),
        ),
        View(
            Rect(90, top + 70, 990, top + 134),
            TEXT,
            item.title,
            rid="android:id/title",
            style=Style(color="#ffffff", size=44, bold=True),
        ),
        View(
            Rect(90, top + 136, 990, top + 256),
            TEXT,
            item.text,
            rid="android:id/text",
            style=Style(color="#d6d8df", size=38, valign="top"),
        ),
    )
    return View(
        place,
        FRAME,
        rid="expandableNotificationRow",
        children=parts,
        on_click=lambda: _open(state, item),
        style=Style(fill="#242934", radius=48),
    )


def _open(state: PhoneState, item: Notification) -> None:
    state.shade = ""
    thread = next((each for each in state.threads if each.name == item.thread), None)
    if thread is not None:
        state.notifications.remove(item)
        state.dismissed.append(item.package)
        main = next(app for app in APPS if app.package == MESSAGES).activities[0]
        state.launch(MESSAGES, main)
        thread.unread = False
        state.open(conversation_screen(thread))
