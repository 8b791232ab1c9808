"""The shared phone as the terminals see it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from alpine.supervisor import ShellProcessSupervisor
from device_tools.adb import AdbPhone
from device_tools.adb_server import AdbAddress
from device_tools.cancel import CancelScope
from device_tools.virtual.launcher import VirtualPhone
from device_tools.virtual.userland import phone_userland

_REASON = phone_userland.available()


@pytest.fixture
def phone(shared_phone: VirtualPhone) -> AdbPhone:
    if _REASON:
        pytest.skip(_REASON)
    handle = shared_phone.handle
    return AdbPhone(handle.serial, AdbAddress("127.0.0.1", handle.adb_port), CancelScope())


@pytest.fixture
def supervisor(phone: AdbPhone) -> Iterator[ShellProcessSupervisor]:
    supervisor = ShellProcessSupervisor(phone)
    yield supervisor
    supervisor.close()
