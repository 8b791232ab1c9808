"""Anthropic Messages as a ``Wire``: POST {base}/messages, streamed, version 2023-06-01.

Format: the API reference at platform.claude.com and the types of the official package. The rules
that this wire keeps are on the page docs/wire-anthropic.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bridge.conversation.messages import ModelRequest
from bridge.providers.anthropic_answer import AnthropicAnswer
from bridge.providers.anthropic_request import asks_for_summaries, max_tokens, request_body
from bridge.providers.wire import Peer, RequestOptions

VERSION = "2023-06-01"


@dataclass(frozen=True)
class AnthropicWire:
    """See ``bridge.providers.wire.Wire``; it has no state."""

    name: str = "anthropic"
    path: str = "/messages"

    def headers(self, key: str | None) -> Mapping[str, str]:
        version = {"anthropic-version": VERSION}
        return {**version, "x-api-key": key} if key else version

    def body(self, request: ModelRequest, options: RequestOptions) -> dict[str, Any]:
        return request_body(request, options)

    def answer(self, request: ModelRequest, options: RequestOptions, peer: Peer) -> AnthropicAnswer:
        return AnthropicAnswer(
            peer,
            native=bool(request.tools),
            output_cap=max_tokens(request, options),
            summaries=asks_for_summaries(options),
        )
