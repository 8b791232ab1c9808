"""One response: read its events, run what the carrier confirms, record the rest.

A call runs the moment it is confirmed, inside the stream; nothing is read while it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from bridge.agent.calls import Calls
from bridge.agent.ports import Clock, Journal, Provider
from bridge.agent.totals import Totals
from bridge.agent.turn import Turn
from bridge.conversation import events
from bridge.conversation.frames import (
    CallReady,
    CallRefused,
    ContractError,
    Frame,
    StopReading,
    TextConfirmed,
)
from bridge.conversation.messages import ModelRequest
from bridge.conversation.stream import (
    CallDelta,
    Citation,
    Finish,
    HostedTool,
    ModelStream,
    OpaqueItem,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    Usage,
)
from bridge.conversation.usage import merged
from bridge.cst.carrier import Reader
from bridge.cst.gate import most
from bridge.errors import ProviderError
from device_tools.errors import Cancelled

RAW_REASON_CHARS = 200


class Responses:
    """Reads the responses of a run; what they bring goes into the ``Turn``."""

    def __init__(
        self, provider: Provider, journal: Journal, clock: Clock, calls: Calls, totals: Totals
    ) -> None:
        self._provider = provider
        self._journal = journal
        self._clock = clock
        self._calls = calls
        self._totals = totals

    def read(self, turn: Turn, reader: Reader, request: ModelRequest) -> None:
        """One response to its end, or to where nothing behind counts any more.

        Raises:
            ProviderError, Cancelled, RecordError: as they come; the response is recorded as
                broken or cancelled and every call has its answer.
        """
        reason = ""
        try:
            self._read(turn, reader, request)
        except ProviderError:
            reason = "broken"
            # calls that waited for the end of the reply are answered, though the run is over
            self._handle(turn, reader.close(None))
            raise
        except Cancelled:
            reason = "cancelled"
            raise
        finally:
            self._finish(turn, reason or turn.reason)

    def _read(self, turn: Turn, reader: Reader, request: ModelRequest) -> None:
        with self._provider.stream(request) as stream:
            for event in stream:
                event = self._take(turn, event)
                self._handle(turn, reader.feed(event))
                if turn.stopped:
                    if turn.answer is not None:
                        self._read_usage(turn, stream)
                    return
        # usage may come behind the finish reason: the cap is judged here, when all of it is known
        self._handle(turn, reader.close(turn.finish))

    def _read_usage(self, turn: Turn, stream: ModelStream) -> None:
        """Behind ``finish`` only what the reply used still counts; a model that goes on is left."""
        stream.expect_end()
        # the answer stands, whatever becomes of its stream
        with suppress(ProviderError):
            for event in stream:
                if isinstance(event, Usage | Finish):
                    self._take(turn, event)
                elif isinstance(event, CallDelta) or _is_guess(event):
                    return

    def _take(self, turn: Turn, event: StreamEvent) -> StreamEvent:
        """Keep what is for the turn; usage goes on to the carrier with all that was said before."""
        match event:
            case Usage():
                turn.usage = merged(turn.usage, event)
                turn.most_output = most(turn.most_output, event.output_tokens)
                return turn.usage
            case Finish():
                turn.finish = event
            case TextDelta(text):
                turn.characters += len(text)
            case ReasoningDelta():
                turn.reasoning.append(event)
            case OpaqueItem(item):
                turn.items.append(item)
            case Citation():
                turn.citations.append(event)
            case HostedTool():
                self._record_hosted(turn, event)
        return event

    def _handle(self, turn: Turn, frames: Sequence[Frame]) -> None:
        for frame in frames:
            match frame:
                case TextConfirmed(text):
                    turn.prose.append(text)
                    turn.unrecorded.append(text)
                case CallReady(call):
                    self._flush_prose(turn, self._calls.secrets_in(call))
                    self._calls.answer(turn, call)
                case CallRefused():
                    self._flush_prose(turn)
                    self._calls.refuse(turn, frame)
                case ContractError():
                    turn.fault = frame
                    turn.stopped = True
                case StopReading():
                    turn.stopped = True
                case _:
                    pass  # openings and argument pieces are for displays

    def _flush_prose(self, turn: Turn, secrets: tuple[str, ...] = ()) -> None:
        text = "".join(turn.unrecorded).strip()
        turn.unrecorded.clear()
        if text:
            self._journal.record(events.AssistantText(turn.number, text, secrets))

    def _record_hosted(self, turn: Turn, tool: HostedTool) -> None:
        if tool.id not in turn.hosted:
            turn.hosted.add(tool.id)
            self._journal.record(events.HostedToolStarted(turn.number, tool.id, tool.name))
        if tool.ended:
            self._journal.record(
                events.HostedToolEnded(turn.number, tool.id, tool.name, tool.failed)
            )

    def _finish(self, turn: Turn, reason: str) -> None:
        if turn.citations and len(turn.unrecorded) == len(turn.prose):
            turn.unrecorded[:] = [turn.text]  # recorded once, with its links
        self._flush_prose(turn)
        if reasoning := turn.reasoning_text:
            summary = all(piece.summary for piece in turn.reasoning)
            self._journal.record(events.ReasoningText(turn.number, reasoning, summary))
        usage = turn.known_usage
        cost = self._totals.add(usage)
        self._journal.record(
            events.ResponseFinished(
                turn.number,
                reason,
                turn.text,
                usage.input_tokens,
                usage.output_tokens,
                turn.milliseconds(turn.started, self._clock),
                usage.cached_tokens,
                usage.cache_write_tokens,
                usage.reasoning_tokens,
                None if cost is None else round(cost, 6),
                turn.finish.raw[:RAW_REASON_CHARS] if turn.finish else "",
            )
        )


def _is_guess(event: StreamEvent) -> bool:
    """Text that is more than blanks and the fence around a frame."""
    return isinstance(event, TextDelta) and bool(event.text.strip(" \n`"))
