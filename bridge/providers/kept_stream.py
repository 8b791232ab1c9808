"""The neutral events of an answer that somebody kept as bytes: decoder and wire, no connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from bridge.conversation.messages import ModelRequest
from bridge.conversation.stream import StreamEvent
from bridge.errors import ProviderError
from bridge.providers.profiles import PROVIDERS
from bridge.providers.sse import ServerSentEvent, SseDecoder, SseError
from bridge.providers.wire import Peer, RequestOptions
from bridge.providers.wires import open_wire
from device_tools.schema import ToolSpec

_NO_CAP = 2**31
"""Output tokens that no answer reaches: some wires assume a cap where none is named."""


class KeptStream:
    """A ``bridge.cst.reading.Source``. ``wire`` names the format; ``tools`` are those that went
    into the request, none for text modes; ``output_cap`` its output tokens, None = not known."""

    def __init__(
        self,
        wire: str,
        tools: Sequence[ToolSpec],
        output_cap: int | None,
        note: Callable[[str], None],
    ) -> None:
        format_ = open_wire(wire, PROVIDERS["custom"], quirk="", note=note)
        request = ModelRequest("", (), tuple(tools), output_cap or _NO_CAP)
        self._answer = format_.answer(request, RequestOptions("kept"), Peer("the server"))
        self._decoder = SseDecoder()
        self._empty = True
        self._ended = False

    def feed(self, chunk: bytes) -> Iterator[StreamEvent]:
        """Raises ProviderError: an error of the server, or not the format of the wire."""
        for event in self._decoded(chunk):
            if self._answer.done:
                return
            self._empty = False
            yield from self._answer.feed(event)

    def close(self) -> Iterator[StreamEvent]:
        """Raises ProviderError: no events at all, or no evidence that the answer ended."""
        if self._empty:
            raise ProviderError(
                "there is no event in the stream",
                advice="an event stream has lines such as data: {...}; raw text goes without --sse",
            )
        yield from self._answer.close()

    def _decoded(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        if self._ended or self._answer.done:
            return
        try:
            yield from self._decoder.feed(chunk)
        except SseError as error:
            yield from error.events
            # behind the terminal evidence nothing is lost, as with a live server
            self._ended = True
            if not self._answer.finished:
                raise ProviderError(
                    f"the event stream is broken: {error}",
                    advice="keep the bytes of the answer as they came, for example with curl -N",
                ) from error
