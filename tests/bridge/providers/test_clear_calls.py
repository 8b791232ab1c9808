"""Calls that a server did not say clearly, on each wire: none of them runs with other arguments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from bridge.conversation.frames import CallReady
from bridge.conversation.stream import Finish, StreamEvent, Usage
from bridge.cst.carriers import CARRIERS
from bridge.errors import ProviderError
from bridge.providers.kept_stream import KeptStream
from device_tools.catalog import PHONE_TOOLS

CAP = 10
REASON = '{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}'


def chat_call(function: str, beside: str = "") -> str:
    call = f'{{"index":0,"id":"a","function":{{"name":"tap",{function}}}{beside}}}'
    return f'{{"choices":[{{"index":0,"delta":{{"tool_calls":[{call}]}}}}]}}'


def chat_usage(tokens: int) -> str:
    return f'{{"choices":[],"usage":{{"completion_tokens":{tokens}}}}}'


def item(arguments: str) -> str:
    return (
        '{"type":"function_call","id":"i","call_id":"a","name":"tap","status":"completed"'
        + (f',"arguments":{arguments}' if arguments else "")
        + "}"
    )


def added(arguments: str) -> str:
    return f'{{"type":"response.output_item.added","output_index":0,"item":{item(arguments)}}}'


def item_done(arguments: str) -> str:
    return f'{{"type":"response.output_item.done","output_index":0,"item":{item(arguments)}}}'


def completed(*items: str) -> str:
    output = ",".join(items)
    return (
        '{"type":"response.completed","response":{"status":"completed",'
        f'"usage":{{"output_tokens":3}},"output":[{output}]}}}}'
    )


def block(number: int, given: str) -> tuple[str, str]:
    start = f'{{"type":"tool_use","id":"t{number}","name":"tap","input":{given}}}'
    return (
        f'{{"type":"content_block_start","index":{number},"content_block":{start}}}',
        f'{{"type":"content_block_stop","index":{number}}}',
    )


def message_delta(tokens: int, reason: str = '"tool_use"') -> str:
    return (
        f'{{"type":"message_delta","delta":{{"stop_reason":{reason}}},'
        f'"usage":{{"output_tokens":{tokens}}}}}'
    )


STOP = '{"type":"message_stop"}'
XY = '{"x":1,"y":2}'
TEXT = json.dumps(XY)
TWICE = '{"x":1,"y":2,"x":500}'


def read(wire: str, mode: str, events: tuple[str, ...]) -> Iterator[StreamEvent]:
    stream = KeptStream(wire, PHONE_TOOLS, CAP, lambda _text: None)
    for event in events:
        yield from stream.feed(f"data: {event}\n\n".encode())
    yield from stream.close()


def ready(wire: str, mode: str, events: tuple[str, ...]) -> list[Any]:
    """The arguments of the calls that run; a broken stream runs nothing that waited."""
    reader = CARRIERS[mode].reader(PHONE_TOOLS, CAP)
    frames, finish = [], None
    try:
        for event in read(wire, mode, events):
            finish = event if isinstance(event, Finish) else finish
            frames += reader.feed(event)
    except ProviderError:
        finish = None
    frames += reader.close(finish)
    return [dict(frame.call.arguments) for frame in frames if isinstance(frame, CallReady)]


CLEAR = {
    "chat": ("chat", (chat_call(f'"arguments":{TEXT}'), REASON, chat_usage(3))),
    "chat, an object": ("chat", (chat_call(f'"arguments":{XY}'), REASON)),
    "responses": ("responses", (added('""'), item_done(TEXT), completed(item(TEXT)))),
    "responses, an object": ("responses", (item_done(XY), completed(item(XY)))),
    "responses, an object at the end only": ("responses", (completed(item(XY)),)),
    "responses, when the item began": ("responses", (added(TEXT), completed())),
    "anthropic": ("anthropic", (*block(0, XY), message_delta(3), STOP)),
}
UNCLEAR = {
    "chat, a key twice in an object": ("chat", (chat_call(f'"arguments":{TWICE}'), REASON)),
    "chat, arguments twice": (
        "chat",
        (chat_call(f'"arguments":{TEXT},"arguments":{json.dumps(TWICE)}'), REASON),
    ),
    "chat, two reasons in one object": (
        "chat",
        (
            chat_call(f'"arguments":{TEXT}'),
            '{"choices":[{"index":0,"delta":{},"finish_reason":"length",'
            '"finish_reason":"tool_calls"}]}',
        ),
    ),
    "chat, arguments under another name": ("chat", (chat_call(f'"parameters":{XY}'), REASON)),
    "chat, arguments beside the function": (
        "chat",
        (chat_call('"description":""', f',"arguments":{TEXT}'), REASON),
    ),
    "chat, a call behind the reason": ("chat", (REASON, chat_call(f'"arguments":{TEXT}'))),
    "chat, a smaller count behind the cap": (
        "chat",
        (chat_call(f'"arguments":{TEXT}'), REASON, chat_usage(CAP), chat_usage(0)),
    ),
    "responses, a key twice in an object": ("responses", (item_done(TWICE), completed())),
    "responses, arguments as a list": ("responses", (item_done("[1]"), completed())),
    "responses, began with other arguments": (
        "responses",
        (added(TEXT), item_done(json.dumps('{"x":5,"y":5}')), completed()),
    ),
    "anthropic, a key twice": ("anthropic", (*block(0, TWICE), message_delta(3), STOP)),
    "anthropic, a call behind the reason": (
        "anthropic",
        (message_delta(3), *block(0, XY), STOP),
    ),
    "anthropic, a smaller count behind the cap": (
        "anthropic",
        (*block(0, XY), message_delta(CAP), message_delta(0), STOP),
    ),
}


@pytest.mark.parametrize("mode", ["native-eos", "native-inc"])
@pytest.mark.parametrize("case", CLEAR)
def test_a_clear_call_runs_with_its_arguments(case: str, mode: str) -> None:
    """As text or as an object, wherever the wire lets them stand."""
    wire, events = CLEAR[case]
    assert ready(wire, mode, events) == [{"x": 1, "y": 2}]


@pytest.mark.parametrize("case", UNCLEAR)
def test_an_unclear_call_does_not_run_at_the_end(case: str) -> None:
    """Two values, two places, or an end that was said before: the batch is refused."""
    wire, events = UNCLEAR[case]
    assert ready(wire, "native-eos", events) == []


@pytest.mark.parametrize("case", UNCLEAR)
def test_an_unclear_call_is_never_run_with_guessed_arguments(case: str) -> None:
    """What a wire closes has run before its end can lie; then with exactly what it said."""
    wire, events = UNCLEAR[case]
    closed_first = case == "anthropic, a smaller count behind the cap"
    assert ready(wire, "native-inc", events) == [{"x": 1, "y": 2}] * closed_first


def test_the_largest_count_is_the_evidence() -> None:
    """Of the tokens that count against the cap none is taken back."""
    for mode in CARRIERS:
        reader = CARRIERS[mode].reader(PHONE_TOOLS, CAP)
        for tokens in (3, CAP, None, 0):
            reader.feed(Usage(1, tokens))
        assert reader._output_tokens == CAP  # type: ignore[attr-defined]
