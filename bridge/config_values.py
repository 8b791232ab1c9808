"""What a setting may be: one check per name; its message names where the value was written."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from bridge.agent.limits import MAX_TURNS
from bridge.errors import ConfigurationError
from bridge.policy import Ask
from device_tools.schema import RiskGroup

PROTOCOLS = ("ctl-heredoc", "ctl", "native-eos", "native-inc", "xml")
WIRES = ("chat", "responses", "anthropic")
QUIRKS = ("stop-with-calls", "comments-as-data")
THINKING = ("off", "low", "medium", "high")
TABLE_ONLY = ("reasoning", "context_window", "request", "headers")
"""Settings that belong to one provider: they stand in its table of the file and nowhere else."""
PROVIDER_KEYS = (
    "base_url", "model", "wire", "protocol", "quirk", "thinking", "web_search",
    "pictures", "connect_timeout", "first_byte_timeout", "idle_timeout", "answer_timeout",
    *TABLE_ONLY,
)  # fmt: skip
_SECRET_WORDS = ("key", "token", "secret", "password", "auth", "cookie")
_HEADER_NAME = re.compile(r"[A-Za-z0-9-]{1,64}")

Check = Callable[[str, Any, str], Any]
"""(name, value, where it was written) -> the checked value, or ConfigurationError."""


def unknown_setting(name: str, origin: str, known: tuple[str, ...]) -> ConfigurationError:
    """Raised by who reads a table; keys have advice of their own."""
    secret = looks_secret(name)
    return ConfigurationError(
        f"unknown setting {name!r} ({origin})",
        advice="API keys come from the environment or the keyring, never from the configuration: "
        "bridge config key set PROVIDER"
        if secret
        else f"settings: {', '.join(known)}",
    )


def looks_secret(name: str) -> bool:
    """Whether something of this name would hold a secret."""
    return any(word in name.lower() for word in _SECRET_WORDS)


def text(name: str, value: Any, origin: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ConfigurationError(f"setting {name} ({origin}) must be a text")
    return value


def one_of(*choices: str) -> Check:
    def check(name: str, value: Any, origin: str) -> str:
        if text(name, value, origin) not in choices:
            raise ConfigurationError(
                f"{name} ({origin}) cannot be {value!r}", advice=f"one of: {', '.join(choices)}"
            )
        return str(value)

    return check


def ask(name: str, value: Any, origin: str) -> Ask:
    return Ask(one_of(*(choice.value for choice in Ask))(name, value, origin))


def number(name: str, value: Any, origin: str) -> int:
    try:
        whole = int(value) if isinstance(value, str) else value
    except ValueError:
        whole = None
    if not isinstance(whole, int) or isinstance(whole, bool) or whole < 1:
        raise ConfigurationError(f"{name} ({origin}) must be a whole number above 0, not {value!r}")
    return whole


def turns(name: str, value: Any, origin: str) -> int:
    count = number(name, value, origin)
    if count > MAX_TURNS:
        raise ConfigurationError(
            f"{name} ({origin}) is at most {MAX_TURNS}, not {count}",
            advice="the limit can only be lowered",
        )
    return count


def amount(name: str, value: Any, origin: str) -> float:
    try:
        given = float(value) if isinstance(value, str | int | float) else math.nan
    except ValueError:
        given = math.nan
    if isinstance(value, bool) or not 0 < given < math.inf:
        raise ConfigurationError(f"{name} ({origin}) must be a number above 0, not {value!r}")
    return given


def switch(name: str, value: Any, origin: str) -> bool:
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    given = words.get(value.lower()) if isinstance(value, str) else value
    if not isinstance(given, bool):
        raise ConfigurationError(f"{name} ({origin}) must be true or false, not {value!r}")
    return given


def table(name: str, value: Any, origin: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{name} ({origin}) must be a table")
    return value


def request(name: str, value: Any, origin: str) -> Mapping[str, Any]:
    """Additions to a request's JSON; which names are taken is checked where requests are made."""
    given = table(name, value, origin)
    for key in given:
        # "max_tokens" is no secret, an "api_key" would be sent in every body
        if "key" in key.lower() and "cache" not in key.lower():
            raise ConfigurationError(
                f"{name}.{key} ({origin}) looks like a key",
                advice="keys come from the environment or the keyring",
            )
    return given


def headers(name: str, value: Any, origin: str) -> Mapping[str, str]:
    for key, item in table(name, value, origin).items():
        if not _HEADER_NAME.fullmatch(key) or not isinstance(item, str) or not item.isprintable():
            raise ConfigurationError(f"{name}.{key} ({origin}) is no header with a text")
        if looks_secret(key):
            raise ConfigurationError(
                f"{name}.{key} ({origin}) looks like a key",
                advice="keys come from the environment or the keyring",
            )
    return dict(value)


def group_table(name: str, value: Any, origin: str) -> Mapping[RiskGroup, bool]:
    known = {group.value: group for group in RiskGroup}
    if not isinstance(value, Mapping):
        raise ConfigurationError("groups must be a table of group = true or false")
    for group, on in value.items():
        if group not in known or not isinstance(on, bool):
            raise ConfigurationError(
                f"groups.{group} is no switch", advice=f"true or false for: {', '.join(known)}"
            )
    return {known[group]: on for group, on in value.items()}


CHECKS: Mapping[str, Check] = {
    "device": text,
    "provider": text,
    "model": text,
    "base_url": text,
    "wire": one_of(*WIRES),
    "protocol": one_of(*PROTOCOLS),
    "quirk": one_of(*QUIRKS),
    "thinking": one_of(*THINKING),
    "web_search": switch,
    "pictures": switch,
    "reasoning": switch,
    "context_window": number,
    "request": request,
    "headers": headers,
    "connect_timeout": amount,
    "first_byte_timeout": amount,
    "idle_timeout": amount,
    "answer_timeout": amount,
    "record": text,
    "debug_http": text,
    "max_turns": turns,
    "max_minutes": amount,
    "max_tokens": number,
    "max_cost": amount,
    "max_output_tokens": number,
    "ask": ask,
    "adb_root": switch,
    "groups": group_table,
}
"""Every setting, by its name in ``bridge.config.Settings``."""
