"""The whole table: at least one row or pointer for each of the deviations 1 to 46."""

from __future__ import annotations

from tests.bridge.providers.deviations import anthropic_rows, chat_rows, responses_rows
from tests.bridge.providers.deviations.row import Elsewhere

ROWS = (*chat_rows.ROWS, *responses_rows.ROWS, *anthropic_rows.ROWS)

ELSEWHERE = (
    Elsewhere(
        20,
        "ids that repeat from turn to turn",
        "tests/bridge/agent/test_modes.py",
        "test_ids_that_a_model_repeats_in_each_turn_are_renamed",
    ),
    Elsewhere(
        26,
        "finish reason tool_calls without any call",
        "tests/bridge/agent/test_modes.py",
        "test_tool_calls_without_a_call_are_asked_again",
    ),
)
