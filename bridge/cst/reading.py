"""One reply from its bytes to its events, without a conversation around it.

The agent loop reads neutral events of a live server; here a ``Source`` makes them of bytes that
somebody kept. What is confirmed and when is the carrier's reader in both cases.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from bridge.conversation.frames import ContractError, Frame, StopReading
from bridge.conversation.stream import Finish, StreamEvent, TextDelta, Usage
from bridge.conversation.usage import merged
from bridge.cst.carrier import Carrier, Reader
from bridge.cst.carriers import CARRIERS
from bridge.errors import ProviderError

TEXT_MODES: Mapping[str, Carrier] = {
    name: carrier for name, carrier in CARRIERS.items() if not name.startswith("native")
}
"""The modes whose calls are part of the text; native calls need a wire format around them."""


class Source(Protocol):
    """Neutral events from the bytes of one reply, cut anywhere."""

    def feed(self, chunk: bytes) -> Iterator[StreamEvent]:
        """The events that are whole now. Raises ProviderError: this is no such stream."""

    def close(self) -> Iterator[StreamEvent]:
        """The last events, a ``Finish`` among them where there is evidence of an end. Raises
        ProviderError where the format demands evidence and there is none."""


class RawText:
    """A ``Source``: the reply's text and nothing around it. Bytes that are no UTF-8 read as
    U+FFFD; ``finish`` is what the user knows of its end."""

    def __init__(self, finish: Finish | None = None) -> None:
        self._finish = finish
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, chunk: bytes) -> Iterator[StreamEvent]:
        yield TextDelta(self._decoder.decode(chunk))

    def close(self) -> Iterator[StreamEvent]:
        yield TextDelta(self._decoder.decode(b"", final=True))
        if self._finish is not None:
            yield self._finish


class Reading:
    """Bytes in, frames out; ``over`` once nothing behind counts, as the loop hangs up there."""

    def __init__(self, source: Source, reader: Reader) -> None:
        self._source = source
        self._reader = reader
        self._usage = Usage()
        self._finish: Finish | None = None
        self.over = False

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """The frames that ``chunk`` confirmed. Raises ProviderError behind those before a fault."""
        yield from self._take(self._source.feed(chunk))

    def close(self) -> Iterator[Frame]:
        """The frames that the end confirms, as the stream itself said it ended."""
        yield from self._take(self._source.close())
        if not self.over:
            yield from self._reader.close(self._finish)

    def break_off(self) -> list[Frame]:
        """What is said of the calls that waited when the stream broke."""
        return [] if self.over else self._reader.close(None)

    def _take(self, events: Iterable[StreamEvent]) -> Iterator[Frame]:
        for event in events:
            if self.over:
                return
            match event:
                case Finish():
                    self._finish = event
                case Usage():
                    event = self._usage = merged(self._usage, event)
            for frame in self._reader.feed(event):
                self.over = self.over or isinstance(frame, ContractError | StopReading)
                yield frame


def frames_of(chunks: Iterable[bytes], reading: Reading) -> Iterator[Frame]:
    """All frames of a reply, each as soon as it is confirmed.

    Raises:
        ProviderError: the stream is broken; what the break says of waiting calls came before.
    """
    try:
        for chunk in chunks:
            yield from reading.feed(chunk)
            if reading.over:
                return
        yield from reading.close()
    except ProviderError:
        yield from reading.break_off()
        raise
