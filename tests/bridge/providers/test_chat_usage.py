"""Token counts in all the places where servers put them."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.conversation.stream import Usage
from bridge.providers.chat_usage import UsageCount

FULL = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "total_tokens": 120,
    "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 5},
    "completion_tokens_details": {"reasoning_tokens": 12},
}


def counted(*chunks: dict[str, Any]) -> list[Usage | None]:
    count = UsageCount()
    return [count.take(chunk) for chunk in chunks]


@pytest.mark.parametrize(
    ("chunk", "usage"),
    [
        ({"usage": FULL}, Usage(100, 20, 60, 5, 12)),
        ({"x_groq": {"id": "r", "usage": {"prompt_tokens": 7}}}, Usage(7)),
        ({"choices": [{"usage": {"completion_tokens": 3, "cached_tokens": 2}}]},
         Usage(None, 3, 2)),
        ({"usage": {"prompt_tokens": 9, "prompt_cache_hit_tokens": 4}}, Usage(9, None, 4)),
        ({"timings": {"prompt_n": 4, "cache_n": 5, "predicted_n": 6}}, Usage(9, 6, 5)),
        ({"timings": {"prompt_n": 4}, "usage": {"prompt_tokens": 9}}, Usage(9)),
        ({"usage": None}, None),
        ({"usage": {}}, None),
        ({"usage": "many"}, None),
        ({"usage": {"prompt_tokens": "9", "completion_tokens": -1}}, Usage(9)),
        ({"usage": {"completion_tokens": 3.0, "prompt_tokens": "nine"}}, Usage(None, 3)),
        ({"usage": {"prompt_tokens": True, "prompt_tokens_details": None}}, None),
        ({"choices": [], "x_groq": None}, None),
    ],
)  # fmt: skip
def test_counts_are_read_wherever_they_are(chunk: dict[str, Any], usage: Usage | None) -> None:
    """Vendor places count like the usual one; what is no count is not one."""
    assert counted(chunk) == [usage]


def test_the_last_value_that_is_not_null_wins() -> None:
    """Cumulative usage in every chunk is replaced field by field, never added, never lost."""
    assert counted(
        {"usage": {"prompt_tokens": 9, "completion_tokens": 1}},
        {"usage": {"prompt_tokens": 9, "completion_tokens": 1}},
        {"usage": None},
        {"usage": {"completion_tokens": 2}},
        {"timings": {"prompt_n": 1, "predicted_n": 99}},
    ) == [Usage(9, 1), None, None, Usage(9, 2), None]
