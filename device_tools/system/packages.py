"""Apps as packages: stop, freeze, install, remove. What the phone lists afterwards counts."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from device_tools import limits
from device_tools.adb import AdbPhone
from device_tools.errors import ActionRefused, Outcome
from device_tools.result import ToolResult, done
from device_tools.system.ask import ask, one_line, order
from device_tools.system.files import exchange_file, push

# without these the phone cannot be used, or be repaired over adb
_NEEDED = frozenset(
    {"android", "com.android.systemui", "com.android.shell", "com.android.settings"}
)
_FAILURE = re.compile(r"Failure \[([^\]]*)\]?")
_WHY = {
    "INSTALL_FAILED_USER_RESTRICTED": "allow installing over USB in the developer options",
    "INSTALL_FAILED_VERSION_DOWNGRADE": "a newer version is installed",
    "INSTALL_FAILED_UPDATE_INCOMPATIBLE": "the installed app is signed by somebody else",
    "INSTALL_FAILED_INSUFFICIENT_STORAGE": "free some storage",
    "INSTALL_FAILED_OLDER_SDK": "the app needs a newer Android",
    "INSTALL_FAILED_NO_MATCHING_ABIS": "the app is built for another processor",
    "INSTALL_PARSE_FAILED_NOT_APK": "the file is no APK",
    "DELETE_FAILED_INTERNAL_ERROR": "it is a part of the system: freeze it instead",
    "DELETE_FAILED_DEVICE_POLICY_MANAGER": "a device administrator forbids it",
}


def parse_packages(text: str) -> set[str]:
    """``pm list packages``."""
    return set(re.findall(r"^package:(\S+)$", text, re.MULTILINE))


def parse_failure(text: str) -> tuple[str, str]:
    """(reason, what to do) of ``pm``'s ``Failure [REASON: text]``; "" when there is none."""
    found = _FAILURE.search(text)
    if not found:
        return "", ""
    reason = one_line(found[1], 200)
    return reason, next((why for word, why in _WHY.items() if word in reason), "")


def app_state_control(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    package, action = arguments["package"], arguments["action"]
    _require_installed(phone, package)
    if action == "force_stop":
        order(phone, "am", "force-stop", package)
        return done(f"{package} was stopped")
    if action == "freeze" and package in _NEEDED:
        raise ActionRefused(f"{package} is needed to use this phone; it was not frozen")
    freeze = action == "freeze"
    verb = ("disable-user", "--user", "0") if freeze else ("enable",)
    order(phone, "pm", *verb, package)
    disabled = parse_packages(ask(phone, "pm", "list", "packages", "-d"))
    if (package in disabled) is not freeze:
        raise ActionRefused(
            f"{package} is {'not ' if freeze else 'still '}frozen", outcome=Outcome.UNKNOWN
        )
    return done(f"{package} is {'frozen' if freeze else 'usable again'}")


def install_app(phone: AdbPhone, exchange: Path | None, arguments: Mapping[str, Any]) -> ToolResult:
    source = exchange_file(exchange, arguments["file"])
    target = f"/data/local/tmp/bridge-{secrets.token_hex(6)}.apk"
    try:
        push(phone, source, target)
        result = phone.shell(["pm", "install", "-r", "-t", target], limit=limits.PACKAGE_CHANGE)
    finally:
        phone.shell(["rm", "-f", target])
    _require_success(result.text, f"{source.name} was not installed")
    return done(f"{source.name} was installed")


def uninstall_app(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    package = arguments["package"]
    _require_installed(phone, package)
    if package in _NEEDED:
        raise ActionRefused(f"{package} is needed to use this phone; it was not removed")
    result = phone.shell(["pm", "uninstall", package], limit=limits.PACKAGE_CHANGE)
    _require_success(result.text, f"{package} was not removed")
    return done(f"{package} was removed with its data")


def _require_installed(phone: AdbPhone, package: str) -> None:
    if package not in parse_packages(ask(phone, "pm", "list", "packages")):
        raise ActionRefused(f"{package} is not installed", advice="list_apps tells the packages")


def _require_success(text: str, what: str) -> None:
    """The word counts, not the exit code: pm ends with 0 after some failures."""
    if re.search(r"^Success\b", text, re.MULTILINE):
        return
    reason, advice = parse_failure(text)
    if reason:
        raise ActionRefused(f"{what}: {reason}", advice=advice)
    raise ActionRefused(f"{what}: {one_line(text, 300)}", outcome=Outcome.UNKNOWN)
