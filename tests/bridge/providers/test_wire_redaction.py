from __future__ import annotations

import json

import pytest

from bridge.providers.wire_redaction import clean_headers, clean_line, clean_request
from bridge.store.redaction import Redactor

SCREEN = "the balance is 4711"
IMAGE = "data:image/jpeg;base64," + "A" * 500


def clean(text: str) -> str:
    return Redactor([]).text(text)


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
    written = json.dumps(clean_request(json.dumps({**body, "tools": tools}).encode(), clean))
    assert "4711" not in written
    assert "AAAA" not in written
    assert "SECRETSECRET" not in written
    for kept in ("the task", "rules", "c1", '"tools": ["tap"]', f"{len(SCREEN)} characters"):
        assert kept in written


@pytest.mark.parametrize(
    ("line", "cleaned"),
    [
        (b'data: {"a": 1}\n', b'data: {"a": 1}\n'),
        (b": ping\n", b": ping\n"),
        (b"data: [DONE]\r\n", b"data: [DONE]\r\n"),
        (b"data: \xff\xfe\n", b"data: \xff\xfe\n"),
        (b"data: " + b"[" * 50_000, b"data: " + b"[" * 50_000),
        (b'data: {"m":"bad key K-E-Y"}\n', b'data: {"m":"bad key [key]"}\n'),
        (
            b'data: {"delta":{"type":"signature_delta","signature":"abcd"}}\n',
            b'data: {"delta":{"type":"signature_delta","signature":"[opaque, 4 characters]"}}\n',
        ),
        (
            b'data: {"type":"reasoning.encrypted","data":"abcd","id":"x"}\n',
            b'data: {"type":"reasoning.encrypted","data":"[opaque, 4 characters]","id":"x"}\n',
        ),
        (
            b'{"item":{"encrypted_content":"abc"}}',
            b'{"item":{"encrypted_content":"[opaque, 3 characters]"}}',
        ),
        (
            b'data: {"content":"password=hunter2hunter2"}\n',
            b'data: {"content":"password=[redacted password]"}\n',
        ),
    ],
)
def test_a_line_of_an_answer_loses_secrets_and_nothing_else(line: bytes, cleaned: bytes) -> None:
    """Lines without anything to hide keep every byte; key, signature and the like become words."""
    assert clean_line(line, "K-E-Y", clean) == cleaned


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
