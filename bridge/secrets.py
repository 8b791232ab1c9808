"""Secrets that the user lends to ``type_secret``: by name, from the environment or the keyring."""

from __future__ import annotations

from collections.abc import Mapping

from bridge.providers.keys import from_keyring

PREFIX = "BRIDGE_SECRET_"


def find_secret(name: str, environment: Mapping[str, str]) -> str | None:
    """The value of ``BRIDGE_SECRET_NAME`` (upper case), else of the keyring's account
    ``secret NAME`` of the service ``bridge``; None where neither has it."""
    return environment.get(PREFIX + name.upper()) or from_keyring(f"secret {name}") or None
