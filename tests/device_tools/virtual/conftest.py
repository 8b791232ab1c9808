"""A daemon with a small framework of its own, behind a real private adb server."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from device_tools.virtual.adb_server import start_server
from device_tools.virtual.daemon import start_daemon
from device_tools.virtual.files import make_tree
from device_tools.virtual.ports import CommandResult, Files

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


@pytest.fixture(scope="session", params=_adb_programs(), ids=lambda path: Path(path).parent.name)
def attached(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Attached]:
    """Once with the adb that adbutils brings, once with the system's."""
    folder = tmp_path_factory.mktemp("daemon")
    ready: list[Attached] = []
    started = threading.Event()
    stop = asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        daemon = await start_daemon(SmallFramework(), pong, make_tree(folder / "files"))
        server = await start_server(folder / "adb", request.param)
        serial = await server.connect(daemon.port)
        ready.append(Attached(request.param, serial, server.port, daemon.port))
        started.set()
        await stop.wait()
        await server.stop()
        await daemon.stop()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    assert started.wait(20)
    yield ready[0]
    loop.call_soon_threadsafe(stop.set)
    thread.join(20)
    loop.close()
