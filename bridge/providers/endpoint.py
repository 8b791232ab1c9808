"""Where requests go and what bounds them: plain values that every part of the client shares."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

OWN_KEY_VARIABLE = "BRIDGE_API_KEY"


@dataclass(frozen=True)
class HttpLimits:
    """Every wait of a request, in seconds, and what bounds its size and its retries.

    ``idle``, ``answer_wait`` and ``stragglers`` count only time spent waiting for bytes: while a
    tool runs nobody waits. ``idle`` starts again with every byte, a comment is enough;
    ``answer_wait`` is for one whole answer; ``stragglers`` is for what may still follow its
    terminal evidence (usage), since some servers then keep the connection open. ``error_body``
    and ``answer`` are bytes.
    """

    connect: float = 10.0
    write: float = 60.0
    first_byte: float = 300.0
    idle: float = 300.0
    answer_wait: float = 1800.0
    stragglers: float = 2.0
    attempts: int = 3
    first_pause: float = 0.5
    longest_pause: float = 60.0
    error_body: int = 64 * 1024
    answer: int = 32 * 1024 * 1024


@dataclass(frozen=True)
class Server:
    """A model server. ``key`` is never shown; ``key_source`` tells people where it comes from."""

    base_url: str
    key: str | None = field(default=None, repr=False)
    key_source: str = OWN_KEY_VARIABLE


@dataclass(frozen=True)
class Endpoint:
    """Where one request goes. ``headers`` hold the key: never shown.

    ``secret`` is cut out of whatever the server says about it. ``fallback`` is a second URL for
    when the first is not found ("" = none).
    """

    url: str
    fallback: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secret: str = field(default="", repr=False)
    key_source: str = OWN_KEY_VARIABLE

    @property
    def host(self) -> str:
        """``host:port`` for messages: no path, query or user information."""
        parts = urlsplit(self.url)
        name = parts.hostname or "?"
        return f"{name}:{parts.port}" if parts.port else name


def endpoint_of(server: Server, path: str, headers: Mapping[str, str]) -> Endpoint:
    """The endpoint ``path`` of ``server``."""
    base_url = server.base_url.rstrip("/")
    return Endpoint(
        base_url + path,
        # "http://host:8000" is what people type; most servers live below /v1
        "" if urlsplit(base_url).path else f"{base_url}/v1{path}",
        headers,
        server.key or "",
        server.key_source,
    )


def is_local(host: str) -> bool:
    """Whether ``host`` is this machine, by name or loopback address."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
