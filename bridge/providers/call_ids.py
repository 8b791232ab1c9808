"""Ids of calls in requests: servers refuse a conversation in which one stands twice."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Set


def fresh_id(call_id: str, taken: Set[str], length: int = 0) -> str:
    """The id itself where it is new and allowed; the same conversation gives the same ids.

    ``length``: an id must be that many letters and digits (Mistral: 9); 0 allows any.
    """
    number, fresh = 1, call_id
    while fresh in taken or (length and not re.fullmatch(f"[A-Za-z0-9]{{{length}}}", fresh)):
        number += 1
        fresh = f"{call_id}_{number}"
        if length:
            fresh = hashlib.sha256(fresh.encode("utf-8", "replace")).hexdigest()[:length]
    return fresh
