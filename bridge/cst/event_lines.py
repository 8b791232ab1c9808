"""The event sequence of a raw text stream, for ``bridge cst parse`` and anybody's own streams."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bridge.conversation.frames import (
    ArgumentConfirmed,
    CallOpened,
    CallReady,
    ContractError,
    Frame,
    StopReading,
    TextConfirmed,
)
from bridge.conversation.stream import Finish, FinishReason, TextDelta
from bridge.cst.carrier import Carrier
from bridge.cst.heredoc import HeredocCarrier
from bridge.cst.xml import XmlCarrier
from device_tools.schema import ToolSpec

_CARRIERS: tuple[Carrier, ...] = (HeredocCarrier(), XmlCarrier())
TEXT_MODES: Mapping[str, Carrier] = {carrier.name: carrier for carrier in _CARRIERS}
"""The modes whose calls are part of the text; native calls need a wire format around them."""


def frames_of(
    chunks: Iterable[bytes], protocol: str, tools: Sequence[ToolSpec], finish: Finish | None = None
) -> Iterator[Frame]:
    """What the carrier of ``protocol`` emits for UTF-8 text in these chunks, as it emits it.

    Bytes that are no UTF-8 read as U+FFFD. Without ``finish`` the end of the text is no evidence
    in the CTL modes; in ``xml``, where only the end confirms, it counts as a clean stop.
    """
    reader = TEXT_MODES[protocol].reader(tools, None)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for chunk in chunks:
        yield from reader.feed(TextDelta(decoder.decode(chunk)))
    yield from reader.feed(TextDelta(decoder.decode(b"", final=True)))
    if finish is None and protocol == "xml":
        finish = Finish(FinishReason.STOP)
    yield from reader.close(finish)


def as_json(frame: Frame) -> dict[str, Any]:
    """One event as a JSON object; ``type`` says which."""
    match frame:
        case TextConfirmed(text):
            return {"type": "text_confirmed", "text": text}
        case CallOpened(id_, name):
            return {"type": "call_opened", "id": id_, "name": name}
        case ArgumentConfirmed(id_, key, text):
            return {"type": "argument_confirmed", "id": id_, "key": key, "text": text}
        case CallReady(call):
            return {"type": "call_ready", "id": call.id, "name": call.name,
                    "arguments": dict(call.arguments)}  # fmt: skip
        case ContractError():
            return {"type": "contract_error", "kind": frame.kind.value, "message": frame.message,
                    "position": frame.position, "declared": frame.declared,
                    "arrived": frame.arrived, "id": frame.call_id}  # fmt: skip
        case StopReading():
            return {"type": "stop_reading"}
