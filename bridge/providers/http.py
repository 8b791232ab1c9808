"""One streaming POST: named limits, cancel that closes the socket, faults in words.

``http_client`` makes the client; these two are the only importers of httpx (lazily).
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from bridge.errors import ProviderError
from bridge.providers.endpoint import Endpoint, HttpLimits
from bridge.providers.faults import answer_too_slow, connection_fault
from bridge.providers.http_client import failure_of, open_client
from bridge.providers.inflate import decoder
from bridge.providers.tap import Ending, Listeners, Tap
from device_tools.cancel import CancelScope

if TYPE_CHECKING:
    import httpx


class HttpResponse:
    """An open response; bytes are decoded (gzip) but not split."""

    def __init__(self, exchange: _Exchange, response: httpx.Response, listeners: Listeners) -> None:
        self._exchange = exchange
        self._response = response
        self._listeners = listeners
        self._left = exchange.limits.answer_wait
        self._ending = False
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers
        # the dictionary that the body will be read with; the headers are here by now
        response.request.extensions["timeout"]["read"] = exchange.limits.idle

    def expect_end(self) -> None:
        """All that matters is here: from now on wait for no more than the stragglers."""
        if not self._ending:
            self._ending = True
            self._left = self._exchange.limits.stragglers

    def chunks(self) -> Iterator[bytes]:
        """Raises ProviderError when the connection breaks or a wait is too long, Cancelled."""
        host = self._exchange.endpoint.host
        try:
            decode = decoder(self.headers.get("content-encoding", ""))
            for chunk in self._raw_chunks():
                for piece in decode(chunk):
                    self._exchange.cancel.check()
                    self._listeners.chunk(piece)
                    yield piece
            self._listeners.ended(Ending.CLOSED)
        except ValueError as error:
            raise ProviderError(
                f"{host} sent a compressed answer that cannot be unpacked: {error}"
            ) from error

    def body(self, limit: int) -> bytes:
        """At most ``limit`` bytes of the body, for telling what went wrong."""
        body = b""
        for chunk in self.chunks():
            body += chunk
            if len(body) >= limit:
                break
        return body[:limit]

    def _raw_chunks(self) -> Iterator[bytes]:
        import httpx

        raw = self._response.iter_raw()
        while True:
            try:
                chunk = self._next(raw)
            except httpx.HTTPError as error:
                self._listeners.ended(Ending.BROKEN)
                raise self._exchange.fault(error, "idle", self._exchange.limits.idle) from error
            # a socket that cancel shut down looks like a clean end
            self._exchange.cancel.check()
            if chunk is None:
                return
            yield chunk

    def _next(self, raw: Iterator[bytes]) -> bytes | None:
        if self._left <= 0:
            raise answer_too_slow(self._exchange.endpoint.host, self._exchange.limits)
        started = time.monotonic()
        with self._exchange.hanging_up_after(self._left if self._ending else None):
            chunk = next(raw, None)
        self._left -= time.monotonic() - started
        return chunk


@contextmanager
def post(
    endpoint: Endpoint,
    body: bytes,
    cancel: CancelScope,
    limits: HttpLimits,
    taps: Sequence[Tap] = (),
) -> Iterator[HttpResponse]:
    """POST ``body`` (JSON) and yield the response; leaving closes the connection at once.

    Raises:
        ProviderError: no connection, TLS failure, a limit ran out, the server hung up.
        ConfigurationError: the environment names a CA file or a proxy that cannot be used.
        Cancelled: the scope was cancelled; takes effect within milliseconds in every phase.
        RecordError: a tap cannot write what it hears.
    """
    exchange = _Exchange(endpoint, cancel, limits)
    listeners = Listeners(taps, endpoint, body)
    ending = Ending.FAILED
    with cancel.closing(exchange.abort):
        try:
            response = exchange.send(body)
            ending = Ending.LEFT
            listeners.response(response.status_code, response.headers)
            yield HttpResponse(exchange, response, listeners)
        finally:
            exchange.close()
            listeners.ended(ending)


class _Exchange:
    """One request and its connection.

    The request is sent by a thread of its own, because name lookup and connecting cannot be
    interrupted; the body is read by the caller, because a shut-down socket wakes its reader.
    """

    def __init__(self, endpoint: Endpoint, cancel: CancelScope, limits: HttpLimits) -> None:
        self.endpoint = endpoint
        self.cancel = cancel
        self.limits = limits
        self._client = open_client(endpoint.url)
        self._response: httpx.Response | None = None
        self._socket: socket.socket | None = None
        self._server = self._dialled = ""
        self._aborted = False
        # SimpleQueue.put is re-entrant: abort may run in a signal handler of the waiting thread
        self._outcome: SimpleQueue[httpx.Response | Exception | None] = SimpleQueue()

    def send(self, body: bytes) -> httpx.Response:
        request = self._request(body)
        self._server = request.url.raw_host.decode("ascii")
        threading.Thread(
            target=self._open, args=(request,), name="bridge-http-open", daemon=True
        ).start()
        outcome = self._outcome.get()
        self.cancel.check()
        if isinstance(outcome, Exception):
            raise self.fault(outcome, "first-byte", self.limits.first_byte) from outcome
        if outcome is None:
            raise ProviderError(f"the request to {self.endpoint.host} could not be sent")
        self._response = outcome
        return outcome

    def _request(self, body: bytes) -> httpx.Request:
        import httpx

        headers = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream",
            # compressing a stream saves nothing and lets proxies hold it back
            "Accept-Encoding": "identity",
        }
        limits = self.limits
        try:
            return self._client.build_request(
                "POST",
                self.endpoint.url,
                content=body,
                headers={**headers, **self.endpoint.headers},
                timeout=httpx.Timeout(
                    connect=limits.connect,
                    write=limits.write,
                    read=limits.first_byte,
                    pool=limits.connect,
                ),
                extensions={"trace": self._trace},
            )
        except (httpx.InvalidURL, UnicodeError) as error:
            raise ProviderError(
                "the base URL is not a URL", advice="check --base-url or BRIDGE_BASE_URL"
            ) from error

    def _open(self, request: httpx.Request) -> None:
        import httpx

        outcome: httpx.Response | Exception | None = None
        try:
            outcome = self._client.send(request, stream=True)
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, RuntimeError) as error:
            outcome = error
        finally:
            # also after an exception nobody thought of: the caller must not wait for ever
            self._outcome.put(outcome)
            if self._aborted and isinstance(outcome, httpx.Response):
                outcome.close()

    def _trace(self, name: str, info: dict[str, Any]) -> None:
        if name.endswith("connect_tcp.started"):
            self._dialled = f"{info['host']}:{info['port']}"
        if name.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._socket = info["return_value"].get_extra_info("socket")
            if self._aborted:
                self._shut()

    def abort(self) -> None:
        self._aborted = True
        self._shut()
        self._outcome.put(None)

    @contextmanager
    def hanging_up_after(self, seconds: float | None) -> Iterator[None]:
        """Shut the connection down when the body takes longer; None does nothing."""
        if seconds is None:
            yield
            return
        timer = threading.Timer(max(0.0, seconds), self._shut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _shut(self) -> None:
        if self._socket is not None:
            # not SSLSocket.shutdown, which drops the TLS state another thread is reading with
            with suppress(OSError):
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def close(self) -> None:
        if self._response is not None:
            self._response.close()
        self._client.close()

    def fault(self, error: Exception, limit: str, seconds: float) -> Exception:
        """What a failure of httpx means to the user; Cancelled when cancel caused it."""
        self.cancel.check()
        waiting = f"{limit} limit, {seconds:g} s"
        failure, host = failure_of(error), self.endpoint.host
        return connection_fault(failure, error, host, self.limits, waiting, self._proxy())

    def _proxy(self) -> str:
        """``host:port`` of the proxy that was dialled, "" when it was the server itself."""
        return "" if self._dialled.rpartition(":")[0] == self._server else self._dialled
