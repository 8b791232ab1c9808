"""Settings: ``config.toml`` under the home folder < environment (``BRIDGE_*``) < flags.

API keys are no settings: they come from the environment or the keyring.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from bridge.agent.limits import MAX_MINUTES, MAX_OUTPUT_TOKENS, MAX_TURNS
from bridge.config_values import CHECKS, PROVIDER_KEYS, TABLE_ONLY, table, unknown_setting
from bridge.errors import ConfigurationError
from bridge.policy import Ask
from device_tools.schema import RiskGroup

FILE_NAME = "config.toml"


@dataclass(frozen=True)
class Settings:
    """None (or "") means: not set, the command, the provider's profile or the server decides."""

    device: str | None = None
    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    wire: str | None = None
    protocol: str | None = None
    quirk: str | None = None
    thinking: str | None = None
    web_search: bool = False
    pictures: bool = True
    reasoning: bool | None = None
    context_window: int | None = None
    request: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    connect_timeout: float | None = None
    first_byte_timeout: float | None = None
    idle_timeout: float | None = None
    answer_timeout: float | None = None
    record: str | None = None
    debug_http: str | None = None
    max_turns: int = MAX_TURNS
    max_minutes: float = MAX_MINUTES
    max_tokens: int | None = None
    max_cost: float | None = None
    max_output_tokens: int = MAX_OUTPUT_TOKENS
    ask: Ask = Ask.NONE
    adb_root: bool = False
    groups: Mapping[RiskGroup, bool] = field(default_factory=dict)


NAMES = frozenset(item.name for item in fields(Settings))


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

    What ``[providers.NAME]`` of the file says counts for that provider, over the rest of the file.

    Raises:
        ConfigurationError: an unreadable file, an unknown key, a value of the wrong kind.
    """
    home = home_folder()
    top, tables = _read_settings(home)
    given = {key: value for key, value in (flags or {}).items() if value is not None}
    environment = _read_environment()
    provider = str(given.get("provider") or environment.get("provider") or top.get("provider"))
    values: dict[str, Any] = {}
    sources = {item.name: "default" for item in fields(Settings)}
    for source, found in (
        ("file", {**top, **tables.get(provider, {})}),
        ("environment", environment),
        ("flag", given),
    ):
        for name, value in found.items():
            values[name] = _checked(name, value, _origin(name, source, home))
            sources[name] = source
    if _is_older(provider, values, sources, tables):
        values["wire"], sources["wire"] = "chat", "kept as before"
    return Loaded(home, replace(Settings(), **values), sources)


def _is_older(
    provider: str,
    values: Mapping[str, Any],
    sources: Mapping[str, str],
    tables: Mapping[str, Any],
) -> bool:
    """Whether OpenAI was configured when there was one wire only: then it stays on that wire.

    Such a configuration names the provider in the file or the environment and says nothing of
    wires; ``[providers.openai]`` is younger than the second wire.
    """
    configured = sources["provider"] in ("file", "environment")
    return provider == "openai" and configured and "wire" not in values and provider not in tables


def group_switches(home: Path) -> Mapping[RiskGroup, bool]:
    """The capability switches as the file has them now."""
    groups = read_file(home / FILE_NAME).get("groups", {})
    switches: Mapping[RiskGroup, bool] = _checked("groups", groups, "file")
    return switches


def as_json(settings: Settings) -> dict[str, Any]:
    """Plain values for printing; there is no secret among the settings."""
    plain = {item.name: getattr(settings, item.name) for item in fields(settings)}
    groups = {group.value: settings.groups.get(group, True) for group in RiskGroup}
    return {**plain, "ask": settings.ask.value, "groups": groups}


def _read_settings(home: Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """What the file says for all providers, and the checked tables of single ones."""
    top = read_file(home / FILE_NAME)
    origin = str(home / FILE_NAME)
    tables = table("providers", top.pop("providers", {}), origin)
    for name in top:
        if name in TABLE_ONLY:
            raise ConfigurationError(
                f"setting {name} ({origin}) belongs to one provider",
                advice=f"put it below [providers.NAME], for example [providers.custom]; {name} = …",
            )
    for provider, found in tables.items():
        for name, value in table(f"providers.{provider}", found, origin).items():
            if name not in PROVIDER_KEYS:
                raise unknown_setting(f"providers.{provider}.{name}", origin, PROVIDER_KEYS)
            _checked(name, value, f"{origin}, [providers.{provider}]")
    return top, {provider: dict(found) for provider, found in tables.items()}


def read_file(path: Path) -> dict[str, Any]:
    """The tables of a TOML file, {} when it does not exist; ConfigurationError names the file."""
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
    names = {item.name for item in fields(Settings)} - {"groups", *TABLE_ONLY}
    return {
        name: value for name in sorted(names) if (value := os.environ.get(f"BRIDGE_{name.upper()}"))
    }


def _origin(name: str, source: str, home: Path) -> str:
    """What the user wrote, so that a message about a wrong value names the place to correct."""
    written = {"environment": f"BRIDGE_{name.upper()}", "file": str(home / FILE_NAME)}
    return written.get(source, f"--{name.replace('_', '-')}")


def _checked(name: str, value: Any, origin: str) -> Any:
    if name not in CHECKS:
        raise unknown_setting(name, origin, tuple(CHECKS))
    return CHECKS[name](name, value, origin)
