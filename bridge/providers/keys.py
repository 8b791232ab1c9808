"""Where API keys come from: the environment, else the keyring of the system.

A key is bound to where it may go: a provider's own key goes to the provider's own server, a key
for another base URL is kept under that server's name. Keys are never arguments of a command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType

from bridge.errors import ConfigurationError

SERVICE = "bridge"
KEYRING = "the keyring"


@dataclass(frozen=True)
class Key:
    """``source`` tells people where it came from; it is no secret."""

    value: str = field(repr=False)
    source: str


def find_key(variables: Sequence[str], account: str, environment: Mapping[str, str]) -> Key | None:
    """The key from the first variable that is set, else from the keyring's ``account`` ("" = none).

    Raises:
        ConfigurationError: it has characters that no key has.
    """
    for name in variables:
        if value := environment.get(name, "").strip():
            return _checked(value, name)
    value = from_keyring(account) if account else ""
    return _checked(value, KEYRING) if value else None


def keep_key(account: str, value: str) -> None:
    """Put a key into the keyring, over an older one.

    Raises:
        ConfigurationError: no keyring on this machine, or it is locked; no key of any shape.
    """
    checked = _checked(value.strip(), "the input")
    keyring = _keyring()
    try:
        keyring.set_password(SERVICE, account, checked.value)
    except keyring.errors.KeyringError as error:
        raise _no_keyring(type(error).__name__) from error


def forget_key(account: str) -> bool:
    """Take a key out of the keyring; False when it held none. Raises ConfigurationError."""
    keyring = _keyring()
    try:
        keyring.delete_password(SERVICE, account)
    except keyring.errors.PasswordDeleteError:
        return False
    except keyring.errors.KeyringError as error:
        raise _no_keyring(type(error).__name__) from error
    return True


def from_keyring(account: str) -> str:
    """What the keyring holds under this account; "" for none, no keyring, or a locked one."""
    try:
        keyring = _keyring()
    except ConfigurationError:
        return ""
    try:
        return str(keyring.get_password(SERVICE, account) or "").strip()
    except keyring.errors.KeyringError:
        # no backend here, or the user did not unlock it: as if there were no key
        return ""


def _keyring() -> ModuleType:
    try:
        import_module("keyring.errors")
        return import_module("keyring")
    except ImportError as error:
        raise ConfigurationError(
            "the keyring is not installed", advice="pip install 'bridge-android[keyring]'"
        ) from error


def _no_keyring(why: str) -> ConfigurationError:
    return ConfigurationError(
        f"the keyring of this machine does not work ({why})",
        advice="unlock it, or put the key into the environment",
    )


def _checked(value: str, source: str) -> Key:
    if not value:
        raise ConfigurationError(f"{source} holds no key", advice="paste the key again")
    if not (value.isascii() and value.isprintable()) or " " in value:
        raise ConfigurationError(
            f"the key in {source} has characters that no key has",
            advice="copy it again; perhaps a quote or a line break came along",
        )
    return Key(value, source)
