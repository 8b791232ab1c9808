"""The virtual phone as the adb daemon sees it: its commands, its UI server, its final state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_tools.virtual.framework.commands import PhoneFramework
from device_tools.virtual.ports import Framework, PortHandler
from device_tools.virtual.state import PhoneState
from device_tools.virtual.ui.http_server import HttpServer
from device_tools.virtual.ui.rpc import RpcServer
from device_tools.virtual.ui.screen import TouchScreen
from device_tools.virtual.ui.service_times import INSTANT, REALISTIC, BusyTime

if TYPE_CHECKING:
    from PIL import Image


class Phone:
    """One phone. All parts share one state and run on one event loop.

    ``service_times=True`` makes touches, dumps and screenshots as slow as on a real phone.
    """

    def __init__(self, *, service_times: bool = False, serial: str = "") -> None:
        self.model = PhoneState()
        if serial:
            self.model.properties["ro.serialno"] = serial
        self.screen = TouchScreen(self.model)
        rpc = RpcServer(self.screen, REALISTIC if service_times else INSTANT)
        self._busy = BusyTime()
        self.framework: Framework = PhoneFramework(self.screen, self._busy)
        self.ui_port_handler: PortHandler = HttpServer(rpc, self.screen, self._busy).handle

    def state(self) -> dict[str, Any]:
        """Everything a test or a user may check, JSON-able; see ``PhoneState.as_dict``.

        ``service_seconds``: how long the UI server or a command was at work.
        """
        return {**self.model.as_dict(), "service_seconds": self._busy.seconds}

    def screenshot(self) -> Image.Image:
        """What is on the screen now."""
        return self.screen.picture()
