"""OpenAI-compatible Chat Completions: POST {base}/chat/completions, answered by SSE chunks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bridge.conversation.messages import ModelRequest
from bridge.providers.chat_answer import ChatAnswer, ignore_note
from bridge.providers.chat_messages import request_body
from bridge.providers.chat_quirks import STRICT, ChatQuirks
from bridge.providers.extra import with_extra
from bridge.providers.wire import Peer, RequestOptions

THINKING_KEYS = frozenset(
    {
        "reasoning",
        "reasoning_effort",
        "reasoning_format",
        "include_reasoning",
        "thinking",
        "thinking_budget",
        "enable_thinking",
        "chat_template_kwargs.enable_thinking",
        "chat_template_kwargs.thinking",
        "extra_body.google.thinking_config",
    }
)
"""Request fields by which compatible servers are told to think."""


@dataclass(frozen=True)
class ChatWire:
    """A ``Wire``. ``note`` is told of each reply that a quirk let through."""

    quirks: ChatQuirks = STRICT
    note: Callable[[str], None] = ignore_note
    name: str = "chat"
    path: str = "/chat/completions"

    def headers(self, key: str | None) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def body(self, request: ModelRequest, options: RequestOptions) -> dict[str, Any]:
        body = request_body(request, options.model, options.max_tokens_field, self.quirks)
        if options.reasons and options.thinking not in ("", "off"):
            body["reasoning_effort"] = options.thinking
        return with_extra(body, options, THINKING_KEYS)

    def answer(self, request: ModelRequest, options: RequestOptions, peer: Peer) -> ChatAnswer:
        return ChatAnswer(peer, native=bool(request.tools), quirks=self.quirks, note=self.note)
