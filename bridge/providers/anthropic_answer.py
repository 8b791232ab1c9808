"""Reads a streamed Anthropic message: its events become neutral ones, its end becomes evidence.

Only a stop reason together with ``message_stop`` says that a message is whole; the end of the
connection says nothing. Events are told apart by the ``type`` in their data, since some servers
send no event names; unknown ones are ignored, as the API may add some.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bridge.conversation.stream import Finish, FinishReason, StreamEvent, Usage
from bridge.errors import ProviderError
from bridge.providers.anthropic_blocks import Blocks
from bridge.providers.refusals import error_text, quote
from bridge.providers.sse import ServerSentEvent
from bridge.providers.wire import Peer
from bridge.providers.wire_json import token_count, wire_object

REASONS: Mapping[str, FinishReason] = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_CALLS,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "refusal": FinishReason.CONTENT_FILTER,
    "pause_turn": FinishReason.PAUSE,
}
_REPLAYED = (FinishReason.STOP, FinishReason.TOOL_CALLS, FinishReason.PAUSE)
_ADVICE = {
    "overloaded_error": "the provider has too much to do: try again later",
    "rate_limit_error": "the provider limits the rate: wait a little",
    "authentication_error": "check the API key",
    "permission_error": "check what the API key may be used for",
    "billing_error": "the account at the provider has no credit or quota left",
    "not_found_error": "check --model and --base-url",
    "invalid_request_error": "the server does not accept this request: check --model",
    "request_too_large": "the request is too large: fewer or smaller images",
    "timeout_error": "the server took too long: try again",
}
_OTHER_ADVICE = "try again; if it happens always, look at the provider's status"


class AnthropicAnswer:
    """A ``bridge.providers.wire.Answer``. ``native``: tools were offered in the request.

    ``output_cap``: the tokens that the request allowed; a reply that used them all was cut,
    whatever the server says. ``summaries``: summaries of the thinking were asked for.
    """

    def __init__(
        self, peer: Peer, *, native: bool, output_cap: int, summaries: bool = False
    ) -> None:
        self._peer = peer
        self._output_cap = output_cap
        self._blocks = Blocks(native=native, summaries=summaries)
        self._counts: dict[str, int] = {}
        # a smaller count behind it takes no evidence back
        self._most_output = 0
        self._reasons: list[str] = []
        self._refusal = ""
        self._stopped = False
        self.done = False

    @property
    def finished(self) -> bool:
        """Whether the server said why the message ended and that it did."""
        return self._stopped and bool(self._reasons)

    def feed(self, event: ServerSentEvent) -> list[StreamEvent]:
        """Raises ProviderError: an error event, no JSON, or not the shape of a message."""
        if event.data.strip() == "[DONE]":
            # not of this API; some servers add it
            self.done = True
            return []
        data = self._data(event)
        try:
            return self._take(str(data.get("type") or event.event), data)
        except ValueError as error:
            raise self._broken(str(error)) from error
        except RecursionError as error:
            raise self._broken("data that is nested too deep") from error

    def close(self) -> list[StreamEvent]:
        """The blocks to send again, then the evidence. Raises ProviderError when there is none."""
        if not self._reasons:
            raise ProviderError(
                f"{self._peer.host} ended its answer without saying it was done",
                advice="the answer may be cut, so nothing unconfirmed was run; try again",
            )
        finish = self._finish()
        items = self._blocks.items() if finish.reason in _REPLAYED else []
        return [*items, finish]

    def _finish(self) -> Finish:
        raw = " then ".join(self._reasons)
        if doubt := self._doubt():
            return Finish(FinishReason.UNKNOWN, f"{raw} ({doubt})")
        reason = REASONS.get(raw, FinishReason.UNKNOWN)
        used_up = self._most_output >= self._output_cap
        if used_up and reason in (FinishReason.STOP, FinishReason.TOOL_CALLS):
            return Finish(FinishReason.LENGTH, f"{raw} (all {self._output_cap} tokens used)")
        return Finish(reason, f"{raw}: {self._refusal}" if self._refusal else raw)

    def _doubt(self) -> str:
        """What speaks against the reason that was given."""
        if not self._stopped:
            return "message_stop is missing"
        if len(self._reasons) > 1:
            return "two reasons"
        if self._blocks.uncalled_for:
            return "native tool calls though none were offered"
        return "a call was not ended" if self._blocks.open_call else ""

    def _data(self, event: ServerSentEvent) -> dict[str, Any]:
        try:
            data = wire_object(event.data)
        except ValueError as error:
            raise self._broken(str(error)) from error
        if "error" in (event.event, data.get("type")) or data.get("error"):
            raise self._failure(data)
        return data

    def _take(self, kind: str, data: Mapping[str, Any]) -> list[StreamEvent]:
        if self._reasons and kind in ("content_block_start", "content_block_delta"):
            raise ValueError("content behind the reason of its end")
        match kind:
            case "message_start":
                message = data.get("message")
                return self._usage(message.get("usage") if isinstance(message, dict) else None)
            case "content_block_start":
                return self._blocks.start(data.get("index"), data.get("content_block"))
            case "content_block_delta":
                return self._blocks.delta(data.get("index"), data.get("delta"))
            case "content_block_stop":
                return self._blocks.stop(data.get("index"))
            case "message_delta":
                self._take_reason(data.get("delta"))
                return self._usage(data.get("usage"))
            case "message_stop":
                self._stopped = self.done = True
        return []

    def _take_reason(self, delta: object) -> None:
        if not isinstance(delta, dict):
            raise ValueError("a message_delta without a delta")
        if reason := delta.get("stop_reason"):
            word = quote(str(reason), self._peer.secret)
            if word not in self._reasons:
                self._reasons.append(word)
        if isinstance(details := delta.get("stop_details"), dict):
            words = [details.get("category"), details.get("explanation")]
            said = ": ".join(str(word) for word in words if word)
            self._refusal = quote(said, self._peer.secret)

    def _usage(self, usage: object) -> list[StreamEvent]:
        """Counts are cumulative: a later one replaces, a missing one keeps the earlier."""
        if not isinstance(usage, dict):
            return []
        details = usage.get("output_tokens_details")
        thought = details.get("thinking_tokens") if isinstance(details, dict) else None
        told = {**usage, "thinking_tokens": thought}
        counts = {key: token_count(value) for key, value in told.items()}
        self._counts |= {key: count for key, count in counts.items() if count is not None}
        self._most_output = max(self._most_output, self._counts.get("output_tokens", 0))
        count = self._counts.get
        fresh = count("input_tokens")
        read, written = count("cache_read_input_tokens"), count("cache_creation_input_tokens")
        # the API counts what it read from and wrote to the cache apart from the rest
        whole = None if fresh is None else fresh + (read or 0) + (written or 0)
        return [Usage(whole, count("output_tokens"), read, written, count("thinking_tokens"))]

    def _failure(self, data: Mapping[str, Any]) -> ProviderError:
        error = data.get("error")
        kind = str(error.get("type") or "") if isinstance(error, dict) else ""
        said = error_text(data) or "no reason given"
        what = said if kind in ("", said) else f"{kind}: {said}"
        return ProviderError(
            f"{self._peer.host} broke off with an error: " + quote(what, self._peer.secret),
            advice=_ADVICE.get(kind, _OTHER_ADVICE),
        )

    def _broken(self, what: str) -> ProviderError:
        return ProviderError(
            f"{self._peer.host} sent {what}",
            advice="is this an Anthropic Messages server? check --base-url",
        )
