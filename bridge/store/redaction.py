"""The one boundary between what a run knows and what may be stored or shown.

``Redacted`` is the second lock of the design: the transcript and every listener accept nothing
else, and only ``Redactor`` makes one. Tool class first (arguments and results of sensitive tools,
memory tools wholly), sensitive fields second, patterns third. A ``Redactor`` belongs to one run and
remembers every secret it found, so that a code read in one turn is gone from every later record.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any

from bridge.conversation.events import (
    SENSITIVE_PICTURE,
    CallFinished,
    CallIntended,
    RunEvent,
    recorded_fields,
)
from bridge.store.known_secrets import FIELD, KnownSecrets
from bridge.store.patterns import find_secrets
from bridge.store.sensitive_calls import SensitiveCalls
from bridge.store.spans import Secret, apart
from device_tools.catalog import ALL_PHONE_TOOLS
from device_tools.schema import RiskGroup

RECORD_VERSION = 1
UNKNOWN_TOOL = "unknown_tool"
"""Also the error of a tool that was not offered, so nobody knows how sensitive the call is."""
HIDDEN = "[redacted: sensitive tool]"
HIDDEN_FIELD = "[redacted: typed text]"
_WHOLLY = frozenset({RiskGroup.SENSITIVE_READ, RiskGroup.SENSITIVE_ACTION, RiskGroup.MEMORY})

_ONLY_REDACTOR = object()


@dataclass(frozen=True)
class Redacted:
    """A record that may leave the process: JSON values with ``v``, ``type``, ``run``, ``time``."""

    record: Mapping[str, Any]
    _proof: object = field(repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        if self._proof is not _ONLY_REDACTOR:
            raise TypeError("only bridge.store.redaction.Redactor makes a Redacted record")


class Redactor:
    """Redacts the events of one run; holds the secret values it met, in memory only.

    ``secrets`` are known from the start: the provider's key, which a server may send back. Any
    thread may call it.
    """

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        self._known = KnownSecrets()
        names = [spec.name for spec in ALL_PHONE_TOOLS if spec.group in _WHOLLY]
        self._said = SensitiveCalls(names)
        self._lock = threading.Lock()
        for value in secrets:
            self._known.add(value, "key")

    def redact(self, event: RunEvent, run: str, time: float) -> Redacted:
        """The storable record of ``event``; ``time`` is seconds since the epoch."""
        body = {item.name: getattr(event, item.name) for item in recorded_fields(event)}
        with self._lock:
            for value in getattr(event, "secrets", ()):
                self._known.add(value, FIELD)
        if isinstance(event, CallIntended):
            self._prepare_intent(event, body)
        elif isinstance(event, CallFinished):
            self._prepare_outcome(event, body)
        record = {"v": RECORD_VERSION, "type": event_type(event), "run": run, "time": time}
        record |= {key: self._value(value) for key, value in body.items()}
        return Redacted(record, _ONLY_REDACTOR)

    def text(self, text: str) -> str:
        """``text`` without secrets; what is found is remembered."""
        text = _storable(text)
        pieces: list[str] = []
        position = 0
        for secret in self.spans(text):
            mark = f"[redacted {secret.kind}]" if secret.kind else "[redacted]"
            pieces += [text[position : secret.start], mark]
            position = secret.end
        return "".join([*pieces, text[position:]])

    def spans(self, text: str) -> list[Secret]:
        """What of ``text`` is secret, in order; kind "" for a value met before. What the patterns
        find is remembered."""
        found = find_secrets(text)
        with self._lock:
            for secret in found:
                self._known.add(text[secret.start : secret.end], secret.kind)
            known = list(self._known.find(text))
        return apart([*found, *known])

    def spans_of_wire(self, text: str) -> list[Secret]:
        """``spans``, and what the model said in calls of sensitive tools: the record leaves those
        out as a whole, a recording of the wire cannot."""
        with self._lock:
            said = list(self._said.find(text))
        return apart([*self.spans(text), *said])

    def _prepare_intent(self, event: CallIntended, body: dict[str, Any]) -> None:
        if event.group in _WHOLLY:
            self._learn((event.arguments, event.frame))
            body |= {"arguments": {}, "frame": HIDDEN}
        elif event.hidden:
            self._learn((event.arguments, event.frame))
            shown = dict.fromkeys(set(event.hidden) & set(event.arguments), HIDDEN_FIELD)
            body |= {"arguments": {**event.arguments, **shown}, "frame": HIDDEN_FIELD}

    def _prepare_outcome(self, event: CallFinished, body: dict[str, Any]) -> None:
        if event.group in _WHOLLY or event.error == UNKNOWN_TOOL:
            with self._lock:
                self._said.add(event.frame, event.arguments)
        if event.group in _WHOLLY:
            self._learn(event.text)
            body |= {"text": HIDDEN, "images": ()}
            return
        if event.storable is not None:
            self._learn(event.text)
            body["text"] = event.storable
        if event.images and self.spans(event.text):
            # what the list of elements must not say, the picture shows
            body["images"] = tuple(map(_sensitive, event.images))

    def _learn(self, value: Any) -> None:
        """Remember the secrets in what is hidden anyway: later records may repeat them."""
        self._value(value)

    def _value(self, value: Any) -> Any:
        if isinstance(value, Enum):
            return value.value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self._pair(str(key), item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._value(item) for item in value]
        return value

    def _pair(self, key: str, value: Any) -> Any:
        """A member of a mapping: its key is context for its value (``{"password": "..."}``)."""
        if not isinstance(value, str) or not _is_context(key):
            return self._value(value)
        prefix = f"{key}="
        cleaned = self.text(prefix + value)
        return cleaned[len(prefix) :] if cleaned.startswith(prefix) else self.text(value)


def _sensitive(note: str) -> str:
    return note if note.endswith(SENSITIVE_PICTURE) else note + SENSITIVE_PICTURE


@lru_cache(maxsize=512)
def _is_context(key: str) -> bool:
    """Whether a value of this name is secret for its name alone."""
    return bool(find_secrets(f"{key}=a1b2c3d4")) or bool(find_secrets(f"{key}=482913"))


def _storable(text: str) -> str:
    """A lone surrogate (from a command line, from a phone) cannot be stored as UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def event_type(event: RunEvent) -> str:
    """The stable name of an event's type, ``call_finished`` for ``CallFinished``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()
