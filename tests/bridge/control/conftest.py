"""One home with one virtual phone for all tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from device_tools.virtual import launcher
from tests.bridge.control.going import PHONE, Home


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    folder = tmp_path_factory.mktemp("home")
    with launcher.start(folder / "virtual" / PHONE, name=PHONE):
        yield Home(folder)
