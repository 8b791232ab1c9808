"""POST that is answered by server-sent events; retried only until the first event arrived."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import chain, count

from bridge.errors import ProviderError
from bridge.providers.endpoint import Endpoint, HttpLimits
from bridge.providers.faults import answer_too_large
from bridge.providers.http import HttpResponse, post
from bridge.providers.refusals import from_status, not_a_stream
from bridge.providers.sse import ServerSentEvent, SseDecoder, SseError
from bridge.providers.tap import Tap
from device_tools.cancel import CancelScope


class EventStream:
    """The events of one answer, to be read once."""

    def __init__(self, response: HttpResponse, events: Iterator[ServerSentEvent]) -> None:
        self._response = response
        self._events = events

    def __iter__(self) -> Iterator[ServerSentEvent]:
        """Raises ProviderError when the connection or the format breaks, Cancelled."""
        return self._events

    def expect_end(self) -> None:
        """The terminal evidence is here: wait for no more than ``HttpLimits.stragglers``."""
        self._response.expect_end()


@contextmanager
def open_events(
    endpoint: Endpoint,
    body: bytes,
    *,
    model: str,
    cancel: CancelScope,
    limits: HttpLimits,
    on_retry: Callable[[str], None],
    taps: Sequence[Tap] = (),
) -> Iterator[EventStream]:
    """Yield the answer once its first event is here. ``on_retry`` is told of each retry.

    Raises:
        ProviderError: at opening after the last attempt, or while iterating.
        Cancelled: the scope was cancelled.
    """
    for attempt in count(1):
        with ExitStack() as stack:
            try:
                response = stack.enter_context(post(endpoint, body, cancel, limits, taps))
                if response.status in (404, 405) and endpoint.fallback:
                    endpoint = replace(endpoint, url=endpoint.fallback, fallback="")
                    stack.close()
                    response = stack.enter_context(post(endpoint, body, cancel, limits, taps))
                events = _events(endpoint, response, model, limits)
                first = _first(events, endpoint)
            except ProviderError as error:
                pause = _pause(error, attempt, limits)
                if pause is None:
                    raise
                fault = error.message
            else:
                yield EventStream(response, chain([first], events))
                return
        on_retry(f"{fault}; attempt {attempt + 1} of {limits.attempts} in {pause:g} s")
        cancel.wait(pause)


def _first(events: Iterator[ServerSentEvent], endpoint: Endpoint) -> ServerSentEvent:
    for event in events:
        return event
    raise ProviderError(
        f"{endpoint.host} closed the stream before the first event",
        advice="look at the server's log",
        retryable=True,
    )


def _pause(error: ProviderError, attempt: int, limits: HttpLimits) -> float | None:
    """Seconds until the next attempt, None when there is none."""
    if not error.retryable or attempt >= limits.attempts:
        return None
    pause = limits.first_pause * 2.0 ** (attempt - 1)
    if error.retry_after is not None:
        # an earlier retry would be refused, a much later one is the user's decision
        pause = max(pause, error.retry_after)
    return pause if pause <= limits.longest_pause else None


def _events(
    endpoint: Endpoint, response: HttpResponse, model: str, limits: HttpLimits
) -> Iterator[ServerSentEvent]:
    if response.status != 200:
        body = response.body(limits.error_body)
        raise from_status(endpoint, response.status, response.headers, body, model)
    kind = response.headers.get("content-type", "text/event-stream")
    if kind.partition(";")[0].strip().lower() != "text/event-stream":
        raise not_a_stream(endpoint, response.headers, response.body(limits.error_body))
    decoder, size = SseDecoder(), 0
    try:
        for chunk in response.chunks():
            size += len(chunk)
            if size > limits.answer:
                raise answer_too_large(endpoint.host, limits)
            yield from decoder.feed(chunk)
    except SseError as error:
        yield from error.events
        raise ProviderError(
            f"{endpoint.host} sent a broken answer: {error}",
            advice="is this a model server? check --base-url, or report it with --record",
        ) from error
