"""Short ways to make a ``CommandResult`` from text."""

from __future__ import annotations

from collections.abc import Sequence

from device_tools.virtual.ports import CommandResult


def out(text: str = "") -> CommandResult:
    """Success; a missing final newline is added."""
    return CommandResult(_bytes(text))


def fail(text: str, code: int = 255) -> CommandResult:
    """Failure with its text on stderr."""
    return CommandResult(b"", _bytes(text), code)


def fail_out(text: str, code: int = 1) -> CommandResult:
    """Failure with its text on stdout, as many Android commands do."""
    return CommandResult(_bytes(text), b"", code)


def _bytes(text: str) -> bytes:
    return (text if not text or text.endswith("\n") else text + "\n").encode()


def option(args: Sequence[str], *names: str) -> str | None:
    """The word after the first of ``names``."""
    for number, word in enumerate(args[:-1]):
        if word in names:
            return args[number + 1]
    return None
