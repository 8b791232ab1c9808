"""Token counts of a Chat Completions answer, from wherever servers put them.

The usual place is ``usage`` of a chunk without choices; some repeat it in every chunk, Groq writes
``x_groq.usage``, Moonshot ``choices[].usage``, llama.cpp adds ``timings``. What is not null counts,
the last value wins, and nothing is required.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from bridge.conversation.stream import Usage
from bridge.providers.wire_json import token_count

_NOTHING = Usage()


class UsageCount:
    """Gathers the counts over the chunks of one answer."""

    def __init__(self) -> None:
        self._usage = _NOTHING
        self._official = False

    def take(self, chunk: Mapping[str, Any]) -> Usage | None:
        """All counts so far when the chunk changed one of them, else None."""
        places, timings = _places(chunk), chunk.get("timings")
        if not places and not timings:
            return None
        before = self._usage
        for place in places:
            self._official = True
            self._usage = _merged(self._usage, _usage(place))
        if isinstance(timings, dict) and not self._official:
            self._usage = _merged(self._usage, _timings(timings))
        return self._usage if self._usage != before else None


def _places(chunk: Mapping[str, Any]) -> list[dict[str, Any]]:
    groq, choices = chunk.get("x_groq"), chunk.get("choices")
    found = [chunk.get("usage"), groq.get("usage") if isinstance(groq, dict) else None]
    if isinstance(choices, list):
        found += [choice.get("usage") for choice in choices if isinstance(choice, dict)]
    return [place for place in found if isinstance(place, dict)]


def _usage(value: Mapping[str, Any]) -> Usage:
    read, written = value.get("prompt_tokens_details"), value.get("completion_tokens_details")
    cached = token_count(_inside(read, "cached_tokens"))
    if cached is None:
        # DeepSeek, then Moonshot
        cached = _first(value, "prompt_cache_hit_tokens", "cached_tokens")
    return Usage(
        token_count(value.get("prompt_tokens")),
        token_count(value.get("completion_tokens")),
        cached,
        token_count(_inside(read, "cache_write_tokens")),
        token_count(_inside(written, "reasoning_tokens")),
    )


def _timings(value: Mapping[str, Any]) -> Usage:
    """llama.cpp counts the cached part of the prompt apart from the part it worked on."""
    worked, cached = token_count(value.get("prompt_n")), token_count(value.get("cache_n"))
    total = None if worked is None else worked + (cached or 0)
    return Usage(total, token_count(value.get("predicted_n")), cached)


def _merged(old: Usage, new: Usage) -> Usage:
    known = {each.name: getattr(new, each.name) for each in fields(new)}
    return replace(old, **{name: count for name, count in known.items() if count is not None})


def _first(value: Mapping[str, Any], *names: str) -> int | None:
    counts = (token_count(value.get(name)) for name in names)
    return next((count for count in counts if count is not None), None)


def _inside(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None
