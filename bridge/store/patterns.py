"""Every secret that a text shows by its form or by the words around it.

Three families: keys and tokens by their form, passwords by the name they are given to, one-time
codes by the words that announce them. Pure functions; their time grows in step with the text,
whatever it says.
"""

from __future__ import annotations

from bridge.store.code_patterns import find_codes
from bridge.store.password_patterns import find_passwords
from bridge.store.spans import Secret, apart
from bridge.store.token_patterns import find_tokens

__all__ = ["Secret", "find_secrets"]


def find_secrets(text: str) -> list[Secret]:
    """Every secret span of ``text``, in order, never overlapping."""
    lower = text.lower()
    return apart(
        [*find_tokens(text, lower), *find_passwords(text, lower), *find_codes(text, lower)]
    )
