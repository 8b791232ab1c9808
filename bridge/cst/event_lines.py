"""The event sequence of a raw text stream, for ``bridge cst parse`` and anybody's own streams."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from bridge.conversation.frames import Frame
from bridge.conversation.stream import Finish, FinishReason, TextDelta
from bridge.cst.carrier import Carrier
from bridge.cst.carriers import CARRIERS
from device_tools.schema import ToolSpec

TEXT_MODES: Mapping[str, Carrier] = {
    name: carrier for name, carrier in CARRIERS.items() if not name.startswith("native")
}
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
    """One event as a JSON object: ``type`` is the name of the event, the rest are its fields,
    those of a call (``id``, ``name``, ``arguments``) among them."""
    fields = asdict(frame)
    call = fields.pop("call", None)
    if call is not None:
        fields = {key: call[key] for key in ("id", "name", "arguments")} | fields
    if "call_id" in fields:
        fields["id"] = fields.pop("call_id")
    name = re.sub(r"(?<!^)([A-Z])", r"_\1", type(frame).__name__).lower()
    return {"type": name, **fields}
