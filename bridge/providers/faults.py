"""What a broken connection means to the user: a kind of failure -> ProviderError."""

from __future__ import annotations

import socket
from enum import Enum, auto

from bridge.errors import ProviderError
from bridge.providers.endpoint import HttpLimits

PROXY_ADVICE = "check HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY"


class Failure(Enum):
    """The kinds of failure, whatever HTTP client they come from."""

    CONNECT_TIMEOUT = auto()
    READ_TIMEOUT = auto()
    WRITE_TIMEOUT = auto()
    PROXY = auto()
    CONNECT = auto()
    BROKEN_OFF = auto()
    OTHER = auto()


def connection_fault(
    failure: Failure, error: Exception, host: str, limits: HttpLimits, waiting: str, proxy: str
) -> ProviderError:
    """``error`` in words.

    ``waiting`` names the limit that a silent server ran into; ``proxy`` is the one that was
    dialled instead of ``host``, "" for none.
    """
    match failure:
        case Failure.CONNECT_TIMEOUT | Failure.CONNECT if proxy and not _is_tls(error):
            return _no_proxy(error, host, proxy)
        case Failure.CONNECT_TIMEOUT:
            return ProviderError(
                f"{host} did not accept a connection (connect limit, {limits.connect:g} s)",
                advice="check the network, the proxy settings and --base-url",
                retryable=True,
            )
        case Failure.READ_TIMEOUT:
            return ProviderError(
                f"{host} sent nothing for too long ({waiting})",
                advice="the server may be overloaded or the model still loading; try again",
            )
        case Failure.WRITE_TIMEOUT:
            return ProviderError(
                f"{host} did not take the request (write limit, {limits.write:g} s)"
            )
        case Failure.PROXY:
            return ProviderError(
                f"the proxy refused the way to {host}: {error}",
                advice=PROXY_ADVICE,
            )
        case Failure.CONNECT:
            return _no_connection(error, host)
        case Failure.BROKEN_OFF:
            return _broken_off(error, host)
        case Failure.OTHER:
            # str(error) may quote the URL, which may hold a secret
            return ProviderError(
                f"the request to {host} failed ({type(error).__name__})",
                advice="check --base-url",
            )


def answer_too_slow(host: str, limits: HttpLimits) -> ProviderError:
    """The server goes on sending, but its answer takes too long."""
    return ProviderError(
        f"{host} did not end its answer (answer limit, {limits.answer_wait:g} s of waiting)",
        advice="the server may be overloaded; try again, or a smaller task",
    )


def answer_too_large(host: str, limits: HttpLimits) -> ProviderError:
    """The model may be caught in a loop, or the server sends a bomb."""
    return ProviderError(
        f"{host} sent more than {limits.answer} bytes in one answer",
        advice="the model may be caught in a loop: try again, or another model",
    )


def _broken_off(error: Exception, host: str) -> ProviderError:
    if _is_tls(error):
        return _no_trust(_root(error), host)
    return ProviderError(
        f"{host} broke off the connection",
        advice="try again; if it happens always, look at the server's log",
        retryable=True,
    )


def _no_connection(error: Exception, host: str) -> ProviderError:
    cause = _root(error)
    if _is_tls(error):
        return _no_trust(cause, host)
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


def _no_proxy(error: Exception, host: str, proxy: str) -> ProviderError:
    cause = _root(error)
    word = getattr(cause, "strerror", None) or type(cause).__name__
    return ProviderError(
        f"no connection to the proxy {proxy} on the way to {host}: {word}",
        advice=PROXY_ADVICE,
        retryable=True,
    )


def _is_tls(error: Exception) -> bool:
    import ssl

    return isinstance(_root(error), ssl.SSLError)


def _no_trust(cause: BaseException, host: str) -> ProviderError:
    return ProviderError(
        f"no trusted TLS connection to {host}: {getattr(cause, 'reason', None) or cause}",
        advice="check that the URL should be https; a private certificate authority is "
        "trusted by SSL_CERT_FILE=/path/to/ca.pem",
    )


def _root(error: BaseException) -> BaseException:
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return error
