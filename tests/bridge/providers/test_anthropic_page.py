"""The page about the Anthropic wire says what the code does."""

from __future__ import annotations

from pathlib import Path

from bridge.conversation.stream import FinishReason
from bridge.providers.anthropic_answer import REASONS
from bridge.providers.anthropic_request import BUDGETS, DEFAULT_MAX_TOKENS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "wire-anthropic.md"


def test_every_stop_reason_is_on_the_page_with_its_meaning() -> None:
    """The table of the page and the one of the code hold the same words."""
    rows = [line.split("|") for line in PAGE.read_text("utf-8").splitlines() if line[:3] == "| `"]
    told = {
        word.strip(" `"): meaning
        for _, words, meaning, _ in rows
        for word in words.split(",")
        if any(f"`{reason.value}`" in meaning for reason in FinishReason)
    }
    assert told.keys() == REASONS.keys()
    for word, reason in REASONS.items():
        assert f"`{reason.value}`" in told[word]


def test_the_numbers_on_the_page_are_those_of_the_code() -> None:
    """The default cap and the budgets."""
    page = " ".join(PAGE.read_text("utf-8").split())
    assert f"{DEFAULT_MAX_TOKENS} where there is neither" in page
    assert "(" + ", ".join(f"{effort} {budget}" for effort, budget in BUDGETS.items()) in page
