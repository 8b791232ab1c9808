"""Fixtures for every test that needs a phone: a virtual one, with its own real adb server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from device_tools.virtual import launcher
from device_tools.virtual.launcher import VirtualPhone

# the normal run is the same everywhere; ``--hypothesis-profile random`` looks for more
settings.register_profile("random", settings.get_profile("default"))
settings.register_profile("seeded", derandomize=True, deadline=None)
settings.load_profile("seeded")


@pytest.fixture
def virtual_phone(tmp_path: Path) -> Iterator[VirtualPhone]:
    """A fresh phone for one test; ``.handle`` has serial and adb_port, ``.state()`` counters."""
    with launcher.start(tmp_path / "phone", name="test") as phone:
        yield phone


@pytest.fixture(scope="session")
def shared_phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VirtualPhone]:
    """One phone for all tests of a worker that do not mind what others left on it."""
    with launcher.start(tmp_path_factory.mktemp("phone") / "shared", name="shared") as phone:
        yield phone
