"""A daemon with a small framework of its own, behind a real private adb server."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import queue
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from device_tools.errors import BridgeError
from device_tools.virtual.adb_server import start_server
from device_tools.virtual.daemon import start_daemon
from device_tools.virtual.files import make_tree
from device_tools.virtual.ports import CommandResult, Files
from device_tools.virtual.userland import phone_userland

PICTURE = b"\x89PNG\r\n" + bytes(range(256)) * 8000


class SmallFramework:
    """Four commands, enough to see every path of the shell services."""

    def knows(self, argv: Sequence[str]) -> bool:
        return argv[0] in ("wm", "screencap", "uiautomator", "cmd")

    async def run(self, argv: Sequence[str], stdin: bytes, files: Files) -> CommandResult:
        if argv[0] == "screencap":
            return CommandResult(PICTURE)
        if argv[0] == "uiautomator":
            files.write(argv[2].encode(), b"<?xml version='1.0'?><hierarchy rotation=\"0\"/>")
            return CommandResult(b"UI hierchary dumped to: " + argv[2].encode() + b"\n")
        if argv[0] == "cmd":
            return CommandResult(b"%d bytes\n" % len(stdin), b"a warning\n", 3)
        return CommandResult(b"Physical size: 1080x2400\n")


async def pong(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK \r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\npong")
    await writer.drain()


@dataclass(frozen=True)
class Attached:
    """A phone's daemon attached to an adb server, and the program to talk to it."""

    adb: str
    serial: str
    adb_port: int
    phone_port: int

    def run(self, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        argv = [self.adb, "-P", str(self.adb_port), "-s", self.serial, *words]
        return subprocess.run(argv, input=stdin, capture_output=True, timeout=30)


def _adb_programs() -> list[str]:
    spec = importlib.util.find_spec("adbutils")
    folders = list(spec.submodule_search_locations or []) if spec else []
    bundled = [os.path.join(folder, "binaries", "adb") for folder in folders]
    return [path for path in [*bundled, shutil.which("adb") or ""] if os.path.isfile(path)]


@contextlib.contextmanager
def _serving(folder: Path, adb: str, *, with_userland: bool) -> Iterator[Attached]:
    """The daemon's loop in a thread of its own, attached to a server of ``adb``."""
    ready: queue.Queue[Attached | BaseException] = queue.Queue()
    stop = asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with contextlib.AsyncExitStack() as stack:
            userland = await phone_userland.start() if with_userland else None
            if userland:
                stack.push_async_callback(userland.close)
            directory = make_tree(folder / "files")
            daemon = await start_daemon(SmallFramework(), pong, directory, userland)
            stack.push_async_callback(daemon.stop)
            server = await start_server(folder / "adb", adb)
            stack.push_async_callback(server.stop)
            serial = await server.connect(daemon.port)
            ready.put(Attached(adb, serial, server.port, daemon.port))
            await stop.wait()

    def work() -> None:
        try:
            loop.run_until_complete(serve())
        except BridgeError as error:
            ready.put(error)

    thread = threading.Thread(target=work)
    thread.start()
    attached = ready.get(timeout=30)
    try:
        if not isinstance(attached, Attached):
            raise attached
        yield attached
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)
        loop.close()


@pytest.fixture(scope="session", params=_adb_programs(), ids=lambda path: Path(path).parent.name)
def attached(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Attached]:
    """Without a userland; once with the adb that adbutils brings, once with the system's."""
    with _serving(tmp_path_factory.mktemp("d"), request.param, with_userland=False) as attached:
        yield attached


@pytest.fixture(scope="session", params=_adb_programs(), ids=lambda path: Path(path).parent.name)
def with_shell(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Attached]:
    """With a real shell in namespaces; skips where there are none."""
    if reason := phone_userland.available():
        pytest.skip(reason)
    with _serving(tmp_path_factory.mktemp("s"), request.param, with_userland=True) as attached:
        yield attached
