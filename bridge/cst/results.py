"""Result frames: how the answers of a turn's calls go back to a model of a text carrier."""

from __future__ import annotations

import json
from collections.abc import Sequence

from bridge.conversation.messages import CallResult, UserMessage

CST_TOOL_OUT_CAP = 32 * 1024
"""Bytes of one result; what is longer keeps its head (60 %) and its tail (40 %)."""


def replaced_note(results: Sequence[CallResult]) -> str:
    """Names the calls whose arguments hold U+FFFD, "" when none does.

    Servers that cut a character over two events send it in place of the halves, so the call was
    taken exactly as it came and still may not say what the model meant. Arguments never change.
    """
    flagged = [
        each.call.id
        for each in results
        if "\ufffd" in json.dumps(dict(each.call.arguments), ensure_ascii=False)
    ]
    if not flagged:
        return ""
    which = ", ".join(flagged)
    return f"The arguments of {which} held U+FFFD, which stands for a character that was lost."


def cut(text: str, cap: int = CST_TOOL_OUT_CAP) -> bytes:
    """``text`` in UTF-8, at most ``cap`` bytes, cut in the middle with a notice in its place."""
    data = text.encode("utf-8", "replace")
    if len(data) <= cap:
        return data
    notice = f"\n[... about {len(data) - cap} of {len(data)} bytes left out here ...]\n".encode()
    room = max(cap - len(notice), 0)
    head = room * 6 // 10
    return _whole(data[:head]) + notice + _whole(data[len(data) - (room - head) :])


def _whole(data: bytes) -> bytes:
    """Drops the halves of characters that a cut left at either end."""
    return data.decode("utf-8", "ignore").encode()


def result_frame(call_id: str, exit_code: int, text: str) -> str:
    """``result <id> exit=<code> <nbytes>`` LF, exactly nbytes bytes, LF, ``end`` LF."""
    body = cut(text)
    return f"result {call_id} exit={exit_code} {len(body)}\n{body.decode()}\nend\n"


def results_message(results: Sequence[CallResult], note: str = "") -> UserMessage:
    """All frames in the model's order, then the flag of lost characters and ``note``; the
    pictures of the results attached."""
    frames = "".join(
        result_frame(each.call.id, each.result.exit_code, each.result.text) for each in results
    )
    images = tuple(image for each in results for image in each.result.images)
    notes = "".join(f"{each}\n" for each in (replaced_note(results), note) if each)
    return UserMessage(frames + notes, images)
