"""Settings: ``config.toml`` under the home folder < environment (``BRIDGE_*``) < flags.

API keys are no settings: they come from the environment where the provider reads them.
"""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from bridge.agent.limits import MAX_OUTPUT_TOKENS, MAX_TURNS
from bridge.errors import ConfigurationError
from bridge.policy import Ask
from device_tools.schema import RiskGroup

FILE_NAME = "config.toml"
PROTOCOLS = ("ctl-heredoc", "ctl", "native-eos", "native-inc", "xml")
DEFAULT_PROTOCOL = "ctl-heredoc"
QUIRKS = ("stop-with-calls",)


@dataclass(frozen=True)
class Settings:
    """None (or "") means: not set, the command decides or asks."""

    device: str | None = None
    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    protocol: str = DEFAULT_PROTOCOL
    quirk: str | None = None
    max_turns: int = MAX_TURNS
    max_tokens: int | None = None
    max_cost: float | None = None
    max_output_tokens: int = MAX_OUTPUT_TOKENS
    ask: Ask = Ask.NONE
    groups: Mapping[RiskGroup, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Loaded:
    """The settings and where each came from (``default``, ``file``, an environment variable)."""

    home: Path
    settings: Settings
    sources: Mapping[str, str]


def home_folder() -> Path:
    """``BRIDGE_HOME``, else the platform's data folder."""
    if named := os.environ.get("BRIDGE_HOME"):
        return Path(named).expanduser().absolute()
    from platformdirs import user_data_path

    return user_data_path("bridge", appauthor=False)


def load(flags: Mapping[str, Any] | None = None) -> Loaded:
    """The settings in force. ``flags`` holds values by setting name; None means not given.

    Raises:
        ConfigurationError: an unreadable file, an unknown key, a value of the wrong kind.
    """
    home = home_folder()
    values: dict[str, Any] = {}
    sources = {item.name: "default" for item in fields(Settings)}
    for source, found in (
        ("file", _read_file(home / FILE_NAME)),
        ("environment", _read_environment()),
        ("flag", {key: value for key, value in (flags or {}).items() if value is not None}),
    ):
        for name, value in found.items():
            values[name] = _checked(name, value, _origin(name, source, home))
            sources[name] = source
    return Loaded(home, replace(Settings(), **values), sources)


def group_switches(home: Path) -> Mapping[RiskGroup, bool]:
    """The capability switches as the file has them now."""
    groups = _read_file(home / FILE_NAME).get("groups", {})
    switches: Mapping[RiskGroup, bool] = _checked("groups", groups, "file")
    return switches


def as_json(settings: Settings) -> dict[str, Any]:
    """Plain values for printing; there is no secret among the settings."""
    plain = {item.name: getattr(settings, item.name) for item in fields(settings)}
    groups = {group.value: settings.groups.get(group, True) for group in RiskGroup}
    return {**plain, "ask": settings.ask.value, "groups": groups}


def _read_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be read: {error.strerror}",
            advice="check the home folder (BRIDGE_HOME) and its permissions",
        ) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(
            f"{path} cannot be read: {error}", advice="correct the file or move it away"
        ) from error


def _read_environment() -> dict[str, Any]:
    names = {item.name for item in fields(Settings)} - {"groups"}
    return {
        name: value for name in sorted(names) if (value := os.environ.get(f"BRIDGE_{name.upper()}"))
    }


def _origin(name: str, source: str, home: Path) -> str:
    """What the user wrote, so that a message about a wrong value names the place to correct."""
    written = {"environment": f"BRIDGE_{name.upper()}", "file": str(home / FILE_NAME)}
    return written.get(source, f"--{name.replace('_', '-')}")


def _checked(name: str, value: Any, source: str) -> Any:
    known = [item.name for item in fields(Settings)]
    if name not in known:
        secret = any(word in name.lower() for word in ("key", "token", "secret", "password"))
        raise ConfigurationError(
            f"unknown setting {name!r} ({source})",
            advice="API keys are read from the environment, never from the configuration"
            if secret
            else f"settings: {', '.join(known)}",
        )
    if name == "groups":
        return _groups(value)
    if name in ("max_turns", "max_tokens", "max_output_tokens"):
        return _number(name, value, source)
    if name == "max_cost":
        return _amount(name, value, source)
    if not isinstance(value, str) or not value.strip():
        raise ConfigurationError(f"setting {name} ({source}) must be a text")
    return _choice(name, value, source)


def _choice(name: str, value: str, source: str) -> str | Ask:
    if name == "ask":
        try:
            return Ask(value)
        except ValueError:
            choices = ", ".join(choice.value for choice in Ask)
            raise ConfigurationError(
                f"ask ({source}) cannot be {value!r}", advice=f"one of: {choices}"
            ) from None
    if name == "protocol" and value not in PROTOCOLS:
        raise ConfigurationError(
            f"protocol ({source}) cannot be {value!r}",
            advice=f"one of: {', '.join(PROTOCOLS)}",
        )
    if name == "quirk" and value not in QUIRKS:
        raise ConfigurationError(
            f"quirk ({source}) cannot be {value!r}", advice=f"one of: {', '.join(QUIRKS)}"
        )
    return value


def _number(name: str, value: Any, source: str) -> int:
    try:
        number = int(value) if isinstance(value, str) else value
    except ValueError:
        number = None
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise ConfigurationError(f"{name} ({source}) must be a whole number above 0, not {value!r}")
    if name == "max_turns" and number > MAX_TURNS:
        raise ConfigurationError(
            f"max_turns ({source}) is at most {MAX_TURNS}, not {number}",
            advice="the limit can only be lowered",
        )
    return number


def _amount(name: str, value: Any, source: str) -> float:
    try:
        amount = float(value) if isinstance(value, str | int | float) else math.nan
    except ValueError:
        amount = math.nan
    if isinstance(value, bool) or not 0 < amount < math.inf:
        raise ConfigurationError(f"{name} ({source}) must be a number above 0, not {value!r}")
    return amount


def _groups(value: Any) -> Mapping[RiskGroup, bool]:
    known = {group.value: group for group in RiskGroup}
    if not isinstance(value, Mapping):
        raise ConfigurationError("groups must be a table of group = true or false")
    for name, switch in value.items():
        if name not in known or not isinstance(switch, bool):
            raise ConfigurationError(
                f"groups.{name} is no switch", advice=f"true or false for: {', '.join(known)}"
            )
    return {known[name]: switch for name, switch in value.items()}
