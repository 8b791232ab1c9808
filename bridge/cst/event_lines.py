"""One confirmed event as a JSON object: the stable shape of ``bridge cst parse``."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

from bridge.conversation.frames import Frame


def as_json(frame: Frame) -> dict[str, Any]:
    """``type`` is the name of the event, the rest are its fields, those of a call (``id``,
    ``name``, ``arguments``) among them."""
    fields = asdict(frame)
    call = fields.pop("call", None)
    if call is not None:
        fields = {key: call[key] for key in ("id", "name", "arguments")} | fields
    if "call_id" in fields:
        fields["id"] = fields.pop("call_id")
    name = re.sub(r"(?<!^)([A-Z])", r"_\1", type(frame).__name__).lower()
    return {"type": name, **fields}
