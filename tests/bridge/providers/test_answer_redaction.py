"""Secrets in answers that come in pieces: gone whole, with every length kept."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from bridge.providers.answer_redaction import starred_answer, starred_values
from bridge.store.redaction import Redactor
from bridge.store.spans import Secret
from tests.doubles.provider_server import chat_chunk, event


def nothing(_text: str) -> Sequence[Secret]:
    return ()


def known(*secrets: str) -> Redactor:
    return Redactor(secrets)


def cleaned(stream: bytes, redactor: Redactor, size: int = 10_000) -> bytes:
    pieces = [(n, stream[n : n + size]) for n in range(0, len(stream), size)]
    return b"".join(data for _, data in starred_answer(pieces, "K-E-Y", redactor.spans))


def said(stream: bytes) -> str:
    """What the deltas of a chat stream say together."""
    lines = [line.removeprefix(b"data: ") for line in stream.split(b"\n") if line]
    deltas = [json.loads(line)["choices"][0]["delta"] for line in lines]
    return "".join(delta.get("content", "") for delta in deltas)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_a_secret_spread_over_deltas_is_hidden(size: int) -> None:
    """However the model cut it; the text around it and all lengths stay."""
    text = "I type hunter2!xyz into the field, then 4 taps."
    stream = b"".join(
        chat_chunk({"content": text[start : start + size]}) for start in range(0, len(text), size)
    )
    assert said(cleaned(stream, known("hunter2!xyz"))) == text.replace("hunter2!xyz", "*" * 11)


def test_a_frame_that_counts_its_bytes_can_still_be_read() -> None:
    """A letter of two bytes becomes two stars."""
    frame = "call c1 type_text\narg text 9\npärölé\nend\n"
    out = said(cleaned(chat_chunk({"content": frame}), known("pärölé")))
    assert out == "call c1 type_text\narg text 9\n*********\nend\n"


def test_streams_that_are_interleaved_are_told_apart() -> None:
    """Two calls whose arguments come in turn, each with a piece of its own secret."""
    deltas = [(0, "hunt"), (1, "swor"), (0, "er2!xyz"), (1, "dfish99")]
    stream = b"".join(
        event({"type": "d", "output_index": n, "delta": {"text": text}}) for n, text in deltas
    )
    out = cleaned(stream, known("hunter2!xyz", "swordfish99")).decode()
    assert out.count("*") == len("hunter2!xyz") + len("swordfish99")


def test_a_secret_found_by_its_words_is_hidden_across_deltas() -> None:
    """Nobody knew it before: the words around it are enough, also when they come in pieces."""
    parts = ("Your veri", "fication code i", "s 48", "29", "13.")
    stream = b"".join(chat_chunk({"content": part}) for part in parts)
    assert said(cleaned(stream, known())) == "Your verification code is ******."


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b": ping\n", b": ping\n"),
        (b"data: [DONE]\r\n", b"data: [DONE]\r\n"),
        (b"data: \xff\xfe\n", b"data: \xff\xfe\n"),
        (b"data: " + b"[" * 50_000, b"data: " + b"[" * 50_000),
        (b'data: {"m":"bad key K-E-Y"}\n', b'data: {"m":"bad key *****"}\n'),
        (b"<p>bad key K-E-Y", b"<p>bad key *****"),
        (
            b'data: {"delta":{"type":"signature_delta","signature":"abcd"}}\n',
            b'data: {"delta":{"type":"signature_delta","signature":"[opaque, 4 characters]"}}\n',
        ),
        (
            b'{"item":{"encrypted_content":"abc"}}',
            b'{"item":{"encrypted_content":"[opaque, 3 characters]"}}',
        ),
        (b'data: {"content":"password=hunter2"', b'data: {"content":"password=*******"'),
        (b'data: {"id":"482913","x":["482913"]}\n', b'data: {"id":"482913","x":["******"]}\n'),
        (b'data: {"input":{"id":"482913"}}\n', b'data: {"input":{"id":"******"}}\n'),
    ],
)
def test_a_line_loses_secrets_and_nothing_else(line: bytes, expected: bytes) -> None:
    """Key, signature and the like go, also from half a line; ids of the wire stay."""
    redactor = Redactor()
    redactor.text("Your verification code is 482913")
    assert cleaned(line, redactor) == expected


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_bytes_and_cuts_of_harmless_lines_are_kept(size: int) -> None:
    """What comes out is what went in, in the same pieces."""
    stream = 'data: {"a":"ü"}\r\n\r\n: x\ndata: 2\n\nrest'.encode()
    given = [(number, stream[n : n + size]) for number, n in enumerate(range(0, len(stream), size))]
    assert starred_answer(given, "", nothing) == given


def test_a_request_loses_secrets_but_no_names() -> None:
    """Texts anywhere in the JSON are searched, ids and roles stay."""
    body = {"messages": [{"role": "hunter2!x", "content": ["a hunter2!x"], "n": 3}]}
    out = starred_values(body, known("hunter2!x").spans)
    assert out == {"messages": [{"role": "hunter2!x", "content": ["a *********"], "n": 3}]}
