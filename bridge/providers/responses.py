"""The OpenAI Responses API as a ``Wire``: POST {base}/responses, answered by typed events.

Format: OpenAI's API reference, "Responses", as its official Python package 3.57 defines it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bridge.conversation.messages import ModelRequest
from bridge.providers.responses_answer import ResponsesAnswer
from bridge.providers.responses_request import request_body
from bridge.providers.wire import Peer, RequestOptions


def ignore_note(_text: str) -> None:
    """For callers that do not show notices."""


@dataclass(frozen=True)
class ResponsesWire:
    """A ``Wire``. ``note`` is told in one sentence when the server changed the history it was
    sent (reasoning of another model or organisation is left out, for example)."""

    note: Callable[[str], None] = ignore_note

    @property
    def name(self) -> str:
        return "responses"

    @property
    def path(self) -> str:
        return "/responses"

    def headers(self, key: str | None) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def body(self, request: ModelRequest, options: RequestOptions) -> dict[str, Any]:
        return request_body(request, options)

    def answer(self, request: ModelRequest, options: RequestOptions, peer: Peer) -> ResponsesAnswer:
        return ResponsesAnswer(peer, native=bool(request.tools), note=self.note)
