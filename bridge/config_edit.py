"""Change one setting in ``config.toml`` and leave every other byte as the user wrote it."""

from __future__ import annotations

import json
import os
import re
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bridge.config import FILE_NAME, read_file
from bridge.config_values import CHECKS, PROVIDER_KEYS, TABLE_ONLY, unknown_setting
from bridge.errors import ConfigurationError

_TABLE = re.compile(r"\s*\[")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_UNEDITABLE = ("groups", "request", "headers")


def set_value(home: Path, key: str, value: str) -> str:
    """Set ``key`` (``model``, or ``providers.NAME.model``) and return the line written.

    Raises:
        ConfigurationError: unknown setting, a value it cannot have, a file that cannot be changed.
    """
    table, name = _place(key)
    checked = CHECKS[name](name, value, "bridge config set")
    plain = checked if isinstance(checked, bool | int | float) else str(checked)
    line = f"{name} = {json.dumps(plain, ensure_ascii=False)}"
    path = home / FILE_NAME
    before = read_file(path)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    changed = _with_line(text, table, name, line)
    if key == "provider" and value == "openai" and _is_new(before):
        # said once in the file, so that no later default can change it
        changed = _with_line(changed, "[providers.openai]", "wire", 'wire = "responses"')
    _check(changed, table, name)
    _replace(path, changed)
    return line


def _is_new(before: Mapping[str, Any]) -> bool:
    configured = before.get("provider") == "openai" or "openai" in before.get("providers", {})
    return not configured and "wire" not in before


def _place(key: str) -> tuple[str, str]:
    """The table's header ("" = top) and the setting's name."""
    parts = key.split(".")
    name = parts[-1]
    provider = ".".join(parts[1:-1])
    known = PROVIDER_KEYS if provider else tuple(CHECKS)
    if name not in known or (parts[0] != "providers" and len(parts) > 1) or name in _UNEDITABLE:
        raise unknown_setting(key, "bridge config set", known)
    if name in TABLE_ONLY and not provider:
        raise ConfigurationError(
            f"setting {name} belongs to one provider", advice=f"set providers.NAME.{name}"
        )
    if not provider:
        return "", name
    if not _NAME.fullmatch(provider):
        raise ConfigurationError(f"{provider!r} is no name of a provider")
    plain = re.fullmatch(r"[A-Za-z0-9_-]+", provider)
    return f"[providers.{provider if plain else json.dumps(provider)}]", name


def _with_line(text: str, table: str, name: str, line: str) -> str:
    lines = text.splitlines()
    start, end = _section(lines, table)
    for index in range(start, end):
        if re.match(rf"\s*{re.escape(name)}\s*=", lines[index]):
            lines[index] = line
            return "\n".join(lines) + "\n"
    if table and start == end == len(lines) and table not in (each.strip() for each in lines):
        lines += [*([""] if lines else []), table, line]
    else:
        while end > start and not lines[end - 1].strip():
            end -= 1
        lines.insert(end, line)
    return "\n".join(lines) + "\n"


def _section(lines: list[str], table: str) -> tuple[int, int]:
    """The lines of the table, its header not among them; empty at the end when there is none."""
    start = 0
    if table:
        headers = [index for index, each in enumerate(lines) if each.strip() == table]
        start = headers[0] + 1 if headers else len(lines)
    end = next((i for i in range(start, len(lines)) if _TABLE.match(lines[i])), len(lines))
    return start, end


def _check(text: str, table: str, name: str) -> None:
    """An edit by lines must not break a file that spells its tables another way."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(
            f"{name} cannot be set in this file: {error}",
            advice=f"write it yourself, in {table or 'the first lines'}; bridge config path",
        ) from error


def _replace(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        number, temporary = tempfile.mkstemp(dir=path.parent, prefix=".config-")
        with os.fdopen(number, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be written: {error.strerror}",
            advice="check the home folder (BRIDGE_HOME) and its permissions",
        ) from error
