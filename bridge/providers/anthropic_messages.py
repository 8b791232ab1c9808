"""The messages of an Anthropic Messages request: blocks, pictures, calls and their answers.

A reply whose blocks were kept goes back as these blocks, unchanged and in order: thinking is
signed, and an edit is refused. Only the id of a call is replaced, where the conversation has it
already, for ids must be unique. Roles alternate, so messages of one role in a row become one.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from bridge.conversation.messages import (
    AssistantMessage,
    Message,
    ToolAnswer,
    ToolAnswers,
    ToolCall,
    UserMessage,
)
from bridge.providers.call_ids import fresh_id
from device_tools.result import Image

Block = Mapping[str, Any]


def messages_of(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """``{"role", "content": [block, …]}`` each; texts without a visible character are left out,
    as the API refuses them, and so is a message that has nothing else."""
    sent: list[dict[str, Any]] = []
    taken: set[str] = set()
    ids: Mapping[str, str] = {}
    for message in messages:
        match message:
            case UserMessage(text, images):
                _append(sent, "user", [*_text(text), *map(_image, images)])
            case AssistantMessage():
                blocks, ids = _reply(message, taken)
                _append(sent, "assistant", blocks)
            case ToolAnswers(answers, note):
                results = [_answer(each, ids[each.call_id]) for each in answers]
                _append(sent, "user", [*results, *_text(note)])
    return sent


def _append(sent: list[dict[str, Any]], role: str, blocks: list[Block]) -> None:
    blocks = [block for block in blocks if not _is_blank(block)]
    if not blocks:
        return
    if sent and sent[-1]["role"] == role:
        sent[-1]["content"] += blocks
    else:
        sent.append({"role": role, "content": blocks})


def _is_blank(block: Block) -> bool:
    return block.get("type") == "text" and not str(block.get("text") or "").strip()


def _reply(message: AssistantMessage, taken: set[str]) -> tuple[list[Block], Mapping[str, str]]:
    """The blocks, and the id that each call of the message is sent with."""
    places = [item for item in message.items if item.get("type") == "tool_use"]
    if not message.items or len(places) != len(message.calls):
        blocks = _text(message.text) + [_call(call) for call in message.calls]
    else:
        blocks = [*message.items]
    given = iter(message.calls)
    ids: dict[str, str] = {}
    renamed: list[Block] = []
    for block in blocks:
        if block.get("type") == "tool_use":
            call = next(given)
            ids[call.id] = fresh_id(str(block.get("id") or call.id), taken)
            taken.add(ids[call.id])
            block = {**block, "id": ids[call.id]}
        renamed.append(block)
    return renamed, ids


def _call(call: ToolCall) -> Block:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)}


def _answer(answer: ToolAnswer, call_id: str) -> Block:
    content: str | list[Block] = answer.text
    if answer.images:
        content = [*_text(answer.text), *map(_image, answer.images)]
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def _text(text: str) -> list[Block]:
    return [{"type": "text", "text": text}]


def _image(image: Image) -> Block:
    data = base64.b64encode(image.data).decode("ascii")
    return {"type": "image", "source": {"type": "base64", "media_type": image.mime, "data": data}}
