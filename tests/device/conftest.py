"""One phone for the contract suite: the one named by BRIDGE_TEST_SERIAL, else a virtual one.

The suite itself must not know which it is: what holds on one holds on the other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from device_tools import catalog
from device_tools.adb_server import AdbAddress
from device_tools.cancel import CancelScope
from device_tools.executor import PhoneTools, open_phone_tools
from device_tools.result import ToolResult
from device_tools.schema import validate
from device_tools.virtual import launcher

SPECS = {spec.name: spec for spec in catalog.ALL_PHONE_TOOLS}
Call = Callable[..., ToolResult]


@pytest.fixture(scope="session")
def phone_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, AdbAddress]]:
    """Serial and adb server of the phone under test."""
    serial = os.environ.get("BRIDGE_TEST_SERIAL")
    if serial:
        yield serial, AdbAddress.default()
        return
    folder: Path = tmp_path_factory.mktemp("phone")
    with launcher.start(folder, name="contract") as phone:
        yield phone.handle.serial, AdbAddress("127.0.0.1", phone.handle.adb_port)


@pytest.fixture(scope="session")
def exchange(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that files are copied from and to."""
    return tmp_path_factory.mktemp("exchange")


@pytest.fixture(scope="session")
def tools(phone_address: tuple[str, AdbAddress], exchange: Path) -> Iterator[PhoneTools]:
    serial, address = phone_address
    with open_phone_tools(serial, address, CancelScope(), exchange=exchange) as tools:
        yield tools


@pytest.fixture
def call(tools: PhoneTools) -> Call:
    """Validate and execute one call as a turn of its own; starts from the home screen."""

    def run(name: str, **arguments: Any) -> ToolResult:
        tools.begin_turn()
        return tools.execute(validate(SPECS[name], "c1", arguments))

    run("observe_screen", screenshot=False)
    assert run("press_key", key="home").ok
    return run
