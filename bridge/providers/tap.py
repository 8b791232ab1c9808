"""Who listens to the wire: recordings and debug output hear every request and every byte back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from bridge.providers.endpoint import Endpoint


class Ending(StrEnum):
    """CLOSED: the server ended its answer; BROKEN: the connection broke or a limit ran out;
    LEFT: the client had what it needed; FAILED: there was no response at all."""

    CLOSED = "closed"
    BROKEN = "broken"
    LEFT = "left"
    FAILED = "failed"


class Listener(Protocol):
    """Hears one exchange, in the order of these methods. RecordError: it cannot write."""

    def response(self, status: int, headers: Mapping[str, str]) -> None: ...

    def chunk(self, data: bytes) -> None:
        """The next bytes of the body, unpacked."""

    def ended(self, how: Ending) -> None: ...


class Tap(Protocol):
    """Hears all exchanges of a run."""

    def begin(self, endpoint: Endpoint, body: bytes) -> Listener:
        """A request is about to be sent. What is written must not hold the endpoint's secret."""


class Listeners:
    """All listeners of one exchange as one; only the first end counts."""

    def __init__(self, taps: Sequence[Tap], endpoint: Endpoint, body: bytes) -> None:
        self._listeners = [tap.begin(endpoint, body) for tap in taps]

    def response(self, status: int, headers: Mapping[str, str]) -> None:
        for each in self._listeners:
            each.response(status, headers)

    def chunk(self, data: bytes) -> None:
        for each in self._listeners:
            each.chunk(data)

    def ended(self, how: Ending) -> None:
        listeners, self._listeners = self._listeners, []
        for each in listeners:
            each.ended(how)
