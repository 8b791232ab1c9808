"""What of the wire may be written to a file: no key, no picture, no opaque item, no phone's words.

Pure functions. Of a request the shape stays: roles, ids, the calls, the task. What tools answered
and what the runtime told of the phone becomes its length. Of an answer everything stays that the
model said; signatures, encrypted reasoning and the like become placeholders.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

CleanText = Callable[[str], str]
"""Takes secrets out of a text by their patterns (``bridge.store.redaction``)."""

_OPAQUE = frozenset({"signature", "thought_signature", "thoughtSignature", "redacted_thinking"})
_SHOWN_HEADERS = frozenset(
    {
        "accept", "accept-encoding", "anthropic-version", "anthropic-beta", "content-type",
        "content-encoding", "date", "retry-after", "request-id", "server", "x-request-id",
    }
)  # fmt: skip
_WORDS = frozenset({"text", "content", "output"})
_NAMES = frozenset(
    {
        "id", "call_id", "item_id", "tool_call_id", "tool_use_id", "response_id", "model", "name",
        "object", "role", "type",
    }
)  # fmt: skip
"""Fields of the wire itself: hiding one would make two things the same."""


def clean_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers with the values of all but harmless ones hidden."""
    return {
        name: value if name.lower() in _SHOWN_HEADERS else "[hidden]"
        for name, value in headers.items()
    }


def clean_request(body: bytes, clean: CleanText) -> dict[str, Any]:
    """The JSON of a request as it may be written."""
    request: dict[str, Any] = json.loads(body)
    for key in ("messages", "input"):
        if isinstance(request.get(key), list):
            request[key] = _conversation(request[key], clean)
    if isinstance(request.get("tools"), list):
        request["tools"] = [_tool_name(tool) for tool in request["tools"]]
    return {
        key: value if key in ("messages", "input", "tools") else _value(value, clean)
        for key, value in request.items()
    }


def clean_line(line: bytes, secret: str, clean: CleanText) -> bytes:
    """One line of an event stream or an error body; unchanged bytes where nothing was found."""
    if secret:
        line = line.replace(secret.encode(), b"[key]")
    name, colon, value = line.partition(b":")
    data = value if name == b"data" and colon else line
    try:
        given = json.loads(data)
    except (ValueError, RecursionError):
        return line
    cleaned = _value(given, clean)
    if cleaned == given:
        return line
    text = json.dumps(cleaned, ensure_ascii=False, separators=(",", ":"))
    end = line[len(line.rstrip(b"\r\n")) :]
    return (b"data: " if data is not line else b"") + text.encode("utf-8", "replace") + end


def _conversation(messages: list[Any], clean: CleanText) -> list[Any]:
    """The task stays (the first message of the user); later ones tell of the phone."""
    task_seen, cleaned = False, []
    for message in messages:
        role = message.get("role") if isinstance(message, Mapping) else None
        kind = message.get("type", "") if isinstance(message, Mapping) else ""
        told = (role == "user" and task_seen) or role == "tool" or str(kind).endswith("_output")
        task_seen = task_seen or role == "user"
        shown = _value(message, clean)
        cleaned.append(_measured(shown) if told else shown)
    return cleaned


def _measured(value: Any, key: str = "") -> Any:
    """``value`` with every text in it replaced by its length."""
    if isinstance(value, Mapping):
        return {name: _measured(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_measured(item, key) for item in value]
    if isinstance(value, str) and key in _WORDS:
        return f"[text, {len(value)} characters]"
    return value


def _tool_name(tool: Any) -> Any:
    if not isinstance(tool, Mapping):
        return tool
    function = tool.get("function")
    inner = function if isinstance(function, Mapping) else tool
    return inner.get("name", inner.get("type"))


def _value(value: Any, clean: CleanText) -> Any:
    if isinstance(value, Mapping):
        return {key: _member(key, item, value, clean) for key, item in value.items()}
    if isinstance(value, list):
        return [_value(item, clean) for item in value]
    return _text(value, clean) if isinstance(value, str) else value


def _member(key: str, item: Any, owner: Mapping[str, Any], clean: CleanText) -> Any:
    if isinstance(item, str) and key in _NAMES:
        return item
    if isinstance(item, str) and item:
        kind = str(owner.get("type", ""))
        hidden = key in _OPAQUE or key.startswith("encrypted")
        if hidden or (key == "data" and ("redacted" in kind or "encrypted" in kind)):
            return f"[opaque, {len(item)} characters]"
        if key == "data" and kind == "base64":
            return f"[image, {len(item)} characters]"
    return _value(item, clean)


def _text(text: str, clean: CleanText) -> str:
    if text.startswith("data:") and ";base64," in text[:100]:
        mime = text[5:].partition(";")[0]
        return f"[{mime}, {len(text)} characters]"
    return clean(text)
