"""Apps by name: which are installed, which one is meant, and bringing it to the front."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from device_tools import limits
from device_tools.adb import AdbPhone
from device_tools.errors import ActionRefused, Outcome
from device_tools.ui_server import UiServer

_POLL_SECONDS = 0.1
_QUESTIONS = ("permissioncontroller", "packageinstaller")
_COMPONENT = re.compile(r"^\s*([A-Za-z][\w.]*)/([\w.$]+)\s*$", re.MULTILINE)
_CLOSED_SCHEMES = {"file", "content", "intent", "javascript", "data", "android-app"}
_PACKAGE = re.compile(r"[A-Za-z]\w*(\.\w+)+")
_QUERY = (
    "cmd", "package", "query-activities", "--brief",
    "-a", "android.intent.action.MAIN", "-c", "android.intent.category.LAUNCHER",
)  # fmt: skip

# what people call an app, in a few languages -> what its package contains, best guess first
_KNOWN: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("settings", "设置", "einstellungen", "ajustes", "réglages"), ("settings",)),
    (
        ("messages", "messaging", "sms", "短信", "信息", "nachrichten", "mensajes"),
        ("messaging", "messages", "mms", "sms"),
    ),
    (("contacts", "people", "联系人", "通讯录", "kontakte", "contactos"), ("contacts",)),
    (("notes", "note", "memo", "备忘录", "便签", "notizen", "notas"), ("notes", "keep", "memo")),
    (("browser", "internet", "浏览器", "navegador"), ("browser", "chrome", "firefox")),
    (("chrome",), ("chrome",)),
    (("camera", "相机", "kamera", "cámara"), ("camera",)),
    (("clock", "alarm", "时钟", "闹钟", "uhr", "reloj"), ("deskclock", "clock")),
    (("calculator", "计算器", "rechner", "calculadora"), ("calculator", "calc")),
    (("calendar", "日历", "kalender", "calendario"), ("calendar",)),
    (("phone", "dialer", "电话", "telefon", "teléfono"), ("dialer", "phone")),
    (("gallery", "photos", "图库", "相册", "galerie", "fotos"), ("photos", "gallery")),
    (("files", "文件", "dateien", "archivos"), ("documentsui", "files", "filemanager")),
    (("play store", "store", "应用商店"), ("vending",)),
    (("maps", "地图", "karten", "mapas"), ("maps",)),
    (("email", "mail", "gmail", "邮件", "correo"), ("gm", "email", "mail")),
)
_COMMON_WORDS = {"com", "org", "net", "android", "google", "app", "apps", "mobile", "example"}


@dataclass(frozen=True)
class App:
    """An installed app that a launcher would show; ``name`` is derived from the package."""

    package: str
    activity: str
    name: str

    @property
    def component(self) -> str:
        return f"{self.package}/{self.activity}"


def list_apps(phone: AdbPhone, query: str = "") -> tuple[App, ...]:
    """Launchable apps, by name; ``query`` keeps those with it in the name or package.

    Raises:
        ActionRefused: the phone does not answer the question.
    """
    result = phone.shell(_QUERY)
    found = dict.fromkeys(_COMPONENT.findall(result.stdout.decode("utf-8", "replace")))
    if result.code != 0 or not found:
        raise ActionRefused(f"the phone does not list its apps: {result.text.strip()[:200]}")
    apps = [App(package, activity, _name(package)) for package, activity in found]
    needle = query.strip().casefold()
    kept = [app for app in apps if needle in app.name.casefold() or needle in app.package.lower()]
    if needle and not kept:
        kept = list(_named(needle, apps))
    return tuple(sorted(kept, key=lambda app: (app.name.casefold(), app.package)))


def open_app(phone: AdbPhone, ui: UiServer, wanted: str) -> tuple[App, str]:
    """Start the app called ``wanted`` (a name or package) and see it come to the front.

    Returns the app and the package in front: the app's, or the one of Android's own dialog that
    asks for a permission before the app goes on.

    Raises:
        ActionRefused: unknown, ambiguous, refused by Android, or (UNKNOWN) not in front in time.
    """
    app = find_app(wanted, list_apps(phone))
    command = [
        "am", "start", "-a", "android.intent.action.MAIN",
        "-c", "android.intent.category.LAUNCHER", "-n", app.component,
    ]  # fmt: skip
    result = phone.shell(command, limit=limits.APP_START)
    said = " ".join(result.text.split())[:300]
    if result.code != 0 or "Error" in said or "Exception" in said:
        raise ActionRefused(f"{app.component} did not start: {said}")
    return app, _wait_in_front(phone, ui, app, said)


def close_app(phone: AdbPhone, ui: UiServer, wanted: str) -> App:
    """Stop an app with all it does in the background, and see that it is not in front any more.

    Raises:
        ActionRefused: unknown, ambiguous, or (UNKNOWN) still in front.
    """
    app = find_app(wanted, list_apps(phone))
    result = phone.shell(["am", "force-stop", app.package], limit=limits.APP_START)
    if result.code != 0:
        said = " ".join(result.text.split())[:300]
        raise ActionRefused(f"{app.package} was not stopped: {said}", outcome=Outcome.UNKNOWN)
    end = time.monotonic() + limits.APP_IN_FRONT.seconds
    while ui.device_info().get("currentPackageName") == app.package:
        if time.monotonic() >= end:
            raise ActionRefused(
                f"{app.package} was stopped and is still in front", outcome=Outcome.UNKNOWN
            )
        phone.cancel.wait(_POLL_SECONDS)
    return app


def open_url(phone: AdbPhone, ui: UiServer, url: str) -> str:
    """Hand a link to the app that answers it; the package in front afterwards.

    Raises:
        ActionRefused: no app answers it, or Android refused.
    """
    if url.partition(":")[0].lower() in _CLOSED_SCHEMES:
        raise ActionRefused(f"links of this kind are not opened: {url[:60]!r}")
    view = ["-a", "android.intent.action.VIEW", "-d", url]
    asked = phone.shell(["cmd", "package", "resolve-activity", "--brief", *view])
    if "No activity found" in asked.text:
        raise ActionRefused(f"no app on this phone opens {url!r}")
    result = phone.shell(["am", "start", *view], limit=limits.APP_START)
    said = " ".join(result.text.split())[:300]
    if result.code != 0 or "Error" in said or "Exception" in said:
        raise ActionRefused(f"the link did not open: {said}")
    return str(ui.device_info().get("currentPackageName") or "nothing")


_VERSION = re.compile(r"^package:([\w.]+) versionCode:(\d+)", re.MULTILINE)


def versions(phone: AdbPhone) -> dict[str, int]:
    """Version code by package. Android 8 and newer; empty where the phone does not tell."""
    result = phone.shell(["pm", "list", "packages", "--show-versioncode"])
    return {package: int(code) for package, code in _VERSION.findall(result.text)}


def _wait_in_front(phone: AdbPhone, ui: UiServer, app: App, said: str) -> str:
    end = time.monotonic() + limits.APP_IN_FRONT.seconds
    front = ""
    while time.monotonic() < end:
        front = str(ui.device_info().get("currentPackageName") or "")
        if front == app.package or front.endswith(_QUESTIONS):
            return front
        phone.cancel.wait(_POLL_SECONDS)
    raise ActionRefused(
        f"{app.package} was started but {front or 'nothing'} is in front ({said})",
        advice="observe the screen",
        outcome=Outcome.UNKNOWN,
    )


def find_app(wanted: str, apps: Sequence[App]) -> App:
    """The one app that is meant.

    Raises:
        ActionRefused: none or several match; the advice lists candidates.
    """
    name = " ".join(wanted.split()).casefold()
    for app in apps:
        if app.package.lower() == name:
            return app
    if _PACKAGE.fullmatch(name):
        raise ActionRefused(f"{wanted} is not installed", advice=_candidates(apps))
    matches = _named(name, apps)
    if len(matches) == 1:
        return matches[0]
    if not matches:
        raise ActionRefused(f"no app is called {wanted!r}", advice=_candidates(apps))
    raise ActionRefused(f"several apps match {wanted!r}", advice=_candidates(matches))


def _named(name: str, apps: Sequence[App]) -> tuple[App, ...]:
    """Best matches first found: its derived name, a well-known name, a part of the package."""
    exact = tuple(app for app in apps if app.name.casefold() == name)
    if exact:
        return exact
    for names, parts in _KNOWN:
        if name in names:
            for part in parts:
                found = tuple(app for app in apps if part in app.package.lower().split("."))
                found = found or tuple(app for app in apps if part in app.package.lower())
                if found:
                    return found
    compact = name.replace(" ", "")
    return tuple(app for app in apps if compact and compact in app.package.lower())


def _candidates(apps: Sequence[App]) -> str:
    listed = ", ".join(f"{app.name} ({app.package})" for app in apps[:30])
    more = f" and {len(apps) - 30} more" if len(apps) > 30 else ""
    return f"apps: {listed}{more}"


def _name(package: str) -> str:
    """Android tells labels only to apps; the most telling word of the package stands in."""
    words = package.split(".")
    for names, parts in _KNOWN:
        if any(part in words for part in parts):
            return names[0].title()
    telling = [word for word in words if word.lower() not in _COMMON_WORDS] or words
    return telling[-1].replace("_", " ").capitalize()
