"""The checks of ``bridge doctor``: each says what it found and what would repair it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass

from bridge import config
from bridge.plan import provider_settings
from device_tools.adb_server import (
    AdbAddress,
    DeviceEntry,
    list_devices,
    not_ready,
    server_version,
)
from device_tools.cancel import CancelScope
from device_tools.errors import BridgeError

SHELL_PARTS = ("unshare", "newuidmap", "mksh", "toybox")


@dataclass(frozen=True)
class Check:
    """``ok`` False is a fault; ``fix`` says what to do ("" when nothing)."""

    name: str
    ok: bool
    text: str
    fix: str = ""


def examine() -> Iterator[Check]:
    """All checks, one after another, so that a slow one hides none before it."""
    address, cancel = AdbAddress.default(), CancelScope()
    yield _adb_binary()
    yield from _phones(address, cancel)
    yield from _virtual_phones()
    yield _provider()
    yield _home()
    yield _virtual_shell()


def _fault(name: str, error: BridgeError) -> Check:
    return Check(name, False, error.message, error.advice)


def _adb_binary() -> Check:
    from device_tools.adb import find_adb

    try:
        return Check("adb", True, find_adb())
    except BridgeError as error:
        return _fault("adb", error)


def _phones(address: AdbAddress, cancel: CancelScope) -> Iterator[Check]:
    try:
        version = server_version(address, cancel)
    except BridgeError:
        # a run starts one when it needs one; the virtual phone has its own
        yield Check("adb server", True, f"none runs at {address}", "started when a phone is used")
        return
    yield Check("adb server", True, f"version {version} at {address}")
    entries = list_devices(address, cancel)
    if not entries:
        yield Check("phone", True, "none attached", "attach one, or use --device virtual")
    for entry in entries:
        yield _phone(entry, address, cancel)


def _virtual_phones() -> Iterator[Check]:
    from device_tools.virtual import launcher

    for handle in launcher.list_running(config.home_folder()):
        text = f"virtual, ready; use it with --device {handle.name}"
        yield Check(f"phone {handle.serial}", True, text)


def _home() -> Check:
    home = config.home_folder()
    place = next(path for path in (home, *home.parents) if path.exists())
    if place.is_dir() and os.access(place, os.W_OK | os.X_OK):
        return Check("home folder", True, str(home))
    fix = "make it writable, or name another folder with BRIDGE_HOME"
    return Check("home folder", False, f"{home} cannot be written", fix)


def _phone(entry: DeviceEntry, address: AdbAddress, cancel: CancelScope) -> Check:
    name = f"phone {entry.serial}"
    if entry.state != "device":
        return _fault(name, not_ready(entry.serial, entry.state))
    from device_tools.executor import open_phone_tools

    try:
        with open_phone_tools(entry.serial, address, cancel):
            return Check(name, True, "ready, uiautomator2 answers")
    except BridgeError as error:
        return _fault(name, error)


def _provider() -> Check:
    from bridge.providers.settings import key_of, resolve

    try:
        settings = config.load().settings
        if settings.provider is None and settings.base_url is None:
            return Check("provider", True, "none configured", "try --provider demo")
        chosen = resolve(provider_settings(settings))
        key = key_of(chosen, os.environ)
    except BridgeError as error:
        return _fault("provider", error)
    text = f"{chosen.profile.name} ({chosen.wire}, {chosen.protocol}), model {chosen.model}"
    return Check("provider", True, f"{text}, key from {key.source}" if key else text)


def _virtual_shell() -> Check:
    missing = [part for part in SHELL_PARTS if shutil.which(part) is None]
    if not missing:
        return Check("virtual phone's shell", True, "all parts found")
    return Check(
        "virtual phone's shell",
        True,
        f"not available, the screen works without it; missing: {', '.join(missing)}",
        "on Debian: apt install mksh toybox uidmap",
    )
