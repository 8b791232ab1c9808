"""The leaves of the error tree that know of models and runs; the root is ``device_tools.errors``.

BridgeError
├── ConfigurationError   a setting, flag or file of the user is wrong          exit 2
├── ProviderError        the model's server failed, refused or broke off        exit 4
├── LimitReached         a named limit of the run (turns, calls, tokens, time)  exit 5
├── ModelFailed          the model reported failure or kept breaking the contract  exit 1
└── RecordError          the record cannot be written or read                   exit 1
"""

from __future__ import annotations

from device_tools.errors import Blame, BridgeError


class ConfigurationError(BridgeError):
    """A setting, flag, key or file of the user is missing or wrong."""

    blame = Blame.USER
    exit_code = 2


class ProviderError(BridgeError):
    """The model's server failed or broke off. ``retryable`` before the first event only.

    ``retry_after``: seconds the server asked to wait, None when it did not say.
    """

    blame = Blame.PROVIDER
    exit_code = 4

    def __init__(
        self,
        message: str,
        *,
        advice: str = "",
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, advice=advice)
        self.retryable = retryable
        self.retry_after = retry_after


class LimitReached(BridgeError):
    """A named limit of the run was reached."""

    blame = Blame.MODEL
    exit_code = 5


class ModelFailed(BridgeError):
    """The model reported failure, or broke the call contract too often in a row."""

    blame = Blame.MODEL


class RecordError(BridgeError):
    """The record cannot be opened, written or read."""
