"""One row of the table of deviations: bytes of our own making and what may run."""

from __future__ import annotations

from dataclasses import dataclass

from bridge.providers.chat_quirks import STRICT, ChatQuirks


@dataclass(frozen=True)
class Row:
    """``number`` and ``what`` name the row in docs/deviations.md; several streams may share them.

    ``eos`` and ``inc`` are the calls that run in each native mode, as "name arguments"; ``inc``
    None: the same. ``refused``: the error word of every refused call in native-eos, and the words
    of the contract error or the provider's error where the reply ends in one. ``cap``: the
    output tokens that were allowed.
    """

    number: int
    what: str
    stream: bytes
    wire: str = "chat"
    eos: tuple[str, ...] = ()
    inc: tuple[str, ...] | None = None
    refused: str = ""
    fault: str = ""
    error: str = ""
    text: str = ""
    cap: int | None = None
    quirks: ChatQuirks = STRICT

    def runs(self, mode: str) -> tuple[str, ...]:
        return self.eos if mode == "native-eos" or self.inc is None else self.inc


@dataclass(frozen=True)
class Elsewhere:
    """A row whose behaviour is not that of one stream: the test that covers it."""

    number: int
    what: str
    file: str
    test: str
