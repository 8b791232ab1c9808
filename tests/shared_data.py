"""The one place that knows where the optional test material lies; tests skip where it is absent."""

from __future__ import annotations

from pathlib import Path

import pytest

_FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"


def shared_data(name: str) -> Path:
    """The path of one file or folder of the material, or a skip with the reason."""
    path = _FOLDER / name
    if not path.exists():
        pytest.skip(f"test material {name} is not on this machine")
    return path
