"""What a Chat Completions server wants back with an assistant message, beside text and calls.

DeepSeek refuses a conversation whose replies with calls lack ``reasoning_content``, Gemini one
whose calls lack their ``thought_signature``; OpenRouter passes ``reasoning_details`` on. They go
back within the run, from memory, and only to servers whose profile asks for them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from bridge.conversation.messages import AssistantMessage
from bridge.conversation.stream import CallDelta, OpaqueItem
from bridge.cst.native_calls import NativeCalls, Unattributable
from bridge.providers.chat_quirks import EXTRA_CONTENT, REASONING_CONTENT, REASONING_DETAILS

_CALLS = "calls"
# text that comes in pieces; encrypted data and signatures come whole
_PIECES = ("text", "summary")


class EchoCollector:
    """Gathers the fields of one answer; ``items`` holds them as one opaque item, or nothing."""

    def __init__(self, fields: Collection[str]) -> None:
        self._fields = fields
        self._reasoning: list[str] = []
        self._details: list[dict[str, Any]] = []
        self._extra: dict[str, Any] = {}
        self._call_extra: dict[str, dict[str, Any]] = {}
        self._calls = NativeCalls()

    def take(self, delta: Mapping[str, Any]) -> None:
        """The fields at the message itself."""
        reasoning = delta.get(REASONING_CONTENT)
        if REASONING_CONTENT in self._fields and isinstance(reasoning, str):
            self._reasoning.append(reasoning)
        details = delta.get(REASONING_DETAILS)
        if REASONING_DETAILS in self._fields and isinstance(details, list):
            for detail in details:
                if isinstance(detail, dict):
                    self._take_detail(detail)
        extra = delta.get(EXTRA_CONTENT)
        if EXTRA_CONTENT in self._fields and isinstance(extra, dict):
            self._extra = {**self._extra, **extra}

    def take_call(self, entry: Mapping[str, Any], fragment: CallDelta) -> None:
        """The fields at a call; which call that is, is decided as the carriers do."""
        if EXTRA_CONTENT not in self._fields:
            return
        try:
            slot = self._calls.find(fragment) or self._calls.open(fragment)
        except Unattributable:
            return
        slot.take(fragment)
        extra = entry.get(EXTRA_CONTENT)
        if isinstance(extra, dict):
            self._call_extra[slot.id] = {**self._call_extra.get(slot.id, {}), **extra}

    def items(self) -> list[OpaqueItem]:
        """Empty when the server sent none of the fields."""
        fields = {
            REASONING_CONTENT: "".join(self._reasoning),
            REASONING_DETAILS: self._details,
            EXTRA_CONTENT: self._extra,
            _CALLS: self._call_extra,
        }
        item = {name: value for name, value in fields.items() if value}
        return [OpaqueItem(item)] if item else []

    def _take_detail(self, detail: dict[str, Any]) -> None:
        """Pieces of one block share type and index; they are one block in a request."""
        last = self._details[-1] if self._details else {}
        same = all(last.get(key) == detail.get(key) for key in ("type", "index", "id"))
        if not last or not same or "index" not in detail:
            self._details.append(dict(detail))
            return
        for key, value in detail.items():
            if key in _PIECES and isinstance(value, str):
                last[key] = (last.get(key) or "") + value
            elif value is not None:
                last[key] = value


def echo_into(
    sent: dict[str, Any], message: AssistantMessage, fields: Collection[str]
) -> dict[str, Any]:
    """The message of a request with what the server wants back; ``sent["tool_calls"]`` are in the
    order of ``message.calls``."""
    item = message.items[0] if message.items else {}
    whole = {**sent, **{name: item[name] for name in fields if name in item}}
    if message.calls and REASONING_CONTENT in fields:
        # asked for even where the server sent none
        whole.setdefault(REASONING_CONTENT, "")
    extras = item.get(_CALLS, {}) if EXTRA_CONTENT in fields else {}
    if extras:
        calls = zip(message.calls, sent["tool_calls"], strict=True)
        whole["tool_calls"] = [
            {**wired, EXTRA_CONTENT: extras[call.id]} if call.id in extras else wired
            for call, wired in calls
        ]
    return whole
