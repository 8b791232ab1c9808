"""Finds where the tool-call blocks of a reply begin, and confirms the text before them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bridge.cst.xml_blocks import OPEN

_THINK, _THINK_END = "<think>", "</think>"
_OUTSIDE = re.compile(f"{_THINK}|{OPEN}")
_INSIDE = re.compile(f"{_THINK_END}|{OPEN}")
_LOST = re.compile(r"</?invoke[ >]|</minimax:tool_call>")


class TextScanner:
    """Text in, confirmed text out, until a block opens outside of ``<think>``; pending is at
    most a begun tag. A block inside ``<think>`` is a thought, not a call."""

    def __init__(self) -> None:
        self._held = ""
        self._started = False
        self._thinking = False
        self._thought_of_calls = False
        self._said: list[str] = []  # outside of <think>
        self.opened = False

    def feed(self, text: str) -> tuple[str, str]:
        """Confirmed text, and once a block has opened everything from its tag on."""
        if self.opened:
            return "", text
        held, confirmed = self._held + text, []
        if not self._started and held:
            self._started = True
            held = held.removeprefix("\ufeff")
        while found := (_INSIDE if self._thinking else _OUTSIDE).search(held):
            if found[0] == OPEN and not self._thinking:
                self.opened, self._held = True, ""
                confirmed.append(self._say(held[: found.start()]))
                return "".join(confirmed), held[found.start() :]
            confirmed.append(self._say(held[: found.end()]))
            held = held[found.end() :]
            self._turn(found[0])
        keep = _begun(held, (_THINK, _THINK_END, OPEN))
        self._held = held[len(held) - keep :]
        confirmed.append(self._say(held[: len(held) - keep]))
        return "".join(confirmed), ""

    def close(self) -> str:
        """What was pending: no tag came of it."""
        held, self._held = self._held, ""
        return self._say(held)

    @property
    def lost_call(self) -> str:
        """Why a reply without a block is no plain answer; "" when it is one."""
        if self._thinking and self._thought_of_calls:
            return "the tool-call block stands inside <think>, which is never closed"
        if _LOST.search("".join(self._said)):
            return f"an invoke stands outside of {OPEN}"
        return ""

    def _say(self, text: str) -> str:
        if not self._thinking:
            self._said.append(text)
        return text

    def _turn(self, tag: str) -> None:
        if tag == OPEN:
            self._thought_of_calls = True
        else:
            self._thinking = tag == _THINK
            self._thought_of_calls = False


def _begun(text: str, tags: Sequence[str]) -> int:
    """Length of the longest end of ``text`` that may still become one of ``tags``."""
    longest = max(map(len, tags)) - 1
    at = text.rfind("<", max(len(text) - longest, 0))
    if at >= 0 and any(tag.startswith(text[at:]) for tag in tags):
        return len(text) - at
    return 0
