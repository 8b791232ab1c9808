"""What differs between model APIs, as one small interface without I/O.

A wire writes a request and reads the events of its answer; connections, retries, limits and
cancel are the same for all and live elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from bridge.conversation.messages import ModelRequest
from bridge.conversation.stream import StreamEvent
from bridge.providers.sse import ServerSentEvent


@dataclass(frozen=True)
class RequestOptions:
    """What a request carries besides the conversation.

    ``thinking``: "" leaves it to the server, "off" asks for none and removes every override of it
    from ``extra``, else an effort ("low", "medium", "high"). ``reasons``: the model is known to
    reason (catalogue). ``web_search``: offer the provider's own search. ``pictures``: the model
    reads them; else lines of text stand for them. ``extra``: the user's additions to the request
    body.
    """

    model: str
    max_tokens_field: str = "max_tokens"
    thinking: str = ""
    reasons: bool = False
    web_search: bool = False
    pictures: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Peer:
    """Who answers, for messages: ``host`` may be shown, ``secret`` is cut out of quotations."""

    host: str
    secret: str = field(default="", repr=False)


class Answer(Protocol):
    """Reads the events of one answer."""

    @property
    def done(self) -> bool:
        """Whether nothing that follows matters: stop reading."""

    @property
    def finished(self) -> bool:
        """Whether the terminal evidence is there; a broken connection then loses nothing."""

    def feed(self, event: ServerSentEvent) -> list[StreamEvent]:
        """Raises ProviderError: an error object, no JSON, or not the shape of the wire."""

    def close(self) -> list[StreamEvent]:
        """The last events, with exactly one ``Finish``. Raises ProviderError without evidence."""


class Wire(Protocol):
    """One model API."""

    @property
    def name(self) -> str:
        """``chat``, ``responses`` or ``anthropic``."""

    @property
    def path(self) -> str:
        """Behind the base URL, such as ``/chat/completions``."""

    def headers(self, key: str | None) -> Mapping[str, str]:
        """Authentication and version headers."""

    def body(self, request: ModelRequest, options: RequestOptions) -> dict[str, Any]:
        """The JSON of the request."""

    def answer(self, request: ModelRequest, options: RequestOptions, peer: Peer) -> Answer:
        """A fresh reader for the answer to ``request``."""
