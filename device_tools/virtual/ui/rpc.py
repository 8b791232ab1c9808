"""The uiautomator2 server's JSON-RPC methods (u2.jar 0.4.1) on top of the touch screen."""

from __future__ import annotations

import asyncio
import base64
import inspect
import io
import re
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from device_tools.virtual.state import DENSITY, HEIGHT, WIDTH
from device_tools.virtual.ui import editing, keys
from device_tools.virtual.ui.objects import ObjectMethods, ObjectNotFound
from device_tools.virtual.ui.screen import TouchScreen
from device_tools.virtual.ui.service_times import ServiceTimes

if TYPE_CHECKING:
    from PIL import Image

_DOWN, _UP, _MOVE = 0, 1, 2
_STEP_MS = 5
_NOT_FOUND = "androidx.test.uiautomator.UiObjectNotFoundException"


class RpcServer:
    """Answers one decoded request at a time; several may be in progress."""

    def __init__(self, screen: TouchScreen, times: ServiceTimes) -> None:
        self._screen = screen
        self._state = screen.state
        self._times = times
        self._touch: list[tuple[float, float, float]] = []
        self._methods = {**self._device(), **ObjectMethods(screen).table()}

    async def answer(self, request: Any) -> dict[str, Any]:
        """One JSON-RPC response object for one request object."""
        if not isinstance(request, dict) or not isinstance(request.get("method"), str):
            return _error(None, -32600, "invalid request")
        number, params = request.get("id"), request.get("params") or []
        method = self._methods.get(request["method"])
        if method is None:
            return _error(number, -32601, "method not found")
        if not isinstance(params, list) or not _takes(method, params):
            return _error(number, -32602, "method parameters invalid")
        try:
            result = method(*params)
            if inspect.isawaitable(result):
                result = await result
        except ObjectNotFound as missing:
            return _error(number, -32001, _NOT_FOUND, str(missing))
        except re.error as bad:
            java = "java.util.regex.PatternSyntaxException"
            return _error(number, -32001, java, f"{java}: {bad}")
        except (TypeError, ValueError, AttributeError):
            return _error(number, -32602, "method parameters invalid")
        return {"jsonrpc": "2.0", "id": number, "result": result}

    def _device(self) -> dict[str, Callable[..., Any]]:
        state, screen = self._state, self._screen
        return {
            "ping": lambda: "pong",
            "deviceInfo": self._device_info,
            "takeScreenshot": self._take_screenshot,
            "dumpWindowHierarchy": self._dump,
            "click": self._click,
            "injectInputEvent": self._inject,
            "swipe": self._swipe,
            "drag": self._drag,
            "swipePoints": self._swipe_points,
            "pressKey": self._press_key,
            "pressKeyCode": screen.key,
            "wakeUp": lambda: setattr(state, "screen_on", True),
            "sleep": lambda: setattr(state, "screen_on", False),
            "isScreenOn": lambda: state.screen_on,
            "freezeRotation": self._freeze,
            "getClipboard": lambda: state.clipboard,
            "setClipboard": self._set_clipboard,
            "pasteClipboard": self._paste,
            "clearInputText": self._clear_input,
            "getLastToast": lambda: state.toast,
            "clearLastToast": lambda: setattr(state, "toast", None),
            "openNotification": lambda: screen.open_shade("notifications"),
            "openQuickSettings": lambda: screen.open_shade("quick_settings"),
        }

    # -- looking ----------------------------------------------------------------------------

    def _device_info(self) -> dict[str, Any]:
        props = self._state.properties
        return {
            "currentPackageName": self._screen.focused_window().package,
            "displayHeight": HEIGHT,
            "displayWidth": WIDTH,
            "displayRotation": self._state.rotation,
            "displaySizeDpX": WIDTH * 160 // DENSITY,
            "displaySizeDpY": HEIGHT * 160 // DENSITY,
            "naturalOrientation": self._state.rotation == 0,
            "productName": props["ro.product.name"],
            "screenOn": self._state.screen_on,
            "sdkInt": int(props["ro.build.version.sdk"]),
        }

    async def _take_screenshot(self, scale: float = 1, quality: int = 80) -> str | None:
        await asyncio.sleep(self._times.screenshot)
        if any(window.secure for window in self._screen.windows()):
            return None
        data = await asyncio.to_thread(_jpeg, self._screen.picture_job(), scale, quality)
        return base64.b64encode(data).decode()

    async def _dump(
        self, _compressed: bool = False, max_depth: int = 50, _active_only: bool = False
    ) -> str:
        await asyncio.sleep(self._times.dump)
        return self._screen.xml(max_depth)

    # -- touching ---------------------------------------------------------------------------

    async def _click(self, x: float, y: float, ms: float = 100) -> bool:
        await asyncio.sleep(self._times.click * ms / 100)
        return self._screen.long_click(x, y) if ms >= 500 else self._screen.click(x, y)

    def _inject(self, action: int, x: float, y: float, _meta: int = 0) -> bool:
        now = asyncio.get_running_loop().time()
        if action == _DOWN:
            self._touch = [(x, y, now)]
        elif action == _MOVE:
            self._touch.append((x, y, now))
        elif action == _UP and self._touch:
            x1, y1, since = self._touch[0]
            self._touch = []
            return self._screen.swipe(x1, y1, x, y, name="touch", ms=(now - since) * 1000)
        return True

    async def _swipe(self, x1: float, y1: float, x2: float, y2: float, steps: int) -> bool:
        await asyncio.sleep(self._times.swipe_step * steps)
        return self._screen.swipe(x1, y1, x2, y2, ms=steps * _STEP_MS)

    async def _drag(self, x1: float, y1: float, x2: float, y2: float, steps: int) -> bool:
        await asyncio.sleep(self._times.swipe_step * steps)
        return self._screen.swipe(x1, y1, x2, y2, name="drag", ms=steps * _STEP_MS)

    async def _swipe_points(self, flat: list[float], steps: int) -> bool:
        points = list(zip(flat[::2], flat[1::2], strict=True))
        await asyncio.sleep(self._times.swipe_step * steps * max(0, len(points) - 1))
        moves = [self._screen.swipe(*a, *b) for a, b in pairwise(points)]
        return bool(moves) and all(moves)

    # -- keys and text ----------------------------------------------------------------------

    def _press_key(self, name: str) -> bool:
        self._state.counters["key"] += 1
        if name == "enter":
            self._screen.enter()
            return True
        return keys.press_key(self._state, name)

    def _freeze(self, frozen: bool) -> None:
        self._state.set_flag("accelerometer_rotation", not frozen, "system")

    def _set_clipboard(self, _label: str | None, text: str) -> None:
        self._state.clipboard = text

    def _paste(self) -> None:
        self._screen.text(self._state.clipboard or "")

    def _clear_input(self) -> None:
        editing.select_all(self._state)
        editing.backspace(self._state)


def _takes(method: Callable[..., Any], params: list[Any]) -> bool:
    try:
        inspect.signature(method).bind(*params)
    except TypeError:
        return False
    return True


def _error(number: Any, code: int, message: str, data: str | None = None) -> dict[str, Any]:
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": number, "error": error}


def _jpeg(job: Callable[[], Image.Image], scale: float, quality: int) -> bytes:
    image = job()
    if scale != 1:
        image = image.resize((round(image.width * scale), round(image.height * scale)))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=quality)
    return out.getvalue()
