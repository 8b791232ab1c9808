"""Print the tables of docs/providers.md from the code, or put them into the page.

Usage: python scripts/providers_page.py [--write]
"""

from __future__ import annotations

import re
import sys
from dataclasses import fields
from pathlib import Path

from bridge.providers.catalogue import DATED, PRICE_PAGES, facts_of, known_models
from bridge.providers.chat_quirks import STRICT, ChatQuirks
from bridge.providers.endpoint import HttpLimits
from bridge.providers.profiles import PROVIDERS, ProviderProfile

PAGE = Path(__file__).resolve().parents[1] / "docs" / "providers.md"
LIMITS = {
    "connect": "s until a connection is accepted; tried again",
    "write": "s until the server takes the request",
    "first_byte": "s until the answer begins",
    "idle": "s without any byte; a comment is a byte",
    "answer_wait": "s of waiting for one whole answer, whatever keeps coming",
    "stragglers": "s for what follows the end of an answer, such as usage",
    "attempts": "attempts at one request in all",
    "first_pause": "s before the second attempt, then doubled; `Retry-After` makes it longer",
    "longest_pause": "s; a server that asks for more is not asked again",
    "error_body": "bytes of an error that are read",
    "answer": "bytes of one answer, unpacked",
}


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def quirks(profile: ProviderProfile) -> str:
    found = [f"`{name}`" for name in profile.quirks.echo_fields]
    for item in fields(ChatQuirks):
        value = getattr(profile.quirks, item.name)
        if item.name != "echo_fields" and value != getattr(STRICT, item.name):
            found.append(f"{item.name} {value}")
    words = [f"sends back {', '.join(found)}"] if found else []
    offered = ", ".join(f"`{name}`" for name in profile.offered_quirks)
    words += [f"{offered} may be set"] if offered else []
    return "; ".join(words)


def profiles() -> str:
    rows = []
    for profile in PROVIDERS.values():
        window = f"{profile.context_window:,}" if profile.context_window else "unknown"
        area = f", {profile.image.pixels:,} pixels" if profile.image.pixels else ""
        rows.append(
            [
                f"`{profile.name}`",
                f"{profile.title}{f', `{profile.base_url}`' if profile.base_url else ''}",
                " or ".join(f"`{name}`" for name in profile.key_variables),
                profile.wire,
                profile.carrier,
                window,
                f"{profile.image.longest_side}{area}",
                quirks(profile),
            ]
        )
    head = ["name", "server", "key", "wire", "calls", "window", "pictures", "Chat Completions"]
    return table(head, rows)


def regions() -> str:
    return table(
        ["name", "further base URLs"],
        [
            [f"`{profile.name}`", ", ".join(f"`{url}`" for url in profile.regions)]
            for profile in PROVIDERS.values()
            if profile.regions
        ],
    )


def money(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def models() -> str:
    rows = []
    for provider in PRICE_PAGES:
        for model in known_models(provider):
            facts = facts_of(provider, model)
            prices = facts.prices
            assert prices is not None
            figures = (prices.input, prices.output, prices.cached, prices.cache_write)
            window = f"{facts.context_window:,}"
            reasons = "yes" if facts.reasons else ""
            rows.append([provider, f"`{model}`", reasons, window, *map(money, figures)])
    head = ["", "model", "thinking", "window", "input", "output", "cached", "cache write"]
    pages = ", ".join(f"[{name}]({page})" for name, page in PRICE_PAGES.items())
    return f"{table(head, rows)}\n\nAs of {DATED}. Price pages: {pages}."


def limits() -> str:
    values = HttpLimits()
    return table(
        ["limit", "", ""],
        [[f"`{name}`", f"{getattr(values, name):,.10g}", text] for name, text in LIMITS.items()],
    )


SECTIONS = {"profiles": profiles, "regions": regions, "models": models, "limits": limits}


def filled(page: str) -> str:
    """``page`` with each marked section made anew."""
    for name, make in SECTIONS.items():
        [found] = re.finditer(rf"<!-- {name}: .*? -->\n(.*?)\n<!-- end -->", page, flags=re.S)
        page = page[: found.start(1)] + make() + page[found.end(1) :]
    return page


if __name__ == "__main__":
    text = filled(PAGE.read_text(encoding="utf-8"))
    if "--write" in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
