"""Requests for models that read no pictures: every picture becomes a line that says so."""

from __future__ import annotations

from dataclasses import replace

from bridge.conversation.messages import Message, ModelRequest, ToolAnswer, ToolAnswers, UserMessage
from device_tools.result import Image


def without_pictures(request: ModelRequest) -> ModelRequest:
    """The same request in words; a reply of the model has no pictures."""
    return replace(request, messages=tuple(map(_in_words, request.messages)))


def _in_words(message: Message) -> Message:
    match message:
        case UserMessage(text, images) if images:
            return UserMessage(_with_notes(text, images))
        case ToolAnswers(answers, note):
            return ToolAnswers(tuple(map(_answer_in_words, answers)), note)
    return message


def _answer_in_words(answer: ToolAnswer) -> ToolAnswer:
    if not answer.images:
        return answer
    return replace(answer, text=_with_notes(answer.text, answer.images), images=())


def _with_notes(text: str, images: tuple[Image, ...]) -> str:
    notes = [f"[not sent: the picture {image.note}; you read no pictures]" for image in images]
    return "\n".join([text, *notes])
