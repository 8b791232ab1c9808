"""The JSON of an Anthropic Messages request beside its messages: limits, tools, thinking."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bridge.conversation.messages import AssistantMessage, ModelRequest
from bridge.providers.anthropic_messages import messages_of
from bridge.providers.extra import with_extra
from bridge.providers.wire import RequestOptions
from device_tools.schema import ToolSpec

DEFAULT_MAX_TOKENS = 8192
"""The API demands a cap; this is what a request without one gets, its thinking included. Every
model that is on offer accepts it."""

THINKING_KEYS = frozenset({"thinking", "output_config.effort", "reasoning", "reasoning_effort"})
"""Request fields by which servers of this wire are told to think."""

MAX_SEARCHES = 5
"""Searches of the provider's own web search per request."""

BUDGETS = {"low": 2048, "medium": 4096, "high": 8192}
"""Tokens of thinking for each effort, for models that want a budget."""

_LEAST_BUDGET = 1024
# they want a budget of tokens and refuse adaptive thinking; all later ones are the other way round
_WANTS_BUDGET = re.compile(r"claude-3|claude-(opus|sonnet|haiku)-4(?![-.][6-9])")


def request_body(request: ModelRequest, options: RequestOptions) -> dict[str, Any]:
    """The whole request.

    Raises ConfigurationError: ``options.extra`` names a field that is the runtime's.
    """
    body: dict[str, Any] = {
        "model": options.model,
        "max_tokens": max_tokens(request, options),
        "messages": _with_mark(messages_of(request.messages)),
        "stream": True,
        **_thinking(request, options),
    }
    if request.system:
        # covers the tools too, which come before it
        body["system"] = [_marked({"type": "text", "text": request.system})]
    tools = [_tool(tool) for tool in request.tools]
    if options.web_search:
        tools.append(
            {"type": "web_search_20250305", "name": "web_search", "max_uses": MAX_SEARCHES}
        )
    if tools:
        body["tools"] = tools
    return with_extra(body, options, THINKING_KEYS)


def max_tokens(request: ModelRequest, options: RequestOptions) -> int:
    """The cap that is sent: the user's, else the request's, else the default."""
    own = options.extra.get("max_tokens")
    if isinstance(own, int) and not isinstance(own, bool):
        return own
    return request.max_output_tokens or DEFAULT_MAX_TOKENS


def asks_for_summaries(options: RequestOptions) -> bool:
    """Whether the thinking is asked for, and as the server's summary of it."""
    return _asks_to_think(options) and not _WANTS_BUDGET.search(options.model)


def _asks_to_think(options: RequestOptions) -> bool:
    return options.reasons and options.thinking not in ("", "off")


def _thinking(request: ModelRequest, options: RequestOptions) -> Mapping[str, Any]:
    effort = options.thinking
    if not _asks_to_think(options):
        return {}
    if asks_for_summaries(options):
        thinking = {"type": "adaptive", "display": "summarized"}
        return {"thinking": thinking, "output_config": {"effort": effort}}
    budget = min(BUDGETS.get(effort, BUDGETS["high"]), max_tokens(request, options) // 2)
    if budget < _LEAST_BUDGET or _has_lost_thinking(request):
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def _has_lost_thinking(request: ModelRequest) -> bool:
    """With a budget, calls whose thinking cannot be sent again are refused: none for this turn."""
    replies = [each for each in request.messages if isinstance(each, AssistantMessage)]
    return bool(replies) and bool(replies[-1].calls) and not replies[-1].items


def _with_mark(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Nothing is cached without a mark. The user's newest message still changes, when what it
    shows is superseded; the one before has done so already, so the mark goes there."""
    users = [message for message in messages if message["role"] == "user"]
    if len(users) > 1:
        *before, last = users[-2]["content"]
        users[-2]["content"] = [*before, _marked(last)]
    return messages


def _marked(block: Mapping[str, Any]) -> dict[str, Any]:
    return {**block, "cache_control": {"type": "ephemeral"}}


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": dict(tool.parameters),
    }
