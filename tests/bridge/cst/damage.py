"""Frames of which each framing byte is known, and the ways to damage one of those bytes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

MODES = ("ctl", "ctl-heredoc", "xml")
_INSERTED = b" \n\r\tae<>/\"'=0"


@dataclass(frozen=True)
class Frame:
    """``framing``: offsets of the bytes that belong to the grammar and not to a name or value."""

    mode: str
    data: bytes
    framing: tuple[int, ...]


def frames(mode: str, count: int, seed: int) -> list[Frame]:
    """``count`` whole, valid frames (for xml: blocks of one call)."""
    pick = random.Random(f"{mode} {seed}")
    make = _block if mode == "xml" else _call
    return [_marked(mode, make(pick, mode)) for _ in range(count)]


def damaged(frame: Frame, seed: int, *, thorough: bool = False) -> Iterator[bytes]:
    """Each framing byte flipped, lost, and with another byte before it: one of each, or
    (``thorough``) every flip of one bit and every byte that the grammar knows."""
    pick = random.Random(seed)
    data = frame.data
    for at in frame.framing:
        bits = range(8) if thorough else [pick.randrange(8)]
        added = _INSERTED if thorough else [pick.choice(_INSERTED)]
        yield data[:at] + data[at + 1 :]
        for bit in bits:
            yield data[:at] + bytes([data[at] ^ (1 << bit)]) + data[at + 1 :]
        for byte in added:
            yield data[:at] + bytes([byte]) + data[at:]


def _marked(mode: str, parts: list[tuple[str, bool]]) -> Frame:
    data, framing = b"", list[int]()
    for text, is_framing in parts:
        raw = text.encode()
        framing += range(len(data), len(data) + len(raw)) if is_framing else ()
        data += raw
    return Frame(mode, data, tuple(framing))


def _call(pick: random.Random, mode: str) -> list[tuple[str, bool]]:
    name = pick.choice(["tap", "type_text", "finish"])
    parts = [("call ", True), (f"c{pick.randrange(9)}", False), (" ", True), (name, False)]
    parts.append(("\n", True))
    for key in pick.sample(["x", "y", "text"], pick.randint(0, 2)):
        parts += [("arg ", True), (key, False), (" ", True)]
        parts += _value(pick, pick.choice(["inline", "heredoc", *["counted"] * (mode == "ctl")]))
    return [*parts, ("end\n", True)]


def _value(pick: random.Random, form: str) -> list[tuple[str, bool]]:
    words = pick.choice(["a b", "é", "end", "x\ny", "call c1 tap", ""])
    if form == "counted":
        return [(f"{len(words.encode())}\n", True), (words, False), ("\n", True)]
    if form == "heredoc":
        tag = pick.choice(["E", "EOF", "END_1"])
        quote = pick.choice(["", "'", '"'])
        body = "".join(f"{line}\n" for line in words.split("\n") if words)
        return [(f"<<{quote}{tag}{quote}\n", True), (body, False), (f"{tag}\n", True)]
    return [(words.replace("\n", " "), False), ("\n", True)]


def _block(pick: random.Random, mode: str) -> list[tuple[str, bool]]:
    space = pick.choice(["", "\n"])
    parts = [(f"<minimax:tool_call>{space}<invoke name=", True), *_quoted(pick, "tap"), (">", True)]
    for key in pick.sample(["x", "y"], pick.randint(0, 1)):
        parts += [(f"{space}<parameter name=", True), *_quoted(pick, key), (">", True)]
        parts += [(pick.choice(["1", "a b", "é", ""]), False), ("</parameter>", True)]
    return [*parts, (f"{space}</invoke>{space}</minimax:tool_call>", True)]


def _quoted(pick: random.Random, name: str) -> list[tuple[str, bool]]:
    quote = pick.choice(['"', "'", ""])
    return [(quote, True), (name, False), (quote, True)]
