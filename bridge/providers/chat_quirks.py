"""What single servers do otherwise on the Chat Completions wire, as flags of their profile.

All are off by default: a quirk makes a reader more lenient, so it needs to be known.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ChatQuirks:
    """``stop_with_calls``: whole calls may end with ``stop``. ``null_words``: an id or name may be
    the word "null" (Mistral). ``comments_as_data``: a proxy sends comments as data lines.

    ``id_pattern``: call ids must match it whole ("" = any); others are replaced in requests.
    ``echo``: fields of an assistant message that must go back within the run, of
    ``reasoning_content`` (DeepSeek: on every reply with calls, even empty), ``reasoning_details``
    (OpenRouter) and ``extra_content`` (Gemini's thought signatures).
    """

    stop_with_calls: bool = False
    null_words: bool = False
    comments_as_data: bool = False
    id_pattern: str = ""
    echo: tuple[str, ...] = ()


STRICT = ChatQuirks()
