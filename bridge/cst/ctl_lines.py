"""The lines of the CTL grammar, without their LF: patterns, and what a begun line may become."""

from __future__ import annotations

import re
from collections.abc import Set

BOM = b"\xef\xbb\xbf"
_TOKEN = rb"[A-Za-z0-9_.-]"
CALL = re.compile(rb"call (%b{1,64}) (%b{1,64})(?!%b)(.*)" % (_TOKEN, _TOKEN, _TOKEN), re.DOTALL)
_CALL_WORD = re.compile(rb"call (%b{1,64})(?!%b)(.*)" % (_TOKEN, _TOKEN), re.DOTALL)
_CALL_BEGUN = re.compile(rb"call (?:%b{0,64}|%b{1,64} %b{0,64})" % (_TOKEN, _TOKEN, _TOKEN))
_CALL_HEAD = len(b"call ") + 64 + 1 + 64 + 1
ARG = re.compile(rb"arg (%b{1,64}) (.*)" % _TOKEN, re.DOTALL)
TAG = re.compile(rb"<<(?:([A-Za-z0-9_]{1,32})|'([A-Za-z0-9_]{1,32})'|\"([A-Za-z0-9_]{1,32})\")")
NBYTES = re.compile(rb"0|[1-9][0-9]{0,6}")
_FENCE = re.compile(rb"`{3,16}[ \t]?[A-Za-z0-9_+.#-]{0,32}[ \t\r]{0,8}")
_FENCE_BEGUN = re.compile(rb"`{0,2}")
_BLANK = re.compile(rb"[ \t\r]*")


def may_become_call(part: bytes, tools: Set[str]) -> bool:
    """Whether a begun line may become ``call A B`` or a broken call. Looks at the head alone,
    whatever the length."""
    if len(part) <= len(b"call "):
        return b"call ".startswith(part)
    head = part[: _CALL_HEAD + 1]
    if _CALL_BEGUN.fullmatch(part[:_CALL_HEAD]) or broken_call(head, tools) is not None:
        return True
    return bool((whole := CALL.match(head)) and not whole[3])


def broken_call(line: bytes, tools: Set[str]) -> tuple[str, str] | None:
    """Id ("" when it is missing) and tool of a line that means a call and cannot begin a frame:
    ``call ID TOOL`` with more behind an offered tool, or ``call TOOL`` without an id."""
    head = CALL.fullmatch(line)
    if head and head[2].decode() in tools:
        return (head[1].decode(), head[2].decode()) if head[3] else None
    first = _CALL_WORD.fullmatch(line)
    return ("", first[1].decode()) if first and first[1].decode() in tools else None


def may_become_fence(part: bytes) -> bool:
    """Whether a begun line may become a code fence."""
    return bool(_FENCE_BEGUN.fullmatch(part)) or is_fence(part)


def is_fence(line: bytes) -> bool:
    """Three to sixteen backticks and at most one word."""
    return bool(_FENCE.fullmatch(line))


def is_blank(line: bytes) -> bool:
    """Spaces, tabs and CR only."""
    return bool(_BLANK.fullmatch(line))
