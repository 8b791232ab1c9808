"""``pm`` / ``cmd package``: list, path, resolve-activity, query-activities, clear, grant, ..."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from device_tools.virtual.apps.packages import App
from device_tools.virtual.apps.registry import installed
from device_tools.virtual.framework.reply import fail, fail_out, option, out
from device_tools.virtual.ports import CommandResult
from device_tools.virtual.ui.screen import TouchScreen

_MATCH = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true"
_LISTS = {
    "features": ("feature:android.hardware.touchscreen", "feature:android.hardware.wifi"),
    "users": ("Users:", "\tUserInfo{0:Owner:c13} running"),
    "libraries": ("library:android.test.base",),
}


def pm(screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    """Unknown sub-commands are refused as on Android."""
    verb, rest = (args[0], list(args[1:])) if args else ("", [])
    handler = _VERBS.get(verb)
    if handler is None:
        return fail(f"Unknown command: {verb}" if verb else "Package manager (package) commands:")
    return handler(screen, rest)


def _list(screen: TouchScreen, args: list[str]) -> CommandResult:
    kind, options = (args[0], args[1:]) if args else ("", [])
    if kind in _LISTS:
        return out("\n".join(_LISTS[kind]))
    if kind not in ("packages", "package"):
        return fail(f"Error: unknown list type '{kind}'", 255)
    wanted = [word for word in options if not word.startswith("-") and word != ""]
    apps = [
        app for app in installed(screen.state) if _wanted(app, options, wanted, screen.state.frozen)
    ]
    return out("\n".join(_line(app, options) for app in apps))


def _wanted(app: App, options: Sequence[str], names: Sequence[str], frozen: set[str]) -> bool:
    if ("-3" in options and app.system) or ("-s" in options and not app.system):
        return False
    if "-d" in options and app.package not in frozen:
        return False
    return all(name in app.package for name in names)


def _line(app: App, options: Sequence[str]) -> str:
    text = f"package:{app.path}={app.package}" if "-f" in options else f"package:{app.package}"
    if "--show-versioncode" in options:
        text += f" versionCode:{app.version_code}"
    return f"{text} uid:{app.uid}" if "-U" in options else text


def _find(screen: TouchScreen, args: Sequence[str]) -> App | None:
    name = args[-1] if args else ""
    return next((app for app in installed(screen.state) if app.package == name), None)


def _path(screen: TouchScreen, args: list[str]) -> CommandResult:
    app = _find(screen, args)
    return out(f"package:{app.path}") if app else CommandResult(code=1)


def _launchers(screen: TouchScreen, args: list[str]) -> list[App]:
    package = option(args, "-p") or next(
        (word for word in args[-1:] if "." in word and not word.startswith("android.intent")), None
    )
    return [
        app
        for app in installed(screen.state)
        if app.launchable
        and package in (None, app.package)
        and app.package not in screen.state.frozen
    ]


def _resolve(screen: TouchScreen, args: list[str]) -> CommandResult:
    apps = _launchers(screen, args)
    if not apps:
        return out("No activity found")
    app = apps[0]
    if "--brief" in args:
        return out(f"{_MATCH}\n{app.package}/{app.activities[0]}")
    return out(f"{_MATCH}\n{_activity_info(app, '  ')}")


def _query(screen: TouchScreen, args: list[str]) -> CommandResult:
    apps = _launchers(screen, args)
    if not apps:
        return out("No activities found")
    noun = "activity" if len(apps) == 1 else "activities"
    lines = [f"{len(apps)} {noun} found:"]
    for number, app in enumerate(apps):
        lines += [f"  Activity #{number}:", f"    {_MATCH}"]
        brief = "--brief" in args
        lines.append(
            f"    {app.package}/{app.activities[0]}" if brief else _activity_info(app, "    ")
        )
    return out("\n".join(lines))


def _activity_info(app: App, pad: str) -> str:
    """Labels are resources, so they read as numbers here: the launcher shows their text."""
    name = app.activities[0]
    full = app.package + name if name.startswith(".") else name
    lines = [
        "ActivityInfo:",
        f"  name={full}",
        f"  packageName={app.package}",
        "  labelRes=0x7f100000 nonLocalizedLabel=null icon=0x7f0d0000 banner=0x0",
        "  enabled=true exported=true directBootAware=false",
    ]
    return "\n".join(pad + line for line in lines)


def _clear(screen: TouchScreen, args: list[str]) -> CommandResult:
    app = _find(screen, args)
    if app is None:
        return fail_out("Failed")
    state = screen.state
    state.stop(app.package)
    state.granted = {key for key in state.granted if key[0] != app.package}
    state.asked = {key for key in state.asked if key[0] != app.package}
    if app.package == "com.example.notes":
        state.notes.clear()
    return out("Success")


def _uninstall(screen: TouchScreen, args: list[str]) -> CommandResult:
    app = _find(screen, args)
    if app is None:
        return fail_out("Failure [not installed for 0]")
    if app.system:
        return fail_out("Failure [DELETE_FAILED_INTERNAL_ERROR]")
    screen.state.stop(app.package)
    screen.state.removed.add(app.package)
    return out("Success")


def _install(_screen: TouchScreen, _args: list[str]) -> CommandResult:
    """Apps cannot be added to the virtual phone; the text is that of phones that forbid it."""
    return fail_out("Failure [INSTALL_FAILED_USER_RESTRICTED: Install canceled by user]")


def _freeze(frozen: bool) -> Callable[[TouchScreen, list[str]], CommandResult]:
    """``disable-user [--user 0] PACKAGE`` and ``enable PACKAGE``."""

    def run(screen: TouchScreen, args: list[str]) -> CommandResult:
        app = _find(screen, args)
        if app is None:
            text = (
                f"java.lang.IllegalArgumentException: Unknown package: {args[-1] if args else ''}"
            )
            return fail(f"Error: {text}", 1)
        if frozen:
            screen.state.stop(app.package)
            screen.state.frozen.add(app.package)
        else:
            screen.state.frozen.discard(app.package)
        return out(f"Package {app.package} new state: {'disabled-user' if frozen else 'enabled'}")

    return run


def _permission(granted: bool) -> Callable[[TouchScreen, list[str]], CommandResult]:
    def run(screen: TouchScreen, args: list[str]) -> CommandResult:
        package, name = [*args, "", ""][:2]
        app = _find(screen, [package])
        if app is None or name not in app.permissions:
            return fail(
                "\nException occurred while executing 'grant':\njava.lang."
                f"IllegalArgumentException: Unknown package or permission: {package} {name}",
                255,
            )
        if granted:
            screen.state.granted.add((package, name))
        else:
            screen.state.granted.discard((package, name))
        return out()

    return run


_VERBS: dict[str, Callable[[TouchScreen, list[str]], CommandResult]] = {
    "list": _list,
    "path": _path,
    "resolve-activity": _resolve,
    "query-activities": _query,
    "clear": _clear,
    "uninstall": _uninstall,
    "install": _install,
    "disable-user": _freeze(True),
    "enable": _freeze(False),
    "grant": _permission(True),
    "revoke": _permission(False),
}
