"""What a Responses answer puts out: events about output items to neutral events.

``settle`` compares what was streamed with the terminal output. What has been told stays told; a
difference is a contradiction, and the answer then has no clean end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bridge.conversation.stream import CallClosed, HostedTool, StreamEvent
from bridge.providers import responses_calls as calls
from bridge.providers.responses_items import (
    CALL,
    HOSTED_SEARCH,
    MESSAGE,
    REASONING,
    Item,
    Items,
    describe,
    text_parts,
    word,
)
from bridge.providers.responses_text import Reasoning, Texts

# kinds of items that wait for an answer of ours, though nothing like them is ever offered
_NEVER_OFFERED = frozenset(
    {
        "apply_patch_call",
        "computer_call",
        "custom_tool_call",
        "local_shell_call",
        "mcp_approval_request",
        "shell_call",
    }
)

Event = Mapping[str, Any]
Handler = Callable[[Event], list[StreamEvent]]


class Output:
    """The output of one answer. ``native``: functions were offered in the request.

    Handlers and ``settle`` raise ValueError: not the shape of the event.
    """

    def __init__(self, *, native: bool) -> None:
        self._native = native
        self._items = Items()
        self._texts = Texts()
        self._reasoning = Reasoning()
        self.contradictions: list[str] = []
        self.handlers: Mapping[str, Handler] = {
            "response.output_item.added": self._item_added,
            "response.output_item.done": self._item_done,
            "response.output_text.delta": self._text_delta,
            "response.output_text.done": lambda event: self._text_done(event, "text"),
            "response.output_text.annotation.added": self._annotation,
            "response.refusal.delta": self._refusal_delta,
            "response.refusal.done": lambda event: self._text_done(event, "refusal"),
            "response.function_call_arguments.delta": self._arguments_delta,
            "response.function_call_arguments.done": self._arguments_done,
            "response.reasoning_summary_text.delta": self._summary_delta,
            "response.reasoning_text.delta": self._reasoning_delta,
        }

    @property
    def refused(self) -> bool:
        """Whether a part of the text is a refusal."""
        return self._texts.refused

    @property
    def half(self) -> bool:
        """Whether the text ended inside a character."""
        return self._texts.half

    @property
    def called(self) -> bool:
        """Whether it holds a function call."""
        return bool(self._items.of_kind(CALL))

    def complete_items(self) -> Sequence[Event]:
        """All items as the provider gave them; none when one is known by its deltas only."""
        raws = [item.raw for item in self._items.all if item.raw is not None]
        return raws if len(raws) == len(self._items.all) else []

    def settle(self, output: Sequence[Event]) -> list[StreamEvent]:
        """What only the terminal output tells, and where it contradicts what was streamed."""
        events: list[StreamEvent] = []
        if output and not self._items.all:
            for number, raw in enumerate(output):
                events += self._item_done({"item": raw, "output_index": number})
            return events
        for raw in output:
            self._check_offered(word(raw.get("type")))
        if output:
            events += self._settle_text([raw for raw in output if raw.get("type") == MESSAGE])
        for item in self._items.all:
            events += self._texts.citations(item)
            if item.kind == HOSTED_SEARCH and item.raw is None:
                events.append(HostedTool(item.key, "web_search", ended=True))
        if self._native:
            given = [raw for raw in output if raw.get("type") == CALL]
            events += self._settle_calls(given) if output else self._settle_deltas()
        return events

    # --- items ------------------------------------------------------------------------------

    def _item_added(self, event: Event) -> list[StreamEvent]:
        item = self._items.begin(event)
        if item.kind == MESSAGE:
            self._texts.begin()
        return self._begin(item)

    def _begin(self, item: Item) -> list[StreamEvent]:
        self._check_offered(item.kind)
        if item.kind == CALL and self._native:
            return calls.begin(item)
        if item.kind == HOSTED_SEARCH and not item.begun:
            item.begun = True
            return [HostedTool(item.key, "web_search")]
        return []

    def _check_offered(self, kind: str) -> None:
        if kind in _NEVER_OFFERED or (kind == CALL and not self._native):
            self._contradict(f"{kind} though none was offered")

    def _item_done(self, event: Event) -> list[StreamEvent]:
        item = self._items.end(event)
        return self._end(item, event["item"])

    def _end(self, item: Item, raw: Event) -> list[StreamEvent]:
        describe(item, raw)
        events = self._begin(item)
        if item.kind == MESSAGE:
            events += self._end_message(item, raw)
        elif item.kind == CALL and self._native:
            events += self._end_call(item, raw)
        elif item.kind == REASONING:
            events += self._reasoning.end(item, raw)
        elif item.kind == HOSTED_SEARCH and item.raw is None:
            failed = raw.get("status") not in (None, "completed")
            events.append(HostedTool(item.key, "web_search", ended=True, failed=failed))
        item.raw = raw
        return events

    def _end_message(self, item: Item, raw: Event) -> list[StreamEvent]:
        events, agrees = self._texts.end(item, raw)
        if not agrees:
            self._contradict("a message that differs from its own deltas")
        return events

    def _end_call(self, item: Item, raw: Event) -> list[StreamEvent]:
        """A call with a flaw is not closed: it waits for an end that then permits nothing."""
        flaw = calls.flaw(item, raw)
        if flaw:
            self._contradict(flaw)
            return []
        return calls.end(item, raw)

    # --- deltas and details -----------------------------------------------------------------

    def _text_delta(self, event: Event) -> list[StreamEvent]:
        item = self._items.about(event, MESSAGE)
        return self._texts.delta(item, _number(event, "content_index"), _text(event, "delta"))

    def _refusal_delta(self, event: Event) -> list[StreamEvent]:
        self._texts.refused = True
        return self._text_delta(event)

    def _text_done(self, event: Event, name: str) -> list[StreamEvent]:
        self._texts.refused = self._texts.refused or name == "refusal"
        item = self._items.about(event, MESSAGE)
        return self._texts.part_done(item, _number(event, "content_index"), _text(event, name))

    def _annotation(self, event: Event) -> list[StreamEvent]:
        item = self._items.about(event, MESSAGE)
        self._texts.cite(item, _number(event, "content_index"), event.get("annotation"))
        return []

    def _arguments_delta(self, event: Event) -> list[StreamEvent]:
        return calls.delta(self._items.about(event, CALL), _text(event, "delta"))

    def _arguments_done(self, event: Event) -> list[StreamEvent]:
        self._items.about(event, CALL).spelled = _text(event, "arguments")
        return []

    def _summary_delta(self, event: Event) -> list[StreamEvent]:
        item, place = self._items.about(event, REASONING), _number(event, "summary_index")
        return self._reasoning.delta(item, place, _text(event, "delta"), summary=True)

    def _reasoning_delta(self, event: Event) -> list[StreamEvent]:
        item, place = self._items.about(event, REASONING), _number(event, "content_index")
        return self._reasoning.delta(item, place, _text(event, "delta"), summary=False)

    # --- the terminal output ----------------------------------------------------------------

    def _settle_text(self, messages: Sequence[Event]) -> list[StreamEvent]:
        known = self._items.of_kind(MESSAGE)
        told = "".join(item.content for item in known)
        whole = "".join(text for raw in messages for text, _ in text_parts(raw))
        events: list[StreamEvent] = []
        if not told:
            for raw in messages:
                events += self._item_done({"item": raw})
        elif told != whole:
            self._contradict("a terminal output whose text differs from the stream's")
        else:
            for item, raw in zip(known, messages, strict=False):
                events += self._end(item, raw) if item.raw is None else []
        return events

    def _settle_calls(self, given: Sequence[Event]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        known = self._items.of_kind(CALL)
        for item, raw in zip(known, given, strict=False):
            if item.raw is None:
                events += self._end(item, raw)
            elif calls.differs(item, raw):
                events += self._closed_again(item)
        for item in known[len(given) :]:
            events += self._closed_again(item)
        for raw in given[len(known) :]:
            events += self._item_done({"item": raw})
        return events

    def _closed_again(self, item: Item) -> list[StreamEvent]:
        """The terminal output tells of another call: one that ran stands, nothing runs twice, and
        the second close makes the carrier report it."""
        self._contradict("a terminal output whose calls differ from the stream's")
        return [CallClosed(item.key)] if item.begun and item.raw is not None else []

    def _settle_deltas(self) -> list[StreamEvent]:
        """There is no terminal output: calls that only deltas told count for this turn."""
        events: list[StreamEvent] = []
        for item in self._items.of_kind(CALL):
            if not item.name:
                self._contradict("arguments of a call that never began")
            elif item.raw is None:
                events += calls.end_without_item(item)
        return events

    def _contradict(self, what: str) -> None:
        if what not in self.contradictions:
            self.contradictions.append(what)


def _text(event: Event, name: str) -> str:
    value = event.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{name} that is not text")
    return value


def _number(event: Event, name: str) -> int:
    value = event.get(name)
    return value if isinstance(value, int) else 0
