"""Which function draws which package, and how a component is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from device_tools.virtual.apps import browser, contacts, launcher, messages, notes, permission
from device_tools.virtual.apps import settings as settings_app
from device_tools.virtual.apps.packages import APPS, App
from device_tools.virtual.state import PhoneState, Screen
from device_tools.virtual.views.view import Window
from device_tools.virtual.views.widgets import Page

__all__ = ["APPS", "App", "app_windows", "installed", "resolve"]

_DRAW: dict[str, Callable[[Page], list[Window]]] = {
    launcher.PACKAGE: launcher.windows,
    settings_app.PACKAGE: settings_app.windows,
    messages.PACKAGE: messages.windows,
    notes.PACKAGE: notes.windows,
    contacts.PACKAGE: contacts.windows,
    browser.PACKAGE: browser.windows,
    permission.PACKAGE: permission.windows,
}


def app_windows(state: PhoneState) -> list[Window]:
    """The windows of the foreground app, bottom to top; a permission dialog floats over the app
    that asked for it."""
    screens = state.tasks[-1].screens
    shown = [screens[-1]]
    while shown[0].package == permission.PACKAGE and len(screens) > len(shown):
        shown.insert(0, screens[-len(shown) - 1])
    return [window for screen in shown for window in _draw(state, screen)]


def _draw(state: PhoneState, screen: Screen) -> list[Window]:
    return _DRAW[screen.package](Page(state, screen))


@dataclass(frozen=True)
class Resolved:
    """An activity that exists; ``activity`` in the form the app draws it by."""

    app: App
    activity: str


def installed(state: PhoneState) -> list[App]:
    return [app for app in APPS if app.package not in state.removed]


def resolve(state: PhoneState, component: str) -> Resolved | None:
    """Find ``package/.Class`` or ``package/full.Class``; None when there is no such activity."""
    package, _, name = component.partition("/")
    for app in installed(state):
        for activity in app.activities + app.private:
            if app.package == package and name in (activity, _full(package, activity)):
                return Resolved(app, activity)
    return None


def _full(package: str, activity: str) -> str:
    return package + activity if activity.startswith(".") else activity
