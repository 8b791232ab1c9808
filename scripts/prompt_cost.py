"""Print docs/prompt-cost.md: what teaching the tools costs in each mode.

Usage: python scripts/prompt_cost.py > docs/prompt-cost.md. Needs bpe-openai (extra ``dev``), which
carries the o200k vocabulary in its package.
"""

from __future__ import annotations

import json

from bpe_openai import get_encoding

from bridge.conversation.finish import FINISH
from bridge.conversation.messages import ModelRequest
from bridge.cst.carriers import CARRIERS
from bridge.providers.chat_completions import ChatWire
from bridge.providers.wire import RequestOptions
from bridge.tool_sets import ALL_TOOLS

HEAD = """# What the prompt of each protocol costs

Made by `python scripts/prompt_cost.py`: the part of the system prompt that teaches a mode, with
the {count} shipped tools, and in the native modes the `tools` of the request. It is sent with every
request (a server with a prompt cache charges it in full once).

Tokens are those of the o200k vocabulary; other vocabularies differ by some ten per cent. A server
turns the `tools` of a native request into a prompt of its own, so their count is an estimate: the
tokens of the compact JSON.

| mode | rules, tokens | rules and tools, tokens | bytes | of that in `tools` |
| --- | --- | --- | --- | --- |
"""


def row(mode: str) -> str:
    carrier, tools = CARRIERS[mode], (*ALL_TOOLS, FINISH)
    encoding = get_encoding("o200k_base")
    prompt = carrier.system_prompt(tools)
    offered = carrier.request_tools(tools)
    request = ModelRequest("", (), offered)
    body = ChatWire().body(request, RequestOptions("m"))
    beside = json.dumps(body["tools"], separators=(",", ":")) if offered else ""
    counts = [len(encoding.encode(text)) for text in (carrier.system_prompt(()), prompt, beside)]
    size = len(prompt.encode()) + len(beside.encode())
    return f"| `{mode}` | {counts[0]} | {counts[1] + counts[2]} | {size} | {counts[2]} |\n"


def page() -> str:
    head = HEAD.format(count=len(ALL_TOOLS) + 1)
    return head + "".join(
        row(mode) for mode in ("ctl-heredoc", "ctl", "xml", "native-eos", "native-inc")
    )


if __name__ == "__main__":
    print(page(), end="")
