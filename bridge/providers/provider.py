"""A model server behind any wire: write the request, post it, read the answer into neutral events.

What differs between model APIs is the ``Wire``; connections, retries, limits and cancel are here
and below, the same for all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType

from bridge.conversation.messages import ModelRequest
from bridge.conversation.stream import ModelStream, StreamEvent
from bridge.errors import ProviderError
from bridge.providers.endpoint import HttpLimits, Server, endpoint_of
from bridge.providers.event_stream import EventStream, open_events
from bridge.providers.pictures import without_pictures
from bridge.providers.sse import ServerSentEvent
from bridge.providers.tap import Tap
from bridge.providers.wire import Answer, Peer, RequestOptions, Wire
from device_tools.cancel import CancelScope


def ignore_notice(_text: str) -> None:
    """For callers that do not show notices."""


class HttpProvider:
    """A ``bridge.agent.ports.Provider``. ``on_retry`` is told of each retry in one sentence,
    ``taps`` of every request and every byte that comes back."""

    def __init__(
        self,
        name: str,
        wire: Wire,
        options: RequestOptions,
        server: Server,
        cancel: CancelScope,
        *,
        limits: HttpLimits | None = None,
        on_retry: Callable[[str], None] = ignore_notice,
        taps: Sequence[Tap] = (),
        extra_headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.name = name
        self.model = options.model
        self._wire = wire
        self._options = options
        headers = {**extra_headers, **wire.headers(server.key)}
        self._endpoint = endpoint_of(server, wire.path, headers)
        self._cancel = cancel
        self._limits = limits or HttpLimits()
        self._on_retry = on_retry
        self._taps = taps

    @contextmanager
    def stream(self, request: ModelRequest) -> Iterator[ModelStream]:
        """See ``bridge.agent.ports.Provider.stream``."""
        peer = Peer(self._endpoint.host, self._endpoint.secret)
        if not self._options.pictures:
            request = without_pictures(request)
        body = json.dumps(self._wire.body(request, self._options), ensure_ascii=False)
        with open_events(
            self._endpoint,
            # a lone surrogate (half an emoji from a model or a screen) is no UTF-8
            body.encode("utf-8", "replace"),
            model=self.model,
            cancel=self._cancel,
            limits=self._limits,
            on_retry=self._on_retry,
            taps=self._taps,
        ) as events:
            yield _Response(events, self._wire.answer(request, self._options, peer))


class _Response:
    """A ``bridge.conversation.stream.ModelStream``."""

    def __init__(self, events: EventStream, answer: Answer) -> None:
        self._events = events
        self._read = _read(events, answer)

    def __iter__(self) -> Iterator[StreamEvent]:
        return self._read

    def __next__(self) -> StreamEvent:
        return next(self._read)

    def expect_end(self) -> None:
        self._events.expect_end()


def _read(stream: EventStream, answer: Answer) -> Iterator[StreamEvent]:
    for event in _until_broken(stream, answer):
        yield from answer.feed(event)
        if answer.done:
            break
        if answer.finished:
            stream.expect_end()
    yield from answer.close()


def _until_broken(stream: EventStream, answer: Answer) -> Iterator[ServerSentEvent]:
    """The events; a connection that breaks behind the terminal evidence just ends them."""
    try:
        yield from stream
    except ProviderError:
        if not answer.finished:
            raise
