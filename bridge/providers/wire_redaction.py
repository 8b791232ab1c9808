"""What of the wire may be written to a file: no key, no picture, no opaque item, no phone's words.

Pure functions. For a recording the system prompt and the task of a request stay, and of all that
follows the shape: roles, ids, names, and of each text its length. For debug output only the shape
stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_OPAQUE = frozenset({"signature", "thought_signature", "thoughtSignature", "redacted_thinking"})
_SHOWN_HEADERS = frozenset(
    {
        "accept", "accept-encoding", "anthropic-version", "anthropic-beta", "content-type",
        "content-encoding", "date", "retry-after", "request-id", "server", "x-request-id",
    }
)  # fmt: skip
NAMES = frozenset(
    {
        "id", "call_id", "item_id", "tool_call_id", "tool_use_id", "response_id", "model", "name",
        "object", "role", "type",
    }
)  # fmt: skip
"""Fields of the wire itself: hiding one would make two things the same."""
_CALLS = frozenset({"input", "arguments", "args"})
_SHORT_NAMES = NAMES | {
    "finish_reason", "stop_reason", "status", "reason", "code", "param", "service_tier", "effort",
    "tool_choice", "native_finish_reason", "provider", "truncation", "verbosity",
}  # fmt: skip
_SHORT = re.compile(r"[\w.:/\-]{1,80}\Z")


def clean_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers with the values of all but harmless ones hidden."""
    return {
        name: value if name.lower() in _SHOWN_HEADERS else "[hidden]"
        for name, value in headers.items()
    }


def clean_request(body: bytes) -> dict[str, Any]:
    """The JSON of a request for a recording; its texts may still hold secrets."""
    request: dict[str, Any] = json.loads(body)
    for key in ("messages", "input"):
        if isinstance(request.get(key), list):
            request[key] = _conversation(request[key])
    if isinstance(request.get("tools"), list):
        request["tools"] = [_tool_name(tool) for tool in request["tools"]]
    return {
        key: value if key in ("messages", "input", "tools") else without_opaque(value)
        for key, value in request.items()
    }


def without_opaque(value: Any) -> Any:
    """JSON values with pictures, signatures and encrypted items replaced by their length."""
    if isinstance(value, Mapping):
        return {key: _member(key, item, value) for key, item in value.items()}
    if isinstance(value, list):
        return [without_opaque(item) for item in value]
    return _text(value) if isinstance(value, str) else value


def is_name(key: str, item: Any) -> bool:
    """Whether a text is a name of the wire itself."""
    return isinstance(item, str) and key in NAMES


def is_input(key: str, item: Any) -> bool:
    """Whether a mapping is what a call says: a ``name`` in it is a word of the model's."""
    return isinstance(item, Mapping) and key in _CALLS


def shape(value: Any, key: str = "", said: bool = False) -> Any:
    """JSON values with every text replaced by its length, but for the wire's own short words."""
    if isinstance(value, Mapping):
        return {
            name: shape(item, name, said or is_input(name, item)) for name, item in value.items()
        }
    if isinstance(value, list):
        return [shape(item, key, said) for item in value]
    named = not said and key in _SHORT_NAMES
    if not isinstance(value, str) or not value or (named and _SHORT.match(value)):
        return value
    return f"[text, {len(value)} characters]"


def shape_of_line(line: str) -> str:
    """One line of an event stream or an error body as its shape."""
    name, colon, value = line.partition(":")
    data = value if name == "data" and colon else line
    try:
        given = json.loads(data)
    except (ValueError, RecursionError):
        harmless = data.strip() == "[DONE]" or (name == "event" and _SHORT.match(value.strip()))
        return line if harmless or not line else f"[text, {len(line)} characters]"
    text = json.dumps(shape(given), ensure_ascii=False, separators=(",", ":"))
    return f"data: {text}" if data is not line else text


def _conversation(messages: list[Any]) -> list[Any]:
    """The task stays (the first message of the user). Later ones tell of the phone, and what the
    model said is in its answers: of both the shape is enough."""
    task_seen, cleaned = False, []
    for message in messages:
        role = message.get("role") if isinstance(message, Mapping) else None
        first = role == "user" and not task_seen
        task_seen = task_seen or first
        kept = first or role in ("system", "developer")
        shown = without_opaque(message)
        cleaned.append(shown if kept else shape(shown))
    return cleaned


def _tool_name(tool: Any) -> Any:
    if not isinstance(tool, Mapping):
        return tool
    function = tool.get("function")
    inner = function if isinstance(function, Mapping) else tool
    return inner.get("name", inner.get("type"))


def _member(key: str, item: Any, owner: Mapping[str, Any]) -> Any:
    if isinstance(item, str) and key in NAMES:
        return item
    if isinstance(item, str) and item:
        kind = str(owner.get("type", ""))
        hidden = key in _OPAQUE or key.startswith("encrypted")
        if hidden or (key == "data" and ("redacted" in kind or "encrypted" in kind)):
            return f"[opaque, {len(item)} characters]"
        if key == "data" and kind == "base64":
            return f"[image, {len(item)} characters]"
    return without_opaque(item)


def _text(text: str) -> str:
    if text.startswith("data:") and ";base64," in text[:100]:
        mime = text[5:].partition(";")[0]
        return f"[{mime}, {len(text)} characters]"
    return text
