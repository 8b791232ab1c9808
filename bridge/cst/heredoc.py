"""The carriers of CTL frames: ``ctl-heredoc`` with inline and delimited values, and ``ctl``,
where values may be length-prefixed as well.

A call is confirmed by its ``end`` line, whatever the server says later. The finish reason
gates the one thing a cut could forge: a last ``end`` without its newline.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import replace

from bridge.conversation.frames import (
    ArgumentConfirmed,
    CallOpened,
    CallReady,
    ContractError,
    Frame,
    StopReading,
    TextConfirmed,
)
from bridge.conversation.frames import ContractErrorKind as Kind
from bridge.conversation.messages import AssistantMessage, CallResult, Message, ToolCall
from bridge.conversation.stream import Finish, StreamEvent, TextDelta, Usage
from bridge.cst import ctl_events as ctl
from bridge.cst.carrier import NO_TEXT
from bridge.cst.ctl import CtlParser
from bridge.cst.gate import TABLE, CallState, ending, most
from bridge.cst.prompt import system_prompt
from bridge.cst.results import results_message
from bridge.cst.teach import fault_message, quoted_values_hint
from bridge.cst.thoughts import ThoughtFilter
from bridge.cst.utf8 import Utf8Joiner
from bridge.cst.values import typed
from device_tools.schema import ToolSpec

_CALL_LINE = re.compile(r"^call [\w.-]{1,64} [\w.-]{1,64}$", re.MULTILINE | re.ASCII)


class HeredocCarrier:
    """The default mode. Stateless: each response gets its own reader."""

    name = "ctl-heredoc"
    length_prefix = False

    def system_prompt(self, tools: Sequence[ToolSpec]) -> str:
        """The rules of the frames, an example, and the tools with their arguments."""
        return system_prompt(tools, length_prefix=self.length_prefix)

    def request_tools(self, tools: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
        """None: the prompt teaches them."""
        return ()

    def reader(self, tools: Sequence[ToolSpec], output_cap: int | None) -> HeredocReader:
        """A fresh reader for one response; ``output_cap`` in tokens."""
        return HeredocReader(tools, output_cap, self.name, self.length_prefix)

    def reply(self, text: str, calls: Sequence[ToolCall]) -> AssistantMessage:
        """The text alone: the frames of the calls are part of it."""
        return AssistantMessage(text or NO_TEXT)

    def results(self, results: Sequence[CallResult], note: str = "") -> Message:
        """Result frames in the model's order, a hint where quotes were the fault, the note."""
        hint = quoted_values_hint(results, self.length_prefix)
        return results_message(results, "\n".join(part for part in (hint, note) if part))


class CtlCarrier(HeredocCarrier):
    """Digits alone after a key declare a byte count here; the rest is the same."""

    name = "ctl"
    length_prefix = True


class HeredocReader:
    """Reads one response; ``feed`` per event, ``close`` once."""

    def __init__(
        self, tools: Sequence[ToolSpec], output_cap: int | None, mode: str, length_prefix: bool
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._mode = mode
        self._length_prefix = length_prefix
        self._parser = CtlParser(self._tools, length_prefix=length_prefix)
        self._output_cap = output_cap
        self._output_tokens: int | None = None
        self._utf8 = Utf8Joiner()
        self._thoughts = ThoughtFilter()
        self._thought_texts: list[str] = []
        self._thought_size = 0
        self._raw = bytearray()  # behind the thought
        self._confirmed = 0  # bytes of _raw up to the last confirmed call
        self._texts: list[str] = []
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._values: dict[str, list[str]] = {}
        self._over = False

    @property
    def replay_text(self) -> str:
        """The raw reply up to the last confirmed call; without a call the confirmed text."""
        if self._confirmed:
            said = self._raw[: self._confirmed].decode()
            return "".join([*self._thought_texts, said])
        return "".join(self._texts)

    def feed(self, event: StreamEvent) -> list[Frame]:
        """Frames that this event confirmed; reasoning and usage confirm nothing."""
        if isinstance(event, Usage):
            self._output_tokens = most(self._output_tokens, event.output_tokens)
        if not isinstance(event, TextDelta) or self._over or not event.text:
            return []
        thought, speech = self._thoughts.feed(self._utf8.feed(event.text))
        return self._thought(thought) + self._speech(speech)

    def close(self, finish: Finish | None) -> list[Frame]:
        """Frames that the end confirms: a last bare ``end`` only after a clean stop, pending
        text after any stated end, nothing when the stream ended without evidence."""
        if self._over:
            return []
        thought, speech = self._thoughts.close()
        frames = self._thought(thought) + self._speech(speech)
        if not self._over:
            end = ending(finish, self._output_tokens, self._output_cap)
            clean = TABLE[self._mode][CallState.BARE_END][end].runs
            frames += self._frames(self._parser.close(clean=clean)) + self._lost_in_thought()
        self._over = True
        return frames

    def _thought(self, data: bytes) -> list[Frame]:
        """Of a thought nothing is a call; it is shown as the text that it came as."""
        if not data:
            return []
        text = data.decode()
        if not self._thought_size:
            text = text.removeprefix("\ufeff")
        self._thought_size += len(data)
        self._texts.append(text)
        self._thought_texts.append(text)
        return [TextConfirmed(text)]

    def _speech(self, data: bytes) -> list[Frame]:
        self._raw += data
        return self._frames(self._parser.feed(data)) if data else []

    def _lost_in_thought(self) -> list[Frame]:
        """A reply that ends inside a thought of calls is no plain answer."""
        if not self._thoughts.inside or not _CALL_LINE.search("".join(self._thought_texts)):
            return []
        what = "the call stands inside <think>, which is never closed"
        return [self._contract_error(ctl.Fault(Kind.UNEXPECTED_LINE, 0, what))]

    def _frames(self, events: Sequence[ctl.Event]) -> list[Frame]:
        return [frame for event in events if (frame := self._frame(event)) is not None]

    def _frame(self, event: ctl.Event) -> Frame | None:
        match event:
            case ctl.Text(data):
                text = self._decoder.decode(data)
                self._texts.append(text)
                return TextConfirmed(text) if text else None
            case ctl.CallStart(id_, name):
                self._values = {}
                return CallOpened(id_, name)
            case ctl.ArgumentPiece(id_, key, data):
                if key not in self._values:
                    self._decoder.reset()
                text = self._decoder.decode(data)
                self._values.setdefault(key, []).append(text)
                return ArgumentConfirmed(id_, key, text)
            case ctl.CallEnd():
                self._confirmed = event.stop
                return CallReady(self._call(event))
            case ctl.Fault():
                self._over = True
                return self._contract_error(event)
            case ctl.Stop():
                self._over = True
                return StopReading()

    def _call(self, end: ctl.CallEnd) -> ToolCall:
        spec = self._tools.get(end.name)
        schemas = spec.properties if spec is not None else {}
        arguments = {
            key: typed("".join(pieces), schemas.get(key)) for key, pieces in self._values.items()
        }
        return ToolCall(end.id, end.name, arguments, self._raw[end.start : end.stop].decode())

    def _contract_error(self, fault: ctl.Fault) -> ContractError:
        fault = replace(fault, position=fault.position + self._thought_size)
        given = {key: "".join(pieces) for key, pieces in self._values.items()}
        return ContractError(
            fault.kind,
            fault_message(fault, self._tools, given, self._length_prefix),
            fault.position,
            fault.declared,
            fault.arrived,
            fault.call_id,
        )
