"""What Chat Completions servers want back: over a real socket, answer in, next request out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bridge.conversation.frames import CallReady
from bridge.conversation.messages import (
    AssistantMessage,
    ModelRequest,
    ToolAnswer,
    ToolAnswers,
    UserMessage,
)
from bridge.conversation.stream import (
    Finish,
    FinishReason,
    OpaqueItem,
    ReasoningDelta,
    StreamEvent,
)
from bridge.cst.carriers import CARRIERS
from bridge.providers.chat_completions import ChatWire
from bridge.providers.chat_quirks import (
    EXTRA_CONTENT,
    REASONING_CONTENT,
    REASONING_DETAILS,
    STRICT,
    ChatQuirks,
)
from bridge.providers.endpoint import HttpLimits, Server
from bridge.providers.provider import HttpProvider
from bridge.providers.wire import RequestOptions
from device_tools.cancel import CancelScope
from device_tools.schema import ToolSpec, arguments_schema
from tests.doubles.provider_server import DONE, Answer, ScriptedServer, chat_answer, chat_chunk, cut

TOOL = ToolSpec("f", "f", arguments_schema({"p": {"type": "integer"}}, []))
FIRST = ModelRequest("s", (UserMessage("go"),), (TOOL,))
END = chat_chunk(finish="tool_calls") + DONE


def call(index: int | None = 0, id: str | None = "a", arguments: str = "{}", **more: Any) -> Any:
    entry = {"index": index, "id": id, "function": {"name": "f", "arguments": arguments}, **more}
    return {key: value for key, value in entry.items() if value is not None}


def calls(*entries: Any) -> bytes:
    return chat_chunk({"tool_calls": list(entries)})


def signed(signature: str) -> dict[str, Any]:
    return {EXTRA_CONTENT: {"google": {"thought_signature": signature}}}


def second_request(stream: bytes, quirks: ChatQuirks) -> dict[str, Any]:
    """The assistant message that the server gets back after it sent ``stream``."""
    with ScriptedServer([Answer(cut(stream, 50)), chat_answer("ok")]) as server:
        provider = HttpProvider(
            "test", ChatWire(quirks), RequestOptions("m"), Server(server.base_url), CancelScope(),
            limits=HttpLimits(attempts=1),
        )  # fmt: skip
        with provider.stream(FIRST) as events:
            reply = reply_of(list(events))
        answers = ToolAnswers(tuple(ToolAnswer(each.id, "exit=0") for each in reply.calls))
        messages = (*FIRST.messages, reply, answers)
        with provider.stream(replace(FIRST, messages=messages)) as events:
            list(events)
        sent: dict[str, Any] = server.requests[1].json["messages"][2]
    return sent


def reply_of(events: list[StreamEvent]) -> AssistantMessage:
    """The reply as the loop puts it into the history: the carrier's calls and the items."""
    reader = CARRIERS["native-eos"].reader((TOOL,), None)
    for event in events:
        reader.feed(event)
    frames = reader.close(Finish(FinishReason.TOOL_CALLS))
    ready = tuple(frame.call for frame in frames if isinstance(frame, CallReady))
    items = tuple(event.item for event in events if isinstance(event, OpaqueItem))
    return AssistantMessage("", ready, items=items)


def test_reasoning_content_goes_back_with_calls_even_when_empty() -> None:
    """DeepSeek's reasoning is returned whole; a reply without any gets the empty text."""
    quirks = ChatQuirks(echo_fields=(REASONING_CONTENT,))
    thought = chat_chunk({"reasoning_content": "I tap "}) + chat_chunk({"reasoning_content": "it"})
    assert second_request(thought + calls(call()) + END, quirks)["reasoning_content"] == "I tap it"
    assert second_request(calls(call()) + END, quirks)["reasoning_content"] == ""
    assert "reasoning_content" not in second_request(thought + calls(call()) + END, STRICT)


def test_signatures_go_back_at_their_calls() -> None:
    """Gemini's signature comes with the call or behind it, and returns at that call only."""
    quirks = ChatQuirks(echo_fields=(EXTRA_CONTENT,))
    with_call = calls(call(0, "a", **signed("AAA")), call(1, "b"))
    behind = calls(call(0, "a"), call(1, "b")) + calls({"index": 0, **signed("AAA")})
    unnumbered = calls(call(None, "a")) + calls({"id": "a", **signed("AAA")}, call(None, "b"))
    for stream in (with_call, behind, unnumbered):
        first, second = second_request(stream + END, quirks)["tool_calls"]
        assert first == {"id": "a", "type": "function",
                         "function": {"name": "f", "arguments": "{}"}, **signed("AAA")}  # fmt: skip
        assert EXTRA_CONTENT not in second
    first, _ = second_request(with_call + END, STRICT)["tool_calls"]
    assert EXTRA_CONTENT not in first


def test_a_signature_behind_a_call_is_no_fragment_of_a_call() -> None:
    """A delta of metadata only does not disturb the reading of the calls."""
    stream = calls(call(None, "a"), call(None, "b")) + calls(signed("AAA")) + END
    sent = second_request(stream, ChatQuirks(echo_fields=(EXTRA_CONTENT,)))
    assert [each["id"] for each in sent["tool_calls"]] == ["a", "b"]


def test_a_signature_of_the_message_goes_back_at_the_message() -> None:
    """Gemini signs text too; that signature is the message's own."""
    stream = chat_chunk(signed("TTT")) + calls(call()) + END
    sent = second_request(stream, ChatQuirks(echo_fields=(EXTRA_CONTENT,)))
    assert sent[EXTRA_CONTENT] == signed("TTT")[EXTRA_CONTENT]


def test_reasoning_details_are_joined_and_go_back() -> None:
    """Pieces of one block are one block, whole blocks stay as they are, in order."""

    def detail(**fields: Any) -> bytes:
        return chat_chunk({"reasoning_details": [fields]})

    stream = b"".join(
        [
            detail(type="reasoning.text", index=0, text="I look", signature=None),
            detail(type="reasoning.text", index=0, text=" twice", signature="SIG"),
            detail(type="reasoning.encrypted", index=1, data="xyz"),
            calls(call()),
            END,
        ]
    )
    sent = second_request(stream, ChatQuirks(echo_fields=(REASONING_DETAILS,)))
    assert sent["reasoning_details"] == [
        {"type": "reasoning.text", "index": 0, "text": "I look twice", "signature": "SIG"},
        {"type": "reasoning.encrypted", "index": 1, "data": "xyz"},
    ]
    assert "reasoning_details" not in second_request(stream, STRICT)


def test_reasoning_details_are_shown_once_and_summaries_as_such() -> None:
    """The plain field counts where both come; encrypted blocks show nothing."""
    both = {"reasoning": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}
    summary = {"reasoning_details": [{"type": "reasoning.summary", "summary": "short"},
                                     {"type": "reasoning.encrypted", "data": "x"}]}  # fmt: skip
    stream = chat_chunk(both) + chat_chunk(summary) + chat_chunk(finish="stop")
    with ScriptedServer([Answer([stream])]) as server:
        provider = HttpProvider(
            "test", ChatWire(), RequestOptions("m"), Server(server.base_url), CancelScope()
        )
        with provider.stream(FIRST) as events:
            shown = [event for event in events if isinstance(event, ReasoningDelta)]
    assert shown == [ReasoningDelta("hm"), ReasoningDelta("short", summary=True)]
