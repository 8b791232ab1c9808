"""Sources of a text as Markdown links: behind what they prove, else in a list at the end.

Each address is linked once. Addresses and titles come from a server: they are data, and nothing
but an http(s) address ever becomes a link.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from bridge.conversation.stream import Citation

SOURCES = "Sources:"
_WEB = re.compile(r"https?://[^\s/?#]", re.IGNORECASE)
_UNSAFE = re.compile(r"[\s()<>\[\]\\\x00-\x1f\x7f]")
_JOINER = "\u200d"


def with_links(text: str, citations: Sequence[Citation], *, placed: bool = True) -> str:
    """``text`` with a link behind each cited place.

    A citation without a place inside ``text`` (or ``placed`` False: the offsets count another
    text) goes into a list at the end. An address that the text itself links stays as it is.
    """
    links: dict[str, str] = {}
    places: dict[str, int] = {}
    for citation in citations:
        address = _address(citation.url)
        if not address or citation.url in text or address in text:
            continue
        links.setdefault(address, f"[{_title(citation)}]({address})")
        end = _place(text, citation) if placed else None
        if end is not None:
            places[address] = min(end, places.get(address, end))
    return _with_list(_inserted(text, links, places), [links[a] for a in links if a not in places])


def _inserted(text: str, links: dict[str, str], places: dict[str, int]) -> str:
    # from the back, so that the places before stay right; the order at one place is kept
    for address, end in sorted(reversed(places.items()), key=lambda item: -item[1]):
        text = f"{text[:end]} ({links[address]}){text[end:]}"
    return text


def _with_list(text: str, links: Sequence[str]) -> str:
    if not links:
        return text
    items = "\n".join(f"- {link}" for link in links)
    return f"{text.rstrip()}\n\n{SOURCES}\n{items}" if text.strip() else f"{SOURCES}\n{items}"


def _place(text: str, citation: Citation) -> int | None:
    """Where the link goes: behind the cited characters, never inside what is drawn as one."""
    start, end = citation.start, citation.end
    if start is None or end is None or not 0 <= start < end <= len(text):
        return None
    while end < len(text) and (_joins(text[end]) or text[end - 1] == _JOINER):
        end += 1
    return end


def _joins(character: str) -> bool:
    """Accents, variation selectors, joiners, skin tones."""
    return (
        character == _JOINER
        or unicodedata.category(character) in ("Mn", "Me", "Mc")
        or "\U0001f3fb" <= character <= "\U0001f3ff"
    )


def _address(url: str) -> str:
    """The address fit for a Markdown link; "" when it is none of the web."""
    url = url.strip()
    if not _WEB.match(url):
        return ""
    return _UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", url)


def _title(citation: Citation) -> str:
    title = " ".join(citation.title.split()) or citation.url.split("/")[2]
    return re.sub(r"([\\\[\]])", r"\\\1", title)
