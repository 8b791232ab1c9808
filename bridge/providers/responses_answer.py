"""Reads the events of one Responses answer into neutral events; no I/O.

The evidence that an answer is complete is ``response.completed`` with the status ``completed``;
``[DONE]`` and the end of the connection are none. A terminal output that is not empty is the
authority about the output items; where it is missing the stream's own items count.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from bridge.conversation.stream import Finish, FinishReason, OpaqueItem, StreamEvent, Usage
from bridge.errors import ProviderError
from bridge.providers.refusals import error_text, quote
from bridge.providers.responses_items import word
from bridge.providers.responses_output import Event, Output
from bridge.providers.sse import ServerSentEvent
from bridge.providers.wire import Peer
from bridge.providers.wire_json import token_count, wire_object

_COMPLETED, _INCOMPLETE, _FAILED = "response.completed", "response.incomplete", "response.failed"
_TERMINALS = (_COMPLETED, _INCOMPLETE, _FAILED)
CUT = {
    "max_output_tokens": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}


class ResponsesAnswer:
    """A ``bridge.providers.wire.Answer``. ``native``: functions were offered in the request.
    ``note`` is told in one sentence what the server did to the history it was sent."""

    def __init__(self, peer: Peer, *, native: bool, note: Callable[[str], None]) -> None:
        self._peer = peer
        self._note = note
        self._output = Output(native=native)
        self._given: Sequence[Event] = ()
        self._finish: Finish | None = None
        self._understood = False
        self._ended = False

    @property
    def done(self) -> bool:
        """Nothing that follows a terminal event or ``[DONE]`` matters."""
        return self._ended or self.finished

    @property
    def finished(self) -> bool:
        """Whether a terminal event arrived."""
        return self._finish is not None

    def feed(self, event: ServerSentEvent) -> list[StreamEvent]:
        """See ``Answer.feed``. Events that are not known are ignored: the API grows."""
        if event.data.strip() == "[DONE]":
            self._ended = True
            return []
        data = self._json(event)
        # some servers give every event the same name: the data's own type counts
        kind = word(data.get("type")) or event.event
        if kind == "error" or data.get("error"):
            raise self._failed(data)
        self._understood = self._understood or kind.startswith("response.")
        try:
            if kind in _TERMINALS:
                return self._terminal(kind, data)
            handler = self._output.handlers.get(kind)
            return handler(data) if handler else []
        except ValueError as error:
            raise self._broken(str(error)) from error

    def close(self) -> list[StreamEvent]:
        """The provider's own items when the answer is whole, then the evidence."""
        if self._finish is None and not self._understood:
            raise self._broken("nothing of the Responses API")
        if self._finish is None:
            raise ProviderError(
                f"{self._peer.host} ended its answer without saying it was done",
                advice="the answer may be cut, so nothing unconfirmed was run; try again",
            )
        if self._output.half:
            raise ProviderError(f"{self._peer.host} ended its answer inside a character")
        whole = self._finish.reason in (FinishReason.STOP, FinishReason.TOOL_CALLS)
        items = (self._given or self._output.complete_items()) if whole else ()
        return [*map(OpaqueItem, items if all(map(_sendable, items)) else ()), self._finish]

    def _terminal(self, kind: str, data: Event) -> list[StreamEvent]:
        response = data.get("response")
        if not isinstance(response, dict):
            raise ValueError("a terminal event without its response")
        if kind == _FAILED or response.get("status") == "failed":
            raise self._failed(response)
        self._given = _items(response)
        events = self._output.settle(self._given)
        self._finish = self._judge(kind, response)
        self._tell_transformations(response)
        usage = _usage(response.get("usage"))
        # before what settling found: a carrier may stop reading there
        return [usage, *events] if usage else events

    def _judge(self, kind: str, response: Event) -> Finish:
        status = word(response.get("status"))
        raw = quote(status, self._peer.secret) or "no status"
        if status == "incomplete" or (not status and kind == _INCOMPLETE):
            details = response.get("incomplete_details")
            why = word(details.get("reason")) if isinstance(details, dict) else ""
            raw = f"incomplete: {quote(why, self._peer.secret) or 'no reason'}"
            return Finish(CUT.get(why, FinishReason.UNKNOWN), raw)
        if status != "completed" or kind != _COMPLETED:
            return Finish(FinishReason.UNKNOWN, raw)
        if odd := self._output.contradictions:
            return Finish(FinishReason.UNKNOWN, f"{raw} ({', '.join(odd)})")
        if self._output.refused:
            return Finish(FinishReason.CONTENT_FILTER, raw)
        return Finish(
            FinishReason.TOOL_CALLS if self._output.called else FinishReason.STOP,
            raw,
        )

    def _tell_transformations(self, response: Event) -> None:
        changes = response.get("input_transformations")
        if not isinstance(changes, list) or not changes:
            return
        reasons = {word(each.get("reason")) for each in changes if isinstance(each, dict)}
        said = quote(", ".join(sorted(reasons - {""})), self._peer.secret) or "no reason given"
        self._note(f"{self._peer.host} changed {len(changes)} items of the history ({said})")

    def _json(self, event: ServerSentEvent) -> dict[str, Any]:
        try:
            return wire_object(event.data)
        except ValueError as error:
            raise self._broken(str(error)) from error

    def _failed(self, data: Event) -> ProviderError:
        said = (
            error_text({"error": data.get("error")}) or error_text(data) or word(data.get("code"))
        )
        return ProviderError(
            f"{self._peer.host} broke off with an error: "
            + (quote(said, self._peer.secret) or "no reason given"),
            advice="try again; if it happens always, look at the provider's status",
        )

    def _broken(self, what: str) -> ProviderError:
        return ProviderError(
            f"{self._peer.host} sent {what}",
            advice="is this a Responses server? check --wire and --base-url",
        )


def _items(response: Event) -> Sequence[Event]:
    output = response.get("output")
    items = output if isinstance(output, list) else []
    if not all(isinstance(item, dict) and word(item.get("type")) for item in items):
        raise ValueError("an output item that is none")
    return items


def _sendable(item: Event) -> bool:
    """Half a character could not go back unchanged."""
    try:
        json.dumps(item, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


def _usage(value: object) -> Usage | None:
    if not isinstance(value, dict):
        return None
    read, written = value.get("input_tokens_details"), value.get("output_tokens_details")
    read = read if isinstance(read, dict) else {}
    written = written if isinstance(written, dict) else {}
    return Usage(
        token_count(value.get("input_tokens")),
        token_count(value.get("output_tokens")),
        token_count(read.get("cached_tokens")),
        token_count(read.get("cache_write_tokens")),
        token_count(written.get("reasoning_tokens")),
    )
