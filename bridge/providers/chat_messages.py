"""The JSON of a Chat Completions request: messages, pictures, tools and their answers.

A tool answer is text only on this wire: pictures follow in a user message behind all answers of
the turn. Some servers refuse a call id that comes twice in a conversation, or one that is not of
their own shape, while some models repeat theirs in every turn: such an id is renamed here, with
its answer.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from bridge.conversation.messages import (
    AssistantMessage,
    Message,
    ModelRequest,
    ToolAnswers,
    ToolCall,
    UserMessage,
)
from bridge.providers.call_ids import fresh_id
from bridge.providers.chat_echo import echo_into
from bridge.providers.chat_quirks import STRICT, ChatQuirks
from device_tools.result import Image
from device_tools.schema import ToolSpec


def request_body(
    request: ModelRequest,
    model: str,
    max_tokens_field: str = "max_tokens",
    quirks: ChatQuirks = STRICT,
) -> dict[str, Any]:
    """The whole request; images go as data URLs into their user message."""
    messages = _messages(request.messages, quirks)
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "system", "content": request.system}, *messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.max_output_tokens is not None:
        body[max_tokens_field] = request.max_output_tokens
    return body


def _messages(messages: Sequence[Message], quirks: ChatQuirks) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []
    taken: set[str] = set()
    renamed: dict[str, str] = {}
    for message in messages:
        match message:
            case UserMessage():
                sent.append(_user(message.text, message.images))
            case AssistantMessage():
                renamed = {}
                for call in message.calls:
                    renamed[call.id] = fresh_id(call.id, taken, quirks.id_length)
                    taken.add(renamed[call.id])
                sent.append(echo_into(_assistant(message, renamed), message, quirks.echo_fields))
            case ToolAnswers():
                sent += _answers(message, renamed)
    return sent


def _assistant(message: AssistantMessage, ids: Mapping[str, str]) -> dict[str, Any]:
    if not message.calls:
        return {"role": "assistant", "content": message.text}
    calls = [_call(call, ids[call.id]) for call in message.calls]
    return {"role": "assistant", "content": message.text or None, "tool_calls": calls}


def _call(call: ToolCall, call_id: str) -> dict[str, Any]:
    # servers parse these arguments again: what was refused as no JSON object must not go back raw
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
    function = {"name": call.name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


def _answers(message: ToolAnswers, ids: Mapping[str, str]) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": ids[each.call_id], "content": each.text}
        for each in message.answers
    ]
    images = tuple(image for each in message.answers for image in each.images)
    if images or message.note:
        notes = [f"[picture of the results above: {image.note}]" for image in images]
        text = "\n".join([*notes, *([message.note] if message.note else [])])
        sent.append(_user(text, images))
    return sent


def _user(text: str, images: Sequence[Image]) -> dict[str, Any]:
    if not images:
        return {"role": "user", "content": text}
    parts = [{"type": "text", "text": text}, *(_image(image) for image in images)]
    return {"role": "user", "content": parts}


def _image(image: Image) -> dict[str, Any]:
    data = base64.b64encode(image.data).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:{image.mime};base64,{data}"}}


def _tool(tool: ToolSpec) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }
    return {"type": "function", "function": function}
