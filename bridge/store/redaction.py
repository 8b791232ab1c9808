"""The one boundary between what a run knows and what may be stored or shown.

``Redacted`` is the second lock of the design: the transcript and every listener accept nothing
else, and only ``Redactor`` makes one. Tool class first (arguments and results of sensitive tools,
memory tools wholly), patterns second. A ``Redactor`` belongs to one run and remembers every
secret value it found, so that a code read in one turn is gone from every later record too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any

from bridge.conversation.events import CallFinished, CallIntended, RunEvent
from bridge.store.patterns import Secret, find_secrets
from device_tools.schema import RiskGroup

RECORD_VERSION = 1
HIDDEN = "[redacted: sensitive tool]"
_WHOLLY = frozenset({RiskGroup.SENSITIVE_READ, RiskGroup.SENSITIVE_ACTION, RiskGroup.MEMORY})
_SEPARATORS = re.compile(r"[\s\-]")
_SHORTEST_REMEMBERED = 4

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

    ``secrets`` are known from the start: the provider's key, which a server may send back.
    """

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        self._known: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None
        for value in secrets:
            self._remember(value, Secret(0, len(value), "key"))

    def redact(self, event: RunEvent, run: str, time: float) -> Redacted:
        """The storable record of ``event``; ``time`` is seconds since the epoch."""
        body = {item.name: getattr(event, item.name) for item in fields(event)}
        if isinstance(event, CallIntended | CallFinished) and event.group in _WHOLLY:
            self._hide(body)
        record = {"v": RECORD_VERSION, "type": event_type(event), "run": run, "time": time}
        record |= {key: self._value(value) for key, value in body.items()}
        return Redacted(record, _ONLY_REDACTOR)

    def text(self, text: str) -> str:
        """``text`` without secrets; what is found is remembered."""
        if not text.isascii():
            # a lone surrogate (from a command line, from a phone) cannot be stored as UTF-8
            text = text.encode("utf-8", "replace").decode()
        pieces: list[str] = []
        position = 0
        for secret in find_secrets(text):
            self._remember(text[secret.start : secret.end], secret)
            pieces += [text[position : secret.start], f"[redacted {secret.kind}]"]
            position = secret.end
        cleaned = "".join([*pieces, text[position:]])
        return cleaned if self._pattern is None else self._pattern.sub("[redacted]", cleaned)

    def _hide(self, body: dict[str, Any]) -> None:
        """Replace all a sensitive call says, but learn the secrets in it for later records."""
        for key in ("arguments", "frame", "text"):
            if key in body:
                self._value(body[key])
                body[key] = {} if key == "arguments" else HIDDEN
        if "images" in body:
            body["images"] = ()

    def _remember(self, value: str, secret: Secret) -> None:
        plain = _SEPARATORS.sub("", value) if secret.kind == "code" else value
        common_word = secret.kind == "password" and value.isalpha() and len(value) < 8
        if len(plain) < _SHORTEST_REMEMBERED or common_word or plain in self._known:
            return
        joint = r"[ \-]?" if secret.kind == "code" else ""
        self._known[plain] = joint.join(re.escape(character) for character in plain)
        longest_first = sorted(self._known.values(), key=len, reverse=True)
        # digits of a code inside a longer number are another number; `\n` may stand as two letters
        self._pattern = re.compile(
            rf"(?:(?<![0-9A-Za-z])|(?<=\\n))(?:{'|'.join(longest_first)})(?![0-9A-Za-z])"
        )

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
        if not isinstance(value, str):
            return self._value(value)
        prefix = f"{key}="
        cleaned = self.text(prefix + value)
        return cleaned[len(prefix) :] if cleaned.startswith(prefix) else self.text(value)


def event_type(event: RunEvent) -> str:
    """The stable name of an event's type, ``call_finished`` for ``CallFinished``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()
