"""A private adb server for one phone: its own port and HOME, and never a user's server or key."""

from __future__ import annotations

import asyncio
import ctypes
import importlib.util
import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from device_tools.errors import AdbUnavailable, DeviceNotReady

ANSWER_SECONDS = 5.0
"""Limit of one question to the server."""
START_SECONDS = 10.0
"""Until the new server answers."""
CONNECT_SECONDS = 10.0
"""Until the phone is in state ``device``."""
STOP_SECONDS = 2.0

_PR_SET_PDEATHSIG = 1
_POLL_SECONDS = 0.02


def find_adb() -> str:
    """``BRIDGE_ADB``, else adb on PATH, else the one adbutils brings. Raises AdbUnavailable."""
    named = os.environ.get("BRIDGE_ADB")
    if named:
        return named
    found = shutil.which("adb") or _bundled()
    if found is None:
        raise AdbUnavailable("no adb program found", advice="install adb, or set BRIDGE_ADB")
    return found


def _bundled() -> str | None:
    # found without importing adbutils, which would cost a quarter of a second
    spec = importlib.util.find_spec("adbutils")
    for folder in spec.submodule_search_locations or [] if spec else []:
        path = Path(folder) / "binaries" / ("adb.exe" if sys.platform == "win32" else "adb")
        if path.is_file():
            return str(path)
    return None


@dataclass(frozen=True)
class AdbServer:
    """A running server; ``port`` is on 127.0.0.1."""

    port: int
    process: asyncio.subprocess.Process

    async def ask(self, question: str) -> str:
        """One ``host:`` question with a sized answer. Raises AdbUnavailable, DeviceNotReady."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await _ask(self.port, question)
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            raise AdbUnavailable(f"the private adb server does not answer: {error!r}") from error

    async def connect(self, phone_port: int) -> str:
        """Connect the phone and wait for state ``device``; returns its serial."""
        serial = f"127.0.0.1:{phone_port}"
        said = await self.ask(f"host:connect:{serial}")
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                while await self._state(serial) != "device":
                    await asyncio.sleep(_POLL_SECONDS)
        except TimeoutError as error:
            raise DeviceNotReady(f"the virtual phone did not come up: adb said {said!r}") from error
        return serial

    async def stop(self) -> None:
        """End the server: TERM, then KILL."""
        if self.process.returncode is not None:
            return
        self.process.terminate()
        try:
            await asyncio.wait_for(self.process.wait(), STOP_SECONDS)
        except TimeoutError:
            self.process.kill()
            await self.process.wait()

    async def _state(self, serial: str) -> str:
        try:
            return await self.ask(f"host-serial:{serial}:get-state")
        except DeviceNotReady:
            return "missing"


async def start_server(home: Path, adb: str = "", port: int = 0) -> AdbServer:
    """Start a server that ends with this process, even after kill -9 (on Linux). ``adb`` is the
    program, default ``find_adb()``; ``port`` 0 picks a free one. Raises AdbUnavailable."""
    adb = adb or find_adb()
    port = port or _free_port()
    try:
        process = await _spawn(adb, port, home)
    except OSError as error:
        raise AdbUnavailable(
            f"cannot run {adb}: {error.strerror}", advice="set BRIDGE_ADB"
        ) from error
    server = AdbServer(port, process)
    try:
        async with asyncio.timeout(START_SECONDS):
            while not await _answers(server):
                await asyncio.sleep(_POLL_SECONDS)
    except TimeoutError as error:
        await server.stop()
        raise AdbUnavailable(f"{adb} did not start as a server", advice="run it by hand") from error
    return server


async def _spawn(adb: str, port: int, home: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        adb,
        "-P",
        str(port),
        "server",
        "nodaemon",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        env=_environment(home),
        start_new_session=True,
        preexec_fn=_die_with_parent(),
    )


async def _answers(server: AdbServer) -> bool:
    if server.process.returncode is not None:
        raise AdbUnavailable(f"the adb server ended at once (code {server.process.returncode})")
    try:
        return bool(await server.ask("host:version"))
    except AdbUnavailable:
        return False


async def _ask(port: int, question: str) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(f"{len(question):04x}{question}".encode())
        status = await reader.readexactly(4)
        size = int(await reader.readexactly(4), 16)
        text = (await reader.readexactly(size)).decode("utf-8", "replace")
    finally:
        writer.close()
    if status != b"OKAY":
        raise DeviceNotReady(text)
    return text


def _environment(home: Path) -> dict[str, str]:
    keys = home / ".android"
    keys.mkdir(parents=True, exist_ok=True)
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "ANDROID_USER_HOME": str(keys),
        "TMPDIR": str(home),
        "ADB_LIBUSB": "0",
        "ADB_USB": "0",
        "ADB_MDNS": "0",
        "ADB_MDNS_OPENSCREEN": "0",
        # phones of others listen on these ports; this server shall see its own phone only
        "ADB_LOCAL_TRANSPORT_MAX_PORT": "5553",
    }


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _die_with_parent() -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def before_exec() -> None:
        prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return before_exec
