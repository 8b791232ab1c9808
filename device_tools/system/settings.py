"""Android's settings, and the two radios that have switches of their own. What was written is
read back: only the value the phone then tells counts as done."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from device_tools import limits
from device_tools.adb import AdbPhone
from device_tools.errors import ActionRefused, NotAvailable, Outcome
from device_tools.result import ToolResult, done
from device_tools.system.ask import ask, one_line, order

_POLL_SECONDS = 0.2
# newest form first; older phones know only svc
_SWITCHES: Mapping[str, tuple[tuple[tuple[str, ...], tuple[str, str]], ...]] = {
    "wifi": (
        (("cmd", "wifi", "set-wifi-enabled"), ("disabled", "enabled")),
        (("svc", "wifi"), ("disable", "enable")),
    ),
    "bluetooth": (
        (("cmd", "bluetooth_manager"), ("disable", "enable")),
        (("svc", "bluetooth"), ("disable", "enable")),
    ),
}


def read_setting(phone: AdbPhone, namespace: str, key: str) -> str | None:
    """The value, None when it is not set. A final newline is the command's own."""
    value = ask(phone, "settings", "get", namespace, key).removesuffix("\n")
    return None if value == "null" else value


def get_setting(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    namespace, key = arguments["namespace"], arguments["key"]
    value = read_setting(phone, namespace, key)
    text = f"{namespace} {key} is not set" if value is None else one_line(value, 4000)
    return done(text, value=value)


def set_setting(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    namespace, key, value = arguments["namespace"], arguments["key"], arguments["value"]
    if value.startswith("--"):
        # the command would take it for an option
        raise ActionRefused("a value cannot begin with two dashes")
    before = read_setting(phone, namespace, key)
    order(phone, "settings", "put", namespace, key, value)
    now = read_setting(phone, namespace, key)
    if (now or "") != value:
        raise ActionRefused(
            f"{namespace} {key} reads {now!r} after it was written",
            advice="Android may have refused or corrected the value",
            outcome=Outcome.UNKNOWN,
        )
    return done(f"{namespace} {key} is now {value!r}, it was {before!r}", before=before, value=now)


def set_device_state(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    device, on = arguments["device"], arguments["on"]
    word = "on" if on else "off"
    if _is_on(phone, device) is on:
        return done(f"{device} was {word} already", changed=False)
    _switch(phone, device, on)
    end = time.monotonic() + limits.SWITCHED.seconds
    while _is_on(phone, device) is not on:
        if time.monotonic() >= end:
            raise ActionRefused(
                f"{device} is not {word} after {limits.SWITCHED.seconds:g} s",
                advice="look at the screen: the phone may ask its user",
                outcome=Outcome.UNKNOWN,
            )
        phone.cancel.wait(_POLL_SECONDS)
    return done(f"{device} is {word}", changed=True)


def _is_on(phone: AdbPhone, device: str) -> bool:
    # 2 is "on, in spite of airplane mode"
    return (read_setting(phone, "global", f"{device}_on") or "0") in ("1", "2")


def _switch(phone: AdbPhone, device: str, on: bool) -> None:
    reasons = []
    for command, words in _SWITCHES[device]:
        try:
            order(phone, *command, words[on])
            return
        except (NotAvailable, ActionRefused) as error:
            reasons.append(error.message)
    raise NotAvailable(f"this phone does not let adb switch {device}: {'; '.join(reasons)}")
