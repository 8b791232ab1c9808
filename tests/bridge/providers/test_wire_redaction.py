from __future__ import annotations

import json

import pytest

from bridge.providers.wire_redaction import (
    clean_headers,
    clean_request,
    shape,
    shape_of_line,
)

SCREEN = "the balance is 4711"
IMAGE = "data:image/jpeg;base64," + "A" * 500


@pytest.mark.parametrize(
    "body",
    [
        {
            "messages": [
                {"role": "system", "content": "rules"},
                {"role": "user", "content": "the task"},
                {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "tap"}}]},
                {"role": "tool", "tool_call_id": "c1", "content": SCREEN},
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": SCREEN},
                        {"type": "image_url", "image_url": {"url": IMAGE}},
                    ],
                },
            ]
        },
        {
            "instructions": "rules",
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "the task"}]},
                {"type": "reasoning", "id": "rs", "encrypted_content": "SECRETSECRET"},
                {"type": "function_call", "call_id": "c1", "name": "tap", "arguments": "{}"},
                {
                    "type": "function_call_output",
                    "call_id": "c1",
                    "output": [
                        {"type": "input_text", "text": SCREEN},
                        {"type": "input_image", "image_url": IMAGE},
                    ],
                },
            ],
        },
        {
            "system": "rules",
            "messages": [
                {"role": "user", "content": "the task"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "hm", "signature": "SECRETSECRET"},
                        {"type": "redacted_thinking", "data": "SECRETSECRET"},
                        {"type": "tool_use", "id": "c1", "name": "tap", "input": {}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "c1",
                            "content": [
                                {"type": "text", "text": SCREEN},
                                {
                                    "type": "image",
                                    "source": {"type": "base64", "data": "A" * 500},
                                },
                            ],
                        }
                    ],
                },
            ],
        },
    ],
    ids=["chat", "responses", "anthropic"],
)
def test_a_request_keeps_its_shape_and_none_of_the_phones_words(body: dict[str, object]) -> None:
    """Task, rules, ids and calls stay; results, pictures and opaque items are measured."""
    tools = [{"type": "function", "function": {"name": "tap", "description": "long"}}]
    request = json.dumps({**body, "tools": tools}).encode()
    written = json.dumps(clean_request(request))
    assert "4711" not in written
    assert "AAAA" not in written
    assert "SECRETSECRET" not in written
    for kept in ("the task", "rules", "c1", '"tools": ["tap"]', f"{len(SCREEN)} characters"):
        assert kept in written
    outline = json.dumps(shape(clean_request(request)))
    for text in ("the task", "rules", "4711", "SECRETSECRET"):
        assert text not in outline
    assert '"role": "user"' in outline


def test_headers_show_no_value_but_harmless_ones() -> None:
    """Whatever holds the key, its value is hidden."""
    assert clean_headers(
        {"Authorization": "Bearer k", "x-api-key": "k", "Cookie": "k", "Retry-After": "3"}
    ) == {
        "Authorization": "[hidden]",
        "x-api-key": "[hidden]",
        "Cookie": "[hidden]",
        "Retry-After": "3",
    }


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("", ""),
        ("data: [DONE]", "data: [DONE]"),
        ("event: message_stop", "event: message_stop"),
        (": a comment", "[text, 11 characters]"),
        ("<h1>Bad gateway</h1>", "[text, 20 characters]"),
        (
            'data: {"id":"x","choices":[{"delta":{"content":"hunter2"},"finish_reason":"stop"}]}',
            'data: {"id":"x","choices":[{"delta":{"content":"[text, 7 characters]"},'
            '"finish_reason":"stop"}]}',
        ),
        (
            'data: {"input":{"code":"482913","name":"Bob","a":{"id":"7"}},"usage":{"n":3}}',
            'data: {"input":{"code":"[text, 6 characters]","name":"[text, 3 characters]",'
            '"a":{"id":"[text, 1 characters]"}},"usage":{"n":3}}',
        ),
        ("data: " + "[" * 50_000, "[text, 50006 characters]"),
    ],
)
def test_a_line_is_shown_by_its_shape(line: str, shown: str) -> None:
    """Names, numbers and reasons of the wire stay; every text is its length."""
    assert shape_of_line(line) == shown
