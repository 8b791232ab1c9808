"""The whole table: one row or pointer for each of the deviations 1 to 46."""

from __future__ import annotations

from tests.bridge.providers.deviations import chat_rows

ROWS = chat_rows.ROWS
