"""Function calls of a Responses answer: output items to ``CallDelta`` and ``CallClosed``.

The arguments of a call may come three times: as deltas, in ``arguments.done`` and in the complete
item. All that came must be equal; where they differ the call is closed with the text that
contradicts, and no carrier runs it. An empty text counts as not given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bridge.conversation.stream import CallClosed, CallDelta, StreamEvent
from bridge.providers.responses_items import Item, arguments_of, unsplit, word


def begin(item: Item) -> list[StreamEvent]:
    """The call's first event, once its name is known: deltas before it were kept back."""
    if item.begun or not item.name:
        return []
    item.begun = True
    return [CallDelta(item.key, item.call_id, item.name, "".join(item.pieces))]


def delta(item: Item, arguments: str) -> list[StreamEvent]:
    """A piece of its arguments."""
    if not arguments:
        return []
    item.pieces.append(arguments)
    return [CallDelta(item.key, arguments=arguments)] if item.begun else []


def end(item: Item, raw: Mapping[str, Any]) -> list[StreamEvent]:
    """The complete item arrived; once more for a call that was complete before."""
    name = word(raw.get("name"))
    events = begin(item)
    if item.begun and name and name != item.name and item.raw is None:
        # a name that changed fits no tool
        events.append(CallDelta(item.key, name=name))
    given = arguments_of(raw)
    if not item.pieces:
        events += delta(item, item.spelled or given)
    return [*events, CallClosed(item.key, _contradicting(item, given))]


def end_without_item(item: Item) -> list[StreamEvent]:
    """The answer ended and the complete item never came: what the deltas said counts."""
    events = begin(item)
    if not item.pieces:
        events += delta(item, item.spelled)
    return [*events, CallClosed(item.key, _contradicting(item, ""))]


def flaw(item: Item, raw: Mapping[str, Any]) -> str:
    """Why the complete item is no call that could run, "" when it is one."""
    if not item.name:
        return "a function call without a name"
    if raw.get("status") not in (None, "completed"):
        return "a function call that is not completed"
    if word(raw.get("call_id")) not in ("", item.call_id):
        return "a function call whose id changed"
    return ""


def differs(item: Item, raw: Mapping[str, Any]) -> bool:
    """Whether ``raw``, of the terminal output, is another call than the complete item was."""
    had = item.raw or {}
    told = (word(raw.get("call_id")), word(raw.get("name")), unsplit(arguments_of(raw)))
    was = (item.call_id, item.name, unsplit(arguments_of(had)) or item.content)
    return any(new and new != old for new, old in zip(told, was, strict=True))


def _contradicting(item: Item, given: str) -> str:
    """Of the texts of the arguments the first that differs from what arrived, else that."""
    arrived = item.content
    texts = (text for text in (item.spelled, given) if text and unsplit(text) != arrived)
    return next(texts, arrived)
