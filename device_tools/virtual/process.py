"""The phone's process: model, adb daemon, userland, private adb server and control port.

It runs until its owner's pipe ends, SIGTERM, or a stop request; then it writes ``state.json`` and
``screen.png`` into its folder and takes everything down. One JSON line on stdout tells the start.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from device_tools.errors import BridgeError, DeviceError, VirtualPhoneError
from device_tools.virtual.adb_server import AdbServer, start_server
from device_tools.virtual.control import serve_control
from device_tools.virtual.daemon import start_daemon
from device_tools.virtual.files import make_tree
from device_tools.virtual.phone import Phone

STOP_SECONDS = 5.0
"""For an orderly end; what is left then dies with this process."""

RESTART_SECONDS = 0.05
"""Pause before a killed adb server is started again; short, as clients start one of their own."""


@dataclass(frozen=True)
class Options:
    """``owned``: end when stdin ends. ``root``: a name of ``userland.roots.PROFILES``."""

    folder: Path
    name: str
    owned: bool
    root: str = "none"


def run(options: Options, phone: Phone | None = None) -> int:
    """Run ``phone``, a new one by default, to its end; returns the exit code."""
    try:
        asyncio.run(_Process(options, phone or Phone()).run())
    except BridgeError as error:
        _report({"error": error.message, "advice": error.advice})
        return error.exit_code
    return 0


class _Process:
    def __init__(self, options: Options, phone: Phone) -> None:
        self._options = options
        self._phone = phone
        self._ended = asyncio.Event()
        self._shell = ""
        self._server: AdbServer
        self._keeper: asyncio.Task[None] | None = None

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._ended.set)
        if self._options.owned:
            _watch_owner(lambda: loop.call_soon_threadsafe(self._ended.set))
        stack = AsyncExitStack()
        try:
            await self._start(stack)
            await self._ended.wait()
            self._write_final()
        finally:
            with suppress(TimeoutError):
                await asyncio.wait_for(stack.aclose(), STOP_SECONDS)

    async def _start(self, stack: AsyncExitStack) -> None:
        work = self._options.folder / "work"
        work.mkdir(mode=0o700, parents=True, exist_ok=True)
        stack.callback(shutil.rmtree, work, ignore_errors=True)
        userland = await self._start_userland(stack)
        daemon = await start_daemon(
            self._phone.framework,
            self._phone.ui_port_handler,
            make_tree(work / "files"),
            userland,
            no_shell=self._shell,
        )
        stack.push_async_callback(daemon.stop)
        if userland is not None:
            await userland.serve_commands(self._phone.framework, daemon.files)
        self._server = await start_server(work / "adb")
        stack.push_async_callback(self._stop_server)
        serial = await self._server.connect(daemon.port)
        self._keeper = asyncio.create_task(self._keep_attached(work / "adb", daemon.port))
        await self._announce(stack, serial, self._server.port)

    async def _keep_attached(self, home: Path, phone_port: int) -> None:
        """Start the server again on the same port when somebody killed it."""
        try:
            while True:
                await self._server.process.wait()
                await asyncio.sleep(RESTART_SECONDS)
                self._server = await start_server(home, port=self._server.port)
                await self._server.connect(phone_port)
        except DeviceError as error:
            sys.stderr.write(f"the adb server cannot be started again: {error.message}\n")
            self._ended.set()

    async def _stop_server(self) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait({self._keeper})
        await self._server.stop()

    async def _start_userland(self, stack: AsyncExitStack) -> Any:
        from device_tools.virtual.userland import phone_userland
        from device_tools.virtual.userland.roots import PROFILES

        try:
            userland = await phone_userland.start(self._options.root)
        except VirtualPhoneError as error:
            if self._options.root != "none":
                raise
            # the GUI works without; whoever asks for a shell is told
            self._shell = "; ".join(filter(None, (error.message, error.advice)))
            return None
        stack.push_async_callback(userland.close)
        profile = PROFILES[self._options.root]
        if profile is not None and profile.adb_root:
            # as on the emulator's images without the Play Store
            self._phone.model.properties["ro.boot.qemu"] = "1"
        return userland

    async def _announce(self, stack: AsyncExitStack, serial: str, adb_port: int) -> None:
        token = secrets.token_hex(16)
        answers = {"state": self._state, "screenshot": self._picture, "stop": self._stop}
        control = await serve_control(answers, token)
        stack.callback(control.close)
        facts = {
            "name": self._options.name,
            "serial": serial,
            "adb_port": adb_port,
            "pid": os.getpid(),
            "shell": self._shell,
        }
        secret = {"control_port": control.sockets[0].getsockname()[1], "token": token}
        path = self._options.folder / "phone.json"
        _write(path, json.dumps({**facts, **secret}).encode())
        stack.callback(path.unlink, missing_ok=True)
        _report(facts)

    def _state(self) -> bytes:
        # a client can put half a character into a field; no file can hold it
        text = json.dumps(self._phone.state(), ensure_ascii=False, indent=1)
        return text.encode("utf-8", "replace")

    def _picture(self) -> bytes:
        from io import BytesIO

        out = BytesIO()
        self._phone.screenshot().save(out, "PNG")
        return out.getvalue()

    def _stop(self) -> bytes:
        self._ended.set()
        return b""

    def _write_final(self) -> None:
        _write(self._options.folder / "state.json", self._state())
        _write(self._options.folder / "screen.png", self._picture())


def _watch_owner(ended: Callable[[], object]) -> None:
    def wait() -> None:
        while os.read(0, 4096):
            pass
        # the loop is closed when the phone ended by itself in the meantime
        with suppress(RuntimeError):
            ended()

    threading.Thread(target=wait, name="owner", daemon=True).start()


def _write(path: Path, data: bytes) -> None:
    """Replace the file in one step; readable by its owner only."""
    part = path.with_name(path.name + ".part")
    fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
    part.replace(path)


def _report(line: dict[str, Any]) -> None:
    # a launcher that is gone already is noticed by the owner's pipe
    with suppress(OSError):
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
