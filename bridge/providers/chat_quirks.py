"""What single servers do otherwise on the Chat Completions wire, as flags of their profile.

All are off by default: a flag makes the reader more lenient or the request longer, so it needs a
server that is known to need it.
"""

from __future__ import annotations

from dataclasses import dataclass

REASONING_CONTENT = "reasoning_content"
REASONING_DETAILS = "reasoning_details"
EXTRA_CONTENT = "extra_content"


@dataclass(frozen=True)
class ChatQuirks:
    """``stop_with_calls``: whole calls may end with ``stop``; the user asked to let that count.
    ``null_words``: an id or name may be the word "null" (Mistral). ``comments_as_data``: a proxy
    sends comments as data lines.

    ``id_length``: a call id must be that many letters and digits (Mistral: 9), else it is
    replaced in requests; 0 = any id. ``echo_fields``: what must go back within the run:
    REASONING_CONTENT (DeepSeek: with every reply that has calls, even empty), REASONING_DETAILS
    (OpenRouter), EXTRA_CONTENT (Gemini: signatures at calls).
    """

    stop_with_calls: bool = False
    null_words: bool = False
    comments_as_data: bool = False
    id_length: int = 0
    echo_fields: tuple[str, ...] = ()


STRICT = ChatQuirks()
