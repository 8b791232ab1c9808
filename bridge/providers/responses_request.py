"""The JSON of a Responses request: typed input items from the local history, tools, options.

Nothing is kept at the server (``store: false``) and nothing is referred to there. The provider's
own items of this run go back unchanged and in order; where they cannot (a call was refused as no
JSON, an id is not the one its answer names) the reply is written from its text and calls.
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
    ToolAnswer,
    ToolAnswers,
    ToolCall,
    UserMessage,
)
from bridge.providers.call_ids import fresh_id
from bridge.providers.extra import with_extra
from bridge.providers.responses_items import CALL
from bridge.providers.wire import RequestOptions
from device_tools.result import Image
from device_tools.schema import ToolSpec

THINKING_KEYS = frozenset(
    {
        "reasoning",
        "reasoning_effort",
        "thinking",
        "thinking_budget",
        "enable_thinking",
        "chat_template_kwargs.enable_thinking",
        "chat_template_kwargs.thinking",
    }
)
"""Request fields by which Responses servers are told to think."""

Json = dict[str, Any]


def request_body(request: ModelRequest, options: RequestOptions) -> Json:
    """The whole request. Raises ConfigurationError: the user's additions take a fixed field."""
    body: Json = {
        "model": options.model,
        "instructions": request.system,
        "input": _input(request.messages),
        "stream": True,
        "store": False,
    }
    if request.tools:
        body["parallel_tool_calls"] = True
    if tools := _tools(request.tools, options):
        body["tools"] = tools
    if request.max_output_tokens is not None:
        body["max_output_tokens"] = request.max_output_tokens
    return with_extra(body | _reasoning(options), options, THINKING_KEYS)


def _reasoning(options: RequestOptions) -> Json:
    if not options.reasons:
        return {}
    fields: Json = {"include": ["reasoning.encrypted_content"]}
    if options.thinking not in ("", "off"):
        fields["reasoning"] = {"effort": options.thinking, "summary": "auto"}
    return fields


def _tools(tools: Sequence[ToolSpec], options: RequestOptions) -> list[Json]:
    offered = [_function(tool) for tool in tools]
    return [*offered, {"type": "web_search"}] if options.web_search else offered


def _function(tool: ToolSpec) -> Json:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
        # left out it would mean true, and the server would rewrite schemas with optional fields
        "strict": False,
    }


def _input(messages: Sequence[Message]) -> list[Json]:
    sent: list[Json] = []
    taken: set[str] = set()
    names: Mapping[str, str] = {}
    for message in messages:
        match message:
            case UserMessage():
                sent.append(_user(message.text, message.images))
            case AssistantMessage() if _replayable(message, taken):
                names = {call.id: call.id for call in message.calls}
                sent += [dict(item) for item in message.items]
            case AssistantMessage():
                names = {call.id: fresh_id(call.id, taken) for call in message.calls}
                sent += _reply(message, names)
            case ToolAnswers():
                sent += _answers(message, names)
        taken.update(names.values())
    return sent


def _replayable(message: AssistantMessage, taken: set[str]) -> bool:
    """Whether the provider's items fit what is known of the reply: the same calls in the same
    order, each with arguments that a server can parse again and an id that is new."""
    calls = [item for item in message.items if item.get("type") == CALL]
    ids = [item.get("call_id") for item in calls]
    if not message.items or ids != [call.id for call in message.calls]:
        return False
    return taken.isdisjoint(ids) and all(_is_object(item.get("arguments")) for item in calls)


def _is_object(arguments: object) -> bool:
    try:
        return isinstance(arguments, str) and isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


def _reply(message: AssistantMessage, ids: Mapping[str, str]) -> list[Json]:
    calls = [_call(call, ids[call.id]) for call in message.calls]
    if calls and not message.text:
        return calls
    part = {"type": "output_text", "text": message.text, "annotations": []}
    return [{"type": "message", "role": "assistant", "content": [part]}, *calls]


def _call(call: ToolCall, call_id: str) -> Json:
    # servers parse these arguments again: what was refused as no JSON object must not go back raw
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
    return {"type": CALL, "call_id": call_id, "name": call.name, "arguments": arguments}


def _answers(message: ToolAnswers, ids: Mapping[str, str]) -> list[Json]:
    sent = [
        {
            "type": "function_call_output",
            "call_id": ids[answer.call_id],
            "output": _output(answer),
        }
        for answer in message.answers
    ]
    return [*sent, _user(message.note)] if message.note else sent


def _output(answer: ToolAnswer) -> str | list[Json]:
    return _parts(answer.text, answer.images) if answer.images else answer.text


def _user(text: str, images: Sequence[Image] = ()) -> Json:
    content = _parts(text, images) if images else text
    return {"type": "message", "role": "user", "content": content}


def _parts(text: str, images: Sequence[Image]) -> list[Json]:
    return [{"type": "input_text", "text": text}, *map(_image, images)]


def _image(image: Image) -> Json:
    data = base64.b64encode(image.data).decode("ascii")
    return {
        "type": "input_image",
        "image_url": f"data:{image.mime};base64,{data}",
        "detail": "auto",
    }
