"""What an executor answers: the outcome, an exit code, text for the model, data for programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from device_tools.errors import BridgeError, Cancelled, InvalidCall, Outcome, StaleScreen


@dataclass(frozen=True)
class Image:
    """A picture for the model. ``data`` is never written to the record; ``note`` is.
    ``sensitive``: it shows a password or a code, so that not even a small copy may be kept."""

    data: bytes = field(repr=False)
    mime: str
    width: int
    height: int
    note: str
    sensitive: bool = False


@dataclass(frozen=True)
class ToolResult:
    """Exit codes of tools without a process: 0 DONE, 1 failed, 2 refused or not sent, 75 UNKNOWN,
    130 cancelled. ``error`` is a stable machine word ("" when nothing went wrong). ``secrets`` are
    values in it that nobody may store; ``storable`` is the text without them, None = as it is."""

    outcome: Outcome
    exit_code: int
    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    images: tuple[Image, ...] = ()
    error: str = ""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    storable: str | None = None

    @property
    def ok(self) -> bool:
        return self.outcome is Outcome.DONE and self.exit_code == 0


@dataclass(frozen=True)
class Secrecy:
    """What of a call that is about to run must not be stored. ``hidden``: names of arguments;
    ``secrets``: values that are surely secret."""

    hidden: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()


def done(text: str, *, images: tuple[Image, ...] = (), **data: Any) -> ToolResult:
    """A success."""
    return ToolResult(Outcome.DONE, 0, text, data, images)


def failed(error: BridgeError) -> ToolResult:
    """The result that tells an error of the tree to the model."""
    text = error.message if not error.advice else f"{error.message}\n{error.advice}"
    return ToolResult(error.outcome, _exit_code(error), text, {}, (), _word(error))


def _exit_code(error: BridgeError) -> int:
    if isinstance(error, Cancelled):
        return 130
    if error.outcome is Outcome.UNKNOWN:
        return 75
    if isinstance(error, InvalidCall | StaleScreen):
        return 2
    return 1


def _word(error: BridgeError) -> str:
    name = type(error).__name__
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")
