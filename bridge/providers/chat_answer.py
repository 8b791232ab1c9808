"""One streamed Chat Completions answer: chunks to neutral events, no I/O.

The only evidence that an answer is complete is a finish reason; ``[DONE]`` and the end of the
connection are none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bridge.conversation.stream import (
    Finish,
    FinishReason,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
)
from bridge.errors import ProviderError
from bridge.providers.chat_calls import call_deltas
from bridge.providers.chat_echo import EchoCollector
from bridge.providers.chat_quirks import EXTRA_CONTENT, REASONING_DETAILS, STRICT, ChatQuirks
from bridge.providers.chat_usage import UsageCount
from bridge.providers.halves import Halves
from bridge.providers.refusals import error_text, quote
from bridge.providers.sse import ServerSentEvent
from bridge.providers.wire import Peer
from bridge.providers.wire_json import wire_object

_REASONS = {
    "stop": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}
# de-facto names: DeepSeek, Qwen, GLM, Kimi, llama.cpp; then vLLM, OpenRouter
_REASONING_FIELDS = ("reasoning_content", "reasoning")


def ignore_note(_text: str) -> None:
    """For readers whose quirks nobody watches."""


class ChatAnswer:
    """Reads the events of one answer. ``native``: tools were offered in the request; ``note`` is
    told of each reply that a quirk let through."""

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
        self._halves = Halves()
        self._called = False
        self._usage = UsageCount()
        self._echo = EchoCollector(quirks.echo_fields)
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
        if self._quirks.comments_as_data and event.data.startswith(":"):
            return []
        chunk = self._chunk(event)
        events: list[StreamEvent] = []
        for choice in self._choices(chunk):
            events += self._choice(choice)
        usage = self._usage.take(chunk)
        return [*events, usage] if usage else events

    def close(self) -> list[StreamEvent]:
        """What goes back with the reply, and the evidence. Raises ProviderError without it."""
        finish = self._finish()
        if self._quirks.stop_with_calls and self._called and finish.reason is FinishReason.STOP:
            self._note("the reply ended with stop; by the quirk its calls count as whole")
            finish = Finish(FinishReason.TOOL_CALLS, finish.raw)
        return [*self._echo.items(), finish]

    def _finish(self) -> Finish:
        host = self._peer.host
        if self._halves.waiting:
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
            chunk = wire_object(event.data)
        except ValueError as error:
            raise self._broken(str(error)) from error
        said = _error_in(chunk)
        if said or event.event == "error":
            raise self._failed(said or error_text(chunk) or "no reason given")
        return chunk

    def _choices(self, chunk: dict[str, Any]) -> list[dict[str, Any]]:
        choices = chunk.get("choices") or []
        if not isinstance(choices, list):
            raise self._broken("choices that are not a list")
        for choice in choices:
            if not isinstance(choice, dict) or choice.get("index") not in (0, None):
                raise self._broken("a choice that was not asked for")
            if said := _error_in(choice):
                raise self._failed(said)
        return choices

    def _choice(self, choice: dict[str, Any]) -> list[StreamEvent]:
        delta = choice.get("delta") or {}
        if not isinstance(delta, dict):
            raise self._broken("a delta that is not an object")
        if delta.get("role") not in (None, "", "assistant"):
            raise self._broken("a message that is not the assistant's")
        ended = bool(self._reasons)
        reason = choice.get("finish_reason")
        if reason and str(reason) not in self._reasons:
            self._reasons.append(quote(str(reason), self._peer.secret))
        self._echo.take(delta)
        return [*_reasoning(delta), *self._words(delta), *self._calls(delta, ended)]

    def _words(self, delta: dict[str, Any]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        for name in ("content", "refusal"):
            text = delta.get(name)
            if text is None or text == "":
                continue
            if not isinstance(text, str):
                raise self._broken(f"{name} that is not text")
            self._refused = self._refused or name == "refusal"
            try:
                whole = self._halves.feed(text)
            except ValueError as error:
                raise self._broken(str(error)) from error
            if whole:
                events.append(TextDelta(whole))
        return events

    def _calls(self, delta: dict[str, Any], ended: bool) -> list[StreamEvent]:
        """``ended``: an earlier chunk gave the reason, which then says nothing of these calls."""
        entries = delta.get("tool_calls")
        if delta.get("function_call") or (entries and not self._native):
            self._contradiction = "native tool calls though none were offered"
            return []
        if not entries:
            return []
        self._called = True
        try:
            fragments = call_deltas(entries, null_words=self._quirks.null_words)
        except ValueError as error:
            raise self._broken(str(error)) from error
        events: list[StreamEvent] = []
        for entry, fragment in zip(entries, fragments, strict=True):
            self._echo.take_call(entry, fragment)
            # a signature behind the call says nothing about its place among the calls
            if fragment.id or fragment.name or fragment.arguments or EXTRA_CONTENT not in entry:
                if ended:
                    raise self._broken("a call behind its finish reason")
                events.append(fragment)
        return events

    def _failed(self, said: str) -> ProviderError:
        return ProviderError(
            f"{self._peer.host} broke off with an error: {quote(said, self._peer.secret)}",
            advice="try again; if it happens always, look at the provider's status",
        )

    def _broken(self, what: str) -> ProviderError:
        return ProviderError(
            f"{self._peer.host} sent {what}",
            advice="is this a Chat Completions server? check --base-url",
        )


def _error_in(part: dict[str, Any]) -> str:
    """What an error object says in any of its usual places, "" when there is none."""
    groq = part.get("x_groq")
    error = part.get("error") or (groq.get("error") if isinstance(groq, dict) else None)
    if not error and part.get("object") != "error":
        return ""
    return error_text({"error": error}) or error_text(part) or str(error or "no reason given")


def _reasoning(delta: dict[str, Any]) -> list[StreamEvent]:
    for name in _REASONING_FIELDS:
        if isinstance(text := delta.get(name), str) and text:
            return [ReasoningDelta(_whole(text))]
    details = delta.get(REASONING_DETAILS)
    if not isinstance(details, list):
        return []
    events: list[StreamEvent] = []
    for detail in details:
        for name in ("text", "summary"):
            if isinstance(detail, dict) and isinstance(text := detail.get(name), str) and text:
                events.append(ReasoningDelta(_whole(text), summary=name == "summary"))
    return events


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
