"""One streaming POST: named limits, cancel that closes the socket, faults in words.

The only importer of httpx (lazily), so that a successor with the same interface is one line.
Proxies and CA files come from the environment (``HTTPS_PROXY``, ``NO_PROXY``, ``SSL_CERT_FILE``,
``SSL_CERT_DIR``); a server on this machine is always reached directly.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bridge.errors import ProviderError
from device_tools.cancel import CancelScope

if TYPE_CHECKING:
    import ssl

    import httpx


@dataclass(frozen=True)
class HttpLimits:
    """Every wait of a request, in seconds, and what bounds its size and its retries.

    ``idle`` counts only time spent waiting for bytes: while a tool runs nobody waits.
    """

    connect: float = 10.0
    write: float = 60.0
    first_byte: float = 300.0
    idle: float = 300.0
    attempts: int = 3
    first_pause: float = 0.5
    longest_pause: float = 60.0
    error_body: int = 64 * 1024
    answer: int = 32 * 1024 * 1024


@dataclass(frozen=True)
class Endpoint:
    """Where requests go. ``headers`` hold the key: never shown; ``key_variable`` names its source.

    ``secret`` is cut out of whatever the server says about it. ``fallback`` is a second URL for
    when the first is not found ("" = none).
    """

    url: str
    fallback: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secret: str = field(default="", repr=False)
    key_variable: str = "BRIDGE_API_KEY"

    @property
    def host(self) -> str:
        """``host:port`` for messages: no path, query or user information."""
        parts = urlsplit(self.url)
        name = parts.hostname or "?"
        return f"{name}:{parts.port}" if parts.port else name


class HttpResponse:
    """An open response; bytes are decoded (gzip) but not split."""

    def __init__(self, exchange: _Exchange, response: httpx.Response) -> None:
        self._exchange = exchange
        self._response = response
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers
        # the dictionary that the body will be read with; the headers are here by now
        response.request.extensions["timeout"]["read"] = exchange.limits.idle

    def chunks(self) -> Iterator[bytes]:
        """Raises ProviderError when the connection breaks or is idle too long, Cancelled."""
        import httpx

        try:
            for chunk in self._response.iter_bytes():
                self._exchange.cancel.check()
                yield chunk
        except httpx.HTTPError as error:
            raise self._exchange.fault(error, "idle", self._exchange.limits.idle) from error
        # a socket that cancel shut down looks like a clean end
        self._exchange.cancel.check()

    def body(self, limit: int) -> bytes:
        """At most ``limit`` bytes of the body, for telling what went wrong."""
        body = b""
        for chunk in self.chunks():
            body += chunk
            if len(body) >= limit:
                break
        return body[:limit]


@contextmanager
def post(
    endpoint: Endpoint, body: bytes, cancel: CancelScope, limits: HttpLimits
) -> Iterator[HttpResponse]:
    """POST ``body`` (JSON) and yield the response; leaving closes the connection at once.

    Raises:
        ProviderError: no connection, TLS failure, a limit ran out, the server hung up.
        Cancelled: the scope was cancelled; takes effect within milliseconds in every phase.
    """
    exchange = _Exchange(endpoint, cancel, limits)
    with cancel.closing(exchange.abort):
        try:
            yield HttpResponse(exchange, exchange.send(body))
        finally:
            exchange.close()


class _Exchange:
    """One request and its connection.

    The request is sent by a thread of its own, because name lookup and connecting cannot be
    interrupted; the body is read by the caller, because a shut-down socket wakes its reader.
    """

    def __init__(self, endpoint: Endpoint, cancel: CancelScope, limits: HttpLimits) -> None:
        self.endpoint = endpoint
        self.cancel = cancel
        self.limits = limits
        self._client = _client(endpoint.url)
        self._response: httpx.Response | None = None
        self._socket: socket.socket | None = None
        self._aborted = False
        # SimpleQueue.put is re-entrant: abort may run in a signal handler of the waiting thread
        self._outcome: SimpleQueue[httpx.Response | Exception | None] = SimpleQueue()

    def send(self, body: bytes) -> httpx.Response:
        request = self._request(body)
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

        headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
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
        if name.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._socket = info["return_value"].get_extra_info("socket")
            if self._aborted:
                self._shut()

    def abort(self) -> None:
        self._aborted = True
        self._shut()
        self._outcome.put(None)

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
        return _fault(error, self.endpoint.host, self.limits, f"{limit} limit, {seconds:g} s")


def _fault(error: Exception, host: str, limits: HttpLimits, waiting: str) -> ProviderError:
    import httpx

    if isinstance(error, httpx.ConnectTimeout):
        return ProviderError(
            f"{host} did not accept a connection (connect limit, {limits.connect:g} s)",
            advice="check the network, the proxy settings and --base-url",
            retryable=True,
        )
    if isinstance(error, httpx.ReadTimeout):
        return ProviderError(
            f"{host} sent nothing for too long ({waiting})",
            advice="the server may be overloaded or the model still loading; try again",
        )
    if isinstance(error, httpx.WriteTimeout):
        return ProviderError(f"{host} did not take the request (write limit, {limits.write:g} s)")
    if isinstance(error, httpx.ProxyError):
        return ProviderError(
            f"the proxy refused the way to {host}: {error}",
            advice="check HTTPS_PROXY, HTTP_PROXY and NO_PROXY",
        )
    if isinstance(error, httpx.ConnectError):
        return _no_connection(error, host)
    if isinstance(error, httpx.DecodingError):
        return ProviderError(f"{host} sent a compressed answer that cannot be unpacked")
    if isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError):
        return ProviderError(
            f"{host} broke off the connection",
            advice="try again; if it happens always, look at the server's log",
            retryable=True,
        )
    # str(error) of the rest may quote the URL, which may hold a secret
    return ProviderError(
        f"the request to {host} failed ({type(error).__name__})", advice="check --base-url"
    )


def _no_connection(error: Exception, host: str) -> ProviderError:
    import ssl

    cause = _root(error)
    if isinstance(cause, ssl.SSLError):
        return ProviderError(
            f"no trusted TLS connection to {host}: {cause.reason or cause}",
            advice="check that the URL should be https; a private certificate authority is "
            "trusted by SSL_CERT_FILE=/path/to/ca.pem",
        )
    if isinstance(cause, socket.gaierror):
        return ProviderError(
            f"the name of {host} cannot be resolved",
            advice="check --base-url and the network",
            retryable=cause.errno == socket.EAI_AGAIN,
        )
    word = getattr(cause, "strerror", None) or type(cause).__name__
    return ProviderError(
        f"no connection to {host}: {word}",
        advice="is the server running, and is --base-url right?",
        retryable=True,
    )


def _root(error: BaseException) -> BaseException:
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return error


def _client(url: str) -> httpx.Client:
    import logging

    import httpx

    # at INFO httpx writes whole URLs, which may hold a key
    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)
    parts = urlsplit(url)
    local = is_local(parts.hostname or "")
    context = _plain() if local and parts.scheme == "http" else _trusted()
    return httpx.Client(verify=context, trust_env=not local, follow_redirects=False)


def is_local(host: str) -> bool:
    """Whether ``host`` is this machine, by name or loopback address."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@lru_cache(maxsize=1)
def _trusted() -> ssl.SSLContext:
    import httpx

    # 20 ms of reading certificates, once
    return httpx.create_ssl_context()


@lru_cache(maxsize=1)
def _plain() -> ssl.SSLContext:
    """Trusts nothing; for connections that never use TLS."""
    import ssl

    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
