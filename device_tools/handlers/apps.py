"""Apps: open, close, list, links, what is in front."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from device_tools import apps
from device_tools.result import ToolResult, done
from device_tools.session import ScreenSession

Arguments = Mapping[str, Any]


def open_app(session: ScreenSession, arguments: Arguments) -> ToolResult:
    app, front = apps.open_app(session.phone, session.ui, arguments["app"])
    question = "" if front == app.package else f"; {front} asks a question first"
    return done(f"opened {app.name} ({app.package}){question}", package=app.package)


def close_app(session: ScreenSession, arguments: Arguments) -> ToolResult:
    app = apps.close_app(session.phone, session.ui, arguments["app"])
    return done(f"closed {app.name} ({app.package})", package=app.package)


def list_apps(session: ScreenSession, arguments: Arguments) -> ToolResult:
    found = apps.list_apps(session.phone, arguments.get("query", ""))
    versions = apps.versions(session.phone)
    rows = [
        {"name": app.name, "package": app.package, "version_code": versions.get(app.package)}
        for app in found
    ]
    text = "\n".join(
        f"{row['name']} ({row['package']}) version code {row['version_code'] or 'unknown'}"
        for row in rows
    )
    return done(text or "no app matches", apps=rows)


def open_url(session: ScreenSession, arguments: Arguments) -> ToolResult:
    front = apps.open_url(session.phone, session.ui, arguments["url"])
    return done(f"opened the link; {front} is in front", package=front)


def current_app(session: ScreenSession, _arguments: Arguments) -> ToolResult:
    focus = session.focus.read()
    return done(str(focus), package=focus.package, activity=focus.activity)
