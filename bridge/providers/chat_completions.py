"""OpenAI-compatible Chat Completions, streamed: request JSON out, neutral events in.

Wire: POST {base}/chat/completions, chunks ``chat.completion.chunk`` as server-sent events. The only
evidence that an answer is complete is a finish reason; ``[DONE]`` and the end of the connection
are none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

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
from bridge.providers.event_stream import open_events
from bridge.providers.http import Endpoint, HttpLimits
from bridge.providers.refusals import error_text, quote
from bridge.providers.sse import ServerSentEvent
from device_tools.cancel import CancelScope

_REASONS = {
    "stop": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}
# de-facto names: DeepSeek, Qwen, GLM, Kimi, llama.cpp; then vLLM, OpenRouter
_REASONING_FIELDS = ("reasoning_content", "reasoning")


def ignore_notice(_text: str) -> None:
    """For callers that do not show retries."""


class ChatCompletionsProvider:
    """A ``bridge.agent.ports.Provider``. ``on_retry`` is told of each retry in one sentence, and
    of each reply whose ``stop`` was read as ``tool_calls`` because ``stop_with_calls`` is set."""

    def __init__(
        self,
        name: str,
        base_url: str,
        model: str,
        api_key: str | None,
        cancel: CancelScope,
        *,
        key_variable: str = "BRIDGE_API_KEY",
        max_tokens_field: str = "max_tokens",
        stop_with_calls: bool = False,
        limits: HttpLimits | None = None,
        on_retry: Callable[[str], None] = ignore_notice,
    ) -> None:
        self.name = name
        self.model = model
        base_url = base_url.rstrip("/")
        self._endpoint = Endpoint(
            base_url + "/chat/completions",
            # "http://host:8000" is what people type; most servers live below /v1
            "" if urlsplit(base_url).path else base_url + "/v1/chat/completions",
            {"Authorization": f"Bearer {api_key}"} if api_key else {},
            api_key or "",
            key_variable,
        )
        self._cancel = cancel
        self._max_tokens_field = max_tokens_field
        self._stop_with_calls = stop_with_calls
        self._limits = limits or HttpLimits()
        self._on_retry = on_retry

    @contextmanager
    def stream(self, request: ModelRequest) -> Iterator[Iterator[StreamEvent]]:
        """See ``bridge.agent.ports.Provider.stream``."""
        body = json.dumps(
            request_body(request, self.model, self._max_tokens_field), ensure_ascii=False
        ).encode()
        with open_events(
            self._endpoint,
            body,
            model=self.model,
            cancel=self._cancel,
            limits=self._limits,
            on_retry=self._on_retry,
        ) as events:
            yield self._read(events, native=bool(request.tools))

    def _read(self, events: Iterator[ServerSentEvent], native: bool) -> Iterator[StreamEvent]:
        answer = ChatAnswer(self._endpoint, native=native)
        try:
            for event in events:
                yield from answer.feed(event)
                if answer.done:
                    break
        except ProviderError:
            # a finish reason has been given: all that is lost is the usage
            if not answer.finished:
                raise
        finish = answer.close()
        if self._stop_with_calls and answer.called and finish.reason is FinishReason.STOP:
            self._on_retry("the reply ended with stop; by the quirk its calls count as whole")
            finish = Finish(FinishReason.TOOL_CALLS, finish.raw)
        yield finish


class ChatAnswer:
    """Reads the events of one answer; no I/O. ``native``: tools were offered in the request."""

    def __init__(self, endpoint: Endpoint, *, native: bool = False) -> None:
        self._endpoint = endpoint
        self._native = native
        self._reasons: list[str] = []
        self._contradiction = ""
        self._refused = False
        self._half = ""
        self.called = False
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

    def close(self) -> Finish:
        """The evidence. Raises ProviderError when the server gave none."""
        host = self._endpoint.host
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
                f"{self._endpoint.host} broke off with an error: "
                + quote(said, self._endpoint.secret),
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
            self._reasons.append(quote(str(reason), self._endpoint.secret))
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
            self.called = True
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
            f"{self._endpoint.host} sent {what}",
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
