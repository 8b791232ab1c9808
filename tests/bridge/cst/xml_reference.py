"""A deliberately simple whole-stream reading of MiniMax blocks, to hold the xml carrier against.

One regular expression for a whole block, written from the grammar; it sees the finished reply.
"""

from __future__ import annotations

import re

_NAME = r"(?:\"[A-Za-z0-9_.-]{1,64}\"|'[A-Za-z0-9_.-]{1,64}'|[A-Za-z0-9_.-]{1,64})"
_WS = r"[ \t\r\n]*"
_VALUE = r"(?:(?!</?parameter|</?invoke|</?minimax:tool_call).)*"
_PARAM = f"<parameter name={_NAME}>{_VALUE}</parameter>"
_INVOKE = f"<invoke name={_NAME}>{_WS}(?:{_PARAM}{_WS})*</invoke>"
_BLOCK = f"<minimax:tool_call>{_WS}(?:{_INVOKE}{_WS})+</minimax:tool_call>"
_FENCE = r"`{3,16}[ \t]?[A-Za-z0-9_+.#-]{0,32}(?=[ \t\r\n]|$)"
_GAP = f"(?:[ \t\r\n]+|{_FENCE})*"

Calls = list[tuple[str, dict[str, str]]]


def read(reply: str) -> Calls | None:
    """Names and raw values of the calls of a finished reply; None when its block is broken."""
    said = ""
    while thought := re.match("(?s)(.*?)(<think>|<minimax:tool_call>)", reply):
        said += thought[1]
        if thought[2] != "<think>":
            break
        stop = reply.find("</think>", thought.end())
        if stop < 0 and "<minimax:tool_call>" in reply:
            return None
        reply = reply[stop + len("</think>") :] if stop >= 0 else ""
    start = reply.find("<minimax:tool_call>")
    if start < 0:
        return None if re.search(r"</?invoke[ >]|</minimax:tool_call>", said + reply) else []
    rest = reply[start:]
    calls: Calls = []
    while rest.startswith("<minimax:tool_call>"):
        block = re.match(_BLOCK, rest, re.DOTALL)
        if block is None:
            return None
        for invoke in re.findall(_INVOKE, block[0], re.DOTALL):
            name = re.match(f"<invoke name=({_NAME})>", invoke)
            params = re.findall(
                f"<parameter name=({_NAME})>({_VALUE})</parameter>", invoke, re.DOTALL
            )
            keys = [key.strip("\"'") for key, _ in params]
            if name is None or len(set(keys)) < len(keys):
                return None
            values = [layout_off(value) for _, value in params]
            calls.append((name[1].strip("\"'"), dict(zip(keys, values, strict=True))))
        rest = rest[block.end() :]
        rest = rest[len(re.match(_GAP, rest)[0]) :]  # type: ignore[index]
    return calls


def layout_off(value: str) -> str:
    """Without one newline in front and one behind."""
    if value[:1] == "\n":
        value = value[1:]
    return value[:-1] if value[-1:] == "\n" else value
