"""OpenAI-compatible Chat Completions, streamed: request JSON out, neutral events in.

Wire: POST {base}/chat/completions, chunks ``chat.completion.chunk`` as server-sent events. The only
evidence that an answer is complete is a finish reason; ``[DONE]`` and the end of the connection
are none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bridge.conversation.messages import ModelRequest
from bridge.conversation.stream import (
    Finish,
    FinishReason,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    Usage,
)
from bridge.errors import ProviderError
from bridge.providers.chat_calls import call_deltas
from bridge.providers.chat_messages import request_body
from bridge.providers.extra import with_extra
from bridge.providers.refusals import error_text, quote
from bridge.providers.sse import ServerSentEvent
from bridge.providers.wire import Peer, RequestOptions

_REASONS = {
    "stop": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}
# de-facto names: DeepSeek, Qwen, GLM, Kimi, llama.cpp; then vLLM, OpenRouter
_REASONING_FIELDS = ("reasoning_content", "reasoning")
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
class ChatQuirks:
    """How a server is known to deviate; all off is the strict reading.

    ``stop_with_calls``: whole native calls end with ``stop`` instead of ``tool_calls``; the user
    asked to let that count.
    """

    stop_with_calls: bool = False


STRICT = ChatQuirks()


def ignore_note(_text: str) -> None:
    """For readers whose quirks nobody watches."""


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
        body = request_body(request, options.model, options.max_tokens_field)
        if options.reasons and options.thinking not in ("", "off"):
            body["reasoning_effort"] = options.thinking
        return with_extra(body, options, THINKING_KEYS)

    def answer(self, request: ModelRequest, options: RequestOptions, peer: Peer) -> ChatAnswer:
        return ChatAnswer(peer, native=bool(request.tools), quirks=self.quirks, note=self.note)


class ChatAnswer:
    """Reads the events of one answer; no I/O. ``native``: tools were offered in the request."""

    def __init__(
        self,
        peer: Peer,
        *,
        native: bool = False,
        quirks: ChatQuirks = STRICT,
        note: Callable[[str], None] = ignore_note,
    ) -> None:
        self._peer = peer
        self._native = native
        self._quirks = quirks
        self._note = note
        self._reasons: list[str] = []
        self._contradiction = ""
        self._refused = False
        self._half = ""
        self._called = False
        self.done = False

    @property
    def finished(self) -> bool:
        """Whether the server gave a finish reason."""
        return bool(self._reasons)

    def feed(self, event: ServerSentEvent) -> list[StreamEvent]:
        """Raises ProviderError: an error object, no JSON, or not the shape of a chunk."""
        if event.data.strip() == "[DONE]":
            self.done = True
            return []
        chunk = self._chunk(event)
        events: list[StreamEvent] = []
        for choice in _list(chunk.get("choices")):
            events += self._choice(choice)
        usage = _usage(chunk.get("usage"))
        return [*events, usage] if usage else events

    def close(self) -> list[StreamEvent]:
        """The evidence. Raises ProviderError when the server gave none."""
        finish = self._finish()
        if self._quirks.stop_with_calls and self._called and finish.reason is FinishReason.STOP:
            self._note("the reply ended with stop; by the quirk its calls count as whole")
            finish = Finish(FinishReason.TOOL_CALLS, finish.raw)
        return [finish]

    def _finish(self) -> Finish:
        host = self._peer.host
        if self._half:
            raise ProviderError(f"{host} ended its answer inside a character")
        if not self._reasons:
            raise ProviderError(
                f"{host} ended its answer without saying it was done",
                advice="the answer may be cut, so nothing unconfirmed was run; try again",
            )
        raw = " then ".join(self._reasons)
        if self._contradiction:
            return Finish(FinishReason.UNKNOWN, f"{raw} ({self._contradiction})")
        if len(self._reasons) > 1:
            return Finish(FinishReason.UNKNOWN, raw)
        if self._refused:
            return Finish(FinishReason.CONTENT_FILTER, raw)
        return Finish(_REASONS.get(raw, FinishReason.UNKNOWN), raw)

    def _chunk(self, event: ServerSentEvent) -> dict[str, Any]:
        try:
            chunk = json.loads(event.data)
        except (ValueError, RecursionError) as error:
            raise self._broken("data that is not JSON") from error
        if not isinstance(chunk, dict):
            raise self._broken("JSON that is not an object")
        extra = chunk.get("x_groq")
        said = error_text({"error": chunk.get("error")}) or (
            error_text({"error": extra.get("error")}) if isinstance(extra, dict) else ""
        )
        if said or event.event == "error":
            said = said or error_text(chunk) or "no reason given"
            raise ProviderError(
                f"{self._peer.host} broke off with an error: " + quote(said, self._peer.secret),
                advice="try again; if it happens always, look at the provider's status",
            )
        return chunk

    def _choice(self, choice: object) -> list[StreamEvent]:
        if not isinstance(choice, dict) or choice.get("index") not in (0, None):
            raise self._broken("a choice that was not asked for")
        delta = choice.get("delta") or {}
        if not isinstance(delta, dict):
            raise self._broken("a delta that is not an object")
        if delta.get("role") not in (None, "", "assistant"):
            raise self._broken("a message that is not the assistant's")
        reason = choice.get("finish_reason")
        if reason and str(reason) not in self._reasons:
            self._reasons.append(quote(str(reason), self._peer.secret))
        return [*self._delta(delta), *self._calls(delta)]

    def _delta(self, delta: dict[str, Any]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        for name in _REASONING_FIELDS:
            if isinstance(text := delta.get(name), str) and text:
                events.append(ReasoningDelta(text.encode("utf-8", "replace").decode()))
                break
        for name in ("content", "refusal"):
            text = delta.get(name)
            if text is None or text == "":
                continue
            if not isinstance(text, str):
                raise self._broken(f"{name} that is not text")
            self._refused = self._refused or name == "refusal"
            if whole := self._join(text):
                events.append(TextDelta(whole))
        return events

    def _calls(self, delta: dict[str, Any]) -> list[StreamEvent]:
        entries = delta.get("tool_calls")
        if delta.get("function_call") or (entries and not self._native):
            self._contradiction = "native tool calls though none were offered"
        elif entries:
            self._called = True
            try:
                return [*call_deltas(entries)]
            except ValueError as error:
                raise self._broken(str(error)) from error
        return []

    def _join(self, text: str) -> str:
        """Text without lone surrogates: JSON escapes can split one character over two chunks."""
        text = self._half + text
        self._half = ""
        if text.isascii():
            return text
        if "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        try:
            return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeDecodeError as error:
            raise self._broken("half a character") from error

    def _broken(self, what: str) -> ProviderError:
        return ProviderError(
            f"{self._peer.host} sent {what}",
            advice="is this a Chat Completions server? check --base-url",
        )


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _usage(value: object) -> Usage | None:
    if not isinstance(value, dict):
        return None
    return Usage(_count(value.get("prompt_tokens")), _count(value.get("completion_tokens")))


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
