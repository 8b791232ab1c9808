"""The HTTP client of one request: whom it trusts, which proxy it takes, and what its errors are.

Proxies and CA files come from the environment (``HTTPS_PROXY``, ``HTTP_PROXY``, ``ALL_PROXY``,
``NO_PROXY``, ``SSL_CERT_FILE``, ``SSL_CERT_DIR``); a server on this machine is always reached
directly. Beside ``http`` the only importer of httpx (lazily), so that a successor with the same
interface is a small change.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bridge.errors import ConfigurationError
from bridge.providers.endpoint import is_local
from bridge.providers.faults import PROXY_ADVICE, Failure

if TYPE_CHECKING:
    import ssl

    import httpx


def open_client(url: str) -> httpx.Client:
    """A client for one request to ``url``.

    Raises:
        ConfigurationError: the environment names a CA file or a proxy that cannot be used.
    """
    import logging

    import httpx

    # at INFO httpx writes whole URLs, which may hold a key
    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)
    parts = urlsplit(url)
    local = is_local(parts.hostname or "")
    context = _plain() if local and parts.scheme == "http" else _trusted_by_the_environment()
    try:
        return httpx.Client(verify=context, trust_env=not local, follow_redirects=False)
    except ImportError as error:
        raise ConfigurationError(
            "the environment names a SOCKS proxy, and what speaks SOCKS is not installed",
            advice="pip install 'bridge-android[socks]', or another proxy in ALL_PROXY",
        ) from error
    except (httpx.InvalidURL, ValueError) as error:
        # its words may quote the URL, which may hold a password
        raise ConfigurationError(
            "the environment names a proxy by something that is no URL", advice=PROXY_ADVICE
        ) from error


def failure_of(error: Exception) -> Failure:
    """The kind of an exception that the client raised."""
    import httpx

    kinds: tuple[tuple[type[Exception], Failure], ...] = (
        (httpx.ConnectTimeout, Failure.CONNECT_TIMEOUT),
        (httpx.ReadTimeout, Failure.READ_TIMEOUT),
        (httpx.WriteTimeout, Failure.WRITE_TIMEOUT),
        (httpx.ProxyError, Failure.PROXY),
        (httpx.ConnectError, Failure.CONNECT),
        (httpx.NetworkError, Failure.BROKEN_OFF),
        (httpx.RemoteProtocolError, Failure.BROKEN_OFF),
    )
    return next((failure for kind, failure in kinds if isinstance(error, kind)), Failure.OTHER)


def _trusted_by_the_environment() -> ssl.SSLContext:
    try:
        return _trusted()
    except OSError as error:
        # ssl.SSLError is one of them: a file without a certificate
        file = os.environ.get("SSL_CERT_FILE", "")
        raise ConfigurationError(
            f"SSL_CERT_FILE={file} holds no certificate that can be read: {error.strerror}",
            advice="it must name a PEM file with the authorities to trust; unset it for the usual",
        ) from error


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
