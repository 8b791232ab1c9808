"""Settings: a home list longer than the screen and several levels below it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from device_tools.virtual.apps.packages import APPS
from device_tools.virtual.state import WIDTH, PhoneState, Screen
from device_tools.virtual.views.theme import Theme
from device_tools.virtual.views.view import SEEK_BAR, Rect, Style, View, Window
from device_tools.virtual.views.widgets import Page, Row, header, paragraph, row, text_button

PACKAGE = "com.android.settings"
_HOME = (
    ("Network & internet", "Mobile, Wi-Fi, airplane mode", "network"),
    ("Connected devices", "Bluetooth, pairing", "devices"),
    ("Apps", "Installed apps, permissions", "apps"),
    ("Notifications", "Notification history, conversations", "notifications"),
    ("Battery", "", "battery"),
    ("Storage", "38% used - 79.4 GB free", "storage"),
    ("Sound & vibration", "Volume, haptics, Do Not Disturb", "sound"),
    ("Display", "Dark theme, font size, brightness", "display"),
    ("Wallpaper & style", "Colors, themed icons, app grid", "wallpaper"),
    ("Accessibility", "Display, interaction, audio", "accessibility"),
    ("Security & privacy", "App security, device lock, permissions", "security"),
    ("Location", "On", "location"),
    ("Passwords & accounts", "Saved passwords, autofill", "accounts"),
    ("System", "Languages, gestures, time, backup", "system"),
    ("About phone", "Virtual Phone", "about"),
)


def windows(page: Page) -> list[Window]:
    """The home list, or the page named in ``args["page"]``."""
    name = page.screen.args.get("page", "")
    if not name:
        rows = [
            row(title, _home_summary(page.state, title, summary), _opener(page, target), icon=title)
            for title, summary, target in _HOME
        ]
        return [page.window(page.toolbar("Settings", up=False), page.list(rows))]
    title, build = _PAGES[name]
    label = page.screen.args.get("title", title)
    return [page.window(page.toolbar(label), page.list(build(page)))]


def _home_summary(state: PhoneState, title: str, summary: str) -> str:
    return f"{state.battery}%" if title == "Battery" else summary


def _opener(page: Page, target: str, **args: str) -> Callable[[], None]:
    screen = Screen(PACKAGE, ".SubSettings", {"page": target, **args})
    return lambda: page.state.open(screen)


def _toggle(page: Page, key: str, table: str = "global") -> Callable[[], None]:
    return lambda: page.state.set_flag(key, not page.state.flag(key, table), table)


def _switch(
    page: Page, title: str, key: str, table: str = "global", summary: str = "", icon: str = ""
) -> Row:
    click = _toggle(page, key, table)
    return row(title, summary, click, on=page.state.flag(key, table), icon=icon)


def _network(page: Page) -> Sequence[Row]:
    internet = "AndroidWifi" if page.state.wifi else "Wi-Fi is off"
    return [
        row("Internet", internet, _opener(page, "internet")),
        row("SIMs", "Bridge Mobile", _opener(page, "sims")),
        row("Airplane mode", "", lambda: set_airplane(page.state), on=_airplane(page.state)),
        row("Hotspot & tethering", "Off", _opener(page, "hotspot")),
    ]


def _airplane(state: PhoneState) -> bool:
    return state.flag("airplane_mode_on")


def set_airplane(state: PhoneState, on: bool | None = None) -> None:
    """Airplane mode takes the radios with it; None toggles."""
    on = not _airplane(state) if on is None else on
    state.set_flag("airplane_mode_on", on)
    for radio in ("wifi_on", "bluetooth_on"):
        state.set_flag(radio, not on)


def _internet(page: Page) -> Sequence[Row]:
    rows = [_switch(page, "Wi-Fi", "wifi_on")]
    if page.state.wifi:
        rows += [
            row("AndroidWifi", "Connected", _opener(page, "wifi_details"), icon="A"),
            row("Cafe, Bar", "Secured network", icon="C"),
            row("Home 5G", "Secured network", icon="H"),
        ]
    else:
        rows.append(paragraph("To see available networks, turn Wi-Fi on", 160))
    rows.append(_switch(page, "Mobile data", "mobile_data", summary="Bridge Mobile"))
    return rows


def _wifi_details(page: Page) -> Sequence[Row]:
    return [
        row("AndroidWifi", "Connected" if page.state.wifi else "Not connected"),
        row("Signal strength", "Excellent"),
        row("Frequency", "5 GHz"),
        row("IP address", "10.0.2.16"),
        row("Security", "WPA2-Personal"),
    ]


def _devices(page: Page) -> Sequence[Row]:
    on = page.state.flag("bluetooth_on")
    rows = [_switch(page, "Bluetooth", "bluetooth_on", summary="On" if on else "Off")]
    if on:
        rows += [header("Saved devices"), row("Headphones X2", "Not connected", icon="X")]
    return rows


def _display(page: Page) -> Sequence[Row]:
    state = page.state
    return [
        header("Brightness"),
        _brightness(page),
        row("Screen timeout", "After 10 minutes of inactivity"),
        header("Appearance"),
        row(
            "Dark theme",
            "On" if state.dark else "Off",
            lambda: set_dark(state, not state.dark),
            on=state.dark,
        ),
        row("Font size", "Default"),
        _switch(page, "Auto-rotate screen", "accelerometer_rotation", "system"),
    ]


def set_dark(state: PhoneState, on: bool) -> None:
    state.settings["secure"]["ui_night_mode"] = "2" if on else "1"


def _brightness(page: Page) -> Row:
    system = page.state.settings["system"]
    value = min(255, page.state.number("screen_brightness")) / 255

    def build(place: Rect, look: Theme) -> View:
        area = Rect(48, place.top + 20, WIDTH - 48, place.bottom - 20)

        def set_value(x: float, _y: float) -> None:
            part = (x - area.left - 40) / (area.width - 80)
            system["screen_brightness"] = str(round(255 * min(1.0, max(0.0, part))))

        return View(
            area,
            SEEK_BAR,
            rid="slider",
            desc="Brightness level",
            value=value,
            on_point=set_value,
            style=Style(icon="slider", color=look.accent),
        )

    return 160, build


def _apps(page: Page) -> Sequence[Row]:
    shown = [app for app in APPS if app.launchable and app.package not in page.state.removed]
    return [header("All apps")] + [
        row(
            app.label,
            app.package,
            _opener(page, "app", title=app.label, app=app.package),
            icon=app.label,
        )
        for app in sorted(shown, key=lambda app: app.label)
    ]


def _app(page: Page) -> Sequence[Row]:
    app = next(app for app in APPS if app.package == page.screen.args["app"])
    granted = [name for package, name in page.state.granted if package == app.package]

    def build(place: Rect, look: Theme) -> View:
        return View(
            place,
            "android.view.ViewGroup",
            children=(
                text_button(
                    Rect(66, place.top + 20, 520, place.bottom - 20),
                    "Open",
                    lambda: _open_app(page),
                    look,
                ),
                text_button(
                    Rect(560, place.top + 20, 1014, place.bottom - 20),
                    "Force stop",
                    lambda: page.state.stop(app.package),
                    look,
                ),
            ),
        )

    return [
        (160, build),
        row("Version", app.version),
        row("Package", app.package),
        row("Permissions", f"{len(granted)} permissions allowed"),
    ]


def _open_app(page: Page) -> None:
    app = next(app for app in APPS if app.package == page.screen.args["app"])
    page.state.launch(app.package, app.activities[0])


def _about(page: Page) -> Sequence[Row]:
    props = page.state.properties
    return [
        row("Device name", page.state.settings["global"].get("device_name", "")),
        header("Device details"),
        row("Model", props["ro.product.model"]),
        row("Serial number", props["ro.serialno"]),
        row("Android version", props["ro.build.version.release"]),
        row("Build number", props["ro.build.id"]),
        row("IP address", "10.0.2.16" if page.state.wifi else "Unavailable"),
        row("Wi-Fi MAC address", "02:00:00:44:55:66"),
        row("Up time", "3:12:44"),
    ]


def _facts(*facts: tuple[str, str]) -> Callable[[Page], Sequence[Row]]:
    return lambda _page: [row(title, summary) for title, summary in facts]


def _system(page: Page) -> Sequence[Row]:
    return [
        row("Languages", "English (United States)"),
        row("Keyboard", "Android Keyboard"),
        _switch(page, "Set time automatically", "auto_time"),
    ]


def _accessibility(page: Page) -> Sequence[Row]:
    return [
        row("Text size", "Default"),
        _switch(page, "Show touches", "show_touches", "system"),
        _switch(page, "Vibration", "haptic_feedback_enabled", "system"),
    ]


def _location(page: Page) -> Sequence[Row]:
    on = page.state.flag("location_mode", "secure")

    def toggle() -> None:
        page.state.settings["secure"]["location_mode"] = "0" if on else "3"

    return [row("Use location", "", toggle, on=on)]


def _battery(page: Page) -> Sequence[Row]:
    return [
        row(f"{page.state.battery}%", "Charging" if page.state.charging else "Not charging"),
        row("Battery health", "Good"),
    ]


_PAGES: dict[str, tuple[str, Callable[[Page], Sequence[Row]]]] = {
    "network": ("Network & internet", _network),
    "internet": ("Internet", _internet),
    "wifi_details": ("Network details", _wifi_details),
    "sims": ("SIMs", _facts(("Bridge Mobile", "SIM 1, active"))),
    "hotspot": ("Hotspot & tethering", _facts(("Wi-Fi hotspot", "Off"), ("USB tethering", "Off"))),
    "devices": ("Connected devices", _devices),
    "apps": ("Apps", _apps),
    "app": ("App info", _app),
    "notifications": ("Notifications", _facts(("App notifications", "On for all apps"))),
    "battery": ("Battery", _battery),
    "storage": ("Storage", _facts(("Apps", "21.3 GB"), ("Images", "9.8 GB"), ("System", "17 GB"))),
    "sound": ("Sound & vibration", _facts(("Ring volume", "70%"), ("Do Not Disturb", "Off"))),
    "display": ("Display", _display),
    "wallpaper": ("Wallpaper & style", _facts(("Wallpaper", "Blue"), ("App grid", "4 x 5"))),
    "accessibility": ("Accessibility", _accessibility),
    "security": ("Security & privacy", _facts(("Screen lock", "None"), ("Fingerprint", "Off"))),
    "location": ("Location", _location),
    "accounts": (
        "Passwords & accounts",
        _facts(
            ("Passwords", "0 saved"),
        ),
    ),
    "system": ("System", _system),
    "about": ("About phone", _about),
}
