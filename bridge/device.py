"""Which phone a command means: an attached one, a running virtual one, or one made for it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from device_tools.adb_server import AdbAddress, choose_serial, list_devices
from device_tools.cancel import CancelScope
from device_tools.errors import DeviceNotFound

if TYPE_CHECKING:
    from device_tools.virtual.launcher import VirtualHandle

EXCHANGE = "files"
"""Below the home folder: the only files of this computer that tools copy from and to."""
VIRTUAL = "virtual"
ROOT_VARIABLE = "BRIDGE_VIRTUAL_ROOT"
"""How the phone of ``--device virtual`` is rooted; unset or empty: not at all."""


@dataclass(frozen=True)
class Target:
    """A phone that is ready: its serial, the adb server that knows it, where it came from."""

    serial: str
    address: AdbAddress
    virtual: bool = False


@contextmanager
def open_target(
    device: str | None, home: Path, cancel: CancelScope, folder: Path | None = None
) -> Iterator[Target]:
    """Find the phone, or start a virtual one that ends with the body (and with this process).

    ``folder`` receives the final state and picture of a phone started here.

    Raises:
        DeviceError: no such phone, none or several, not ready, adb missing, no virtual phone.
    """
    if device == VIRTUAL:
        with _started_phone(folder, cancel) as target:
            yield target
        return
    if device is not None and (running := _running_phone(device, home)) is not None:
        yield running
        return
    from device_tools.adb import ensure_server

    address = AdbAddress.default()
    ensure_server(address, cancel)
    try:
        serial = choose_serial(device, list_devices(address, cancel), address)
    except DeviceNotFound as error:
        if not (names := _running_names(home)):
            raise
        raise DeviceNotFound(
            error.message, advice=f"virtual phones that run: {names}; use one with --device NAME"
        ) from error
    yield Target(serial, address)


@contextmanager
def _started_phone(folder: Path | None, cancel: CancelScope) -> Iterator[Target]:
    from device_tools.virtual import launcher

    with tempfile.TemporaryDirectory(prefix="bridge-virtual-") as spare:
        place = folder or Path(spare)
        root = os.environ.get(ROOT_VARIABLE) or "none"
        with launcher.start(place, name=place.name, root=root, cancel=cancel) as phone:
            yield _target(phone.handle)


def _running_names(home: Path) -> str:
    from device_tools.virtual import launcher

    return ", ".join(handle.name for handle in launcher.list_running(home))


def _running_phone(device: str, home: Path) -> Target | None:
    if not (home / VIRTUAL).is_dir():
        return None
    from device_tools.virtual import launcher

    for handle in launcher.list_running(home):
        if device in (handle.name, handle.serial):
            return _target(handle)
    return None


def _target(handle: VirtualHandle) -> Target:
    return Target(handle.serial, AdbAddress("127.0.0.1", handle.adb_port), virtual=True)
