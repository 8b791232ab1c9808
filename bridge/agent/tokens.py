"""How many tokens a message is about: an estimate, for a budget and for nothing else."""

from __future__ import annotations

import json

from bridge.conversation.messages import AssistantMessage, Message, ToolAnswers, UserMessage
from device_tools.result import Image

_BYTES_PER_TOKEN = 4
"""English has four characters to a token; in UTF-8 bytes the rule holds roughly for Chinese too."""
_PIXELS_PER_TOKEN = 750
"""What Anthropic documents; OpenAI's tiles come to about the same for a phone's picture."""
_PER_MESSAGE = 4


def estimate(message: Message) -> int:
    """Tokens of ``message`` with its pictures."""
    match message:
        case UserMessage(text, images):
            return _PER_MESSAGE + of_text(text) + _of_images(images)
        case AssistantMessage():
            calls = sum(of_text(call.source) for call in message.calls)
            # items stand for text and calls, or beside them: that is the wire's matter
            items = of_text(json.dumps(message.items, ensure_ascii=False)) if message.items else 0
            return _PER_MESSAGE + max(items, of_text(message.text) + calls)
        case ToolAnswers(answers, note):
            parts = sum(
                _PER_MESSAGE + of_text(each.text) + _of_images(each.images) for each in answers
            )
            return _PER_MESSAGE + parts + of_text(note)


def of_text(text: str) -> int:
    """Tokens of a text."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)


def _of_images(images: tuple[Image, ...]) -> int:
    return sum(-(-image.width * image.height // _PIXELS_PER_TOKEN) for image in images)
