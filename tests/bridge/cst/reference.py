"""A deliberately simple whole-stream reading of the CTL grammar, to hold the parser against.

It shares nothing with the parser: it sees all bytes at once, walks them by index and never
buffers. It answers what the finished stream means, not how it arrived.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

TOOLS = ("tap", "type_text", "open_app", "current_app", "finish")
MAX_LINE, MAX_ARGUMENT, MAX_ARGUMENTS, MAX_CALLS = 8192, 1048576, 64, 64
TOKEN = "[A-Za-z0-9_.-]{1,64}"


@dataclass
class Reading:
    """``end``: an error kind, "stop", "open" inside a frame, or "" outside of any."""

    calls: list[tuple[str, str, dict[str, bytes], bytes]] = field(default_factory=list)
    text: bytes = b""
    end: str = ""


class Broken(Exception):
    """The stream means nothing from here on; the argument says why."""


def spoken(data: bytes) -> bytes:
    """What stands behind the thought that opens a reply; nothing while that is open."""
    thought = re.match(rb"(?:\xef\xbb\xbf)?[ \t\r\n]{0,64}<think>", data)
    if not thought:
        return data
    stop = data.find(b"</think>", thought.end())
    return data[stop + 8 :] if stop >= 0 else b""


def read(data: bytes, *, length_prefix: bool = False) -> Reading:
    """What the bytes mean so far; a last line without newline is no line."""
    reading = Reading()
    at = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    aside = b""
    try:
        while (stop := data.find(b"\n", at)) >= 0:
            line = data[at:stop].decode("latin-1")
            first = re.match(f"call ({TOKEN})(?![A-Za-z0-9_.-])", line)
            second = re.match(f"call {TOKEN} ({TOKEN})(?![A-Za-z0-9_.-])", line)
            if first and first[1] in TOOLS and not (second and second[1] in TOOLS):
                raise Broken("line_too_long" if len(line) > MAX_LINE else "bad_call")
            opening = re.fullmatch(f"call ({TOKEN}) ({TOKEN})", line)
            if opening:
                check_call(reading, opening[1], line)
                aside = b""
                begun, at = at, stop + 1
                arguments, at = frame(data, at, length_prefix)
                reading.calls.append((opening[1], opening[2], arguments, data[begun:at]))
                continue
            for tool in TOOLS:
                if re.match(f"call {TOKEN} {tool}[^A-Za-z0-9_.-]", line):
                    raise Broken("line_too_long" if len(line) > MAX_LINE else "bad_call")
            fence = re.fullmatch(r"`{3,16}[ \t]?[A-Za-z0-9_+.#-]{0,32}[ \t\r]{0,8}", line)
            blank = not line.strip(" \t\r")
            whole = data[at : stop + 1]
            at = stop + 1
            if reading.calls:
                if not fence and not blank:
                    raise Broken("stop")
            elif fence or (blank and aside):
                aside += whole
            else:
                reading.text += aside + whole
                aside = b""
    except Broken as broken:
        reading.end = str(broken)
    return reading


def check_call(reading: Reading, call_id: str, line: str) -> None:
    if call_id in [call[0] for call in reading.calls]:
        raise Broken("bad_call")
    if len(reading.calls) == MAX_CALLS:
        raise Broken("limit")


def frame(data: bytes, at: int, length_prefix: bool) -> tuple[dict[str, bytes], int]:
    """The arguments of the frame whose first argument line starts at ``at``, and its end."""
    arguments: dict[str, bytes] = {}
    while True:
        stop = data.find(b"\n", at)
        if len(data[at : stop if stop >= 0 else None]) > MAX_LINE:
            raise Broken("line_too_long")
        if stop < 0:
            raise Broken("open")
        line = data[at:stop].decode("latin-1")
        if line == "end":
            return arguments, stop + 1
        if not line.startswith("arg "):
            raise Broken("unexpected_line")
        parts = line.split(" ", 2)
        if len(parts) < 3 or not re.fullmatch(TOKEN, parts[1]) or parts[1] in arguments:
            raise Broken("bad_arg")
        if len(arguments) == MAX_ARGUMENTS:
            raise Broken("limit")
        if line.endswith("\r"):
            raise Broken("bad_arg")
        arguments[parts[1]], at = value(data, stop + 1, parts[2], length_prefix)


def value(data: bytes, at: int, given: str, length_prefix: bool) -> tuple[bytes, int]:
    if given.startswith("<<"):
        tag = re.fullmatch(r"<<(['\"]?)([A-Za-z0-9_]{1,32})\1", given)
        if not tag:
            raise Broken("bad_arg")
        return heredoc(data, at, tag[2].encode())
    if length_prefix and given and all(c in "0123456789" for c in given):
        if len(given) > 7 or (given[0] == "0" and given != "0"):
            raise Broken("bad_arg")
        if int(given) > MAX_ARGUMENT:
            raise Broken("limit")
        stop = at + int(given)
        if stop > len(data):
            raise Broken("open")
        return data[at:stop], stop + 1 if data[stop : stop + 1] == b"\n" else stop
    return given.encode("latin-1"), at


def heredoc(data: bytes, at: int, tag: bytes) -> tuple[bytes, int]:
    begun = at
    while (stop := data.find(b"\n", at)) >= 0:
        if data[at:stop] == tag:
            return data[begun:at], stop + 1
        at = stop + 1
        if at - begun > MAX_ARGUMENT:
            raise Broken("limit")
    raise Broken("open")
