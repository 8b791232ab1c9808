"""How a shell's bytes travel on a stream: as they are (v1, exec) or in packets (shell v2).

A v2 packet is one byte id, a little-endian u32 length, the data (AOSP adb, shell_protocol.h).
"""

from __future__ import annotations

import re
import struct
from collections.abc import AsyncIterator
from dataclasses import dataclass

from device_tools.virtual.ports import WindowSize
from device_tools.virtual.transport import Stream

STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN, WINSIZE = range(6)

_HEAD = struct.Struct("<BI")
_WINSIZE = re.compile(rb"(\d+)x(\d+),(\d+)x(\d+)")


@dataclass(frozen=True)
class ShellRequest:
    """What ``shell[,v2][,TERM=x][,raw|pty]:CMD`` or ``exec:CMD`` asks for."""

    command: str | None
    v2: bool = False
    pty: bool = False
    raw_pty: bool = False
    merge_stderr: bool = True
    exec: bool = False
    term: str = "dumb"


def parse_request(service: str) -> ShellRequest | None:
    """From the service name; None when it is no shell service."""
    head, colon, command = service.partition(":")
    kind, *options = head.split(",")
    if not colon or kind not in ("shell", "exec"):
        return None
    if kind == "exec":
        return ShellRequest(command or None, exec=True)
    term = next((o[5:] for o in options if o.startswith("TERM=")), "dumb")
    if "v2" not in options:
        return ShellRequest(command or None, pty=True, raw_pty=bool(command), term=term)
    pty = "pty" in options or not (command or "raw" in options)
    return ShellRequest(command or None, v2=True, pty=pty, merge_stderr=pty, term=term)


async def send_output(stream: Stream, request: ShellRequest, ident: int, data: bytes) -> None:
    """``ident`` is STDOUT or STDERR; without packets both are the same bytes."""
    await stream.send(_HEAD.pack(ident, len(data)) + data if request.v2 else data)


async def send_exit(stream: Stream, request: ShellRequest, code: int) -> None:
    """The exit packet, and wait until the host has it; v1 has none."""
    if request.v2:
        await stream.send(_HEAD.pack(EXIT, 1) + bytes([code & 255]))
    await stream.drain()


async def host_input(stream: Stream, request: ShellRequest) -> AsyncIterator[tuple[int, bytes]]:
    """(id, data) as the host sends them, until it closes the stream."""
    buffer = bytearray()
    while data := await stream.recv():
        if not request.v2:
            yield STDIN, data
            continue
        buffer += data
        while len(buffer) >= _HEAD.size:
            ident, size = _HEAD.unpack_from(buffer)
            if len(buffer) < _HEAD.size + size:
                break
            body = bytes(buffer[_HEAD.size : _HEAD.size + size])
            del buffer[: _HEAD.size + size]
            yield ident, body


def parse_window_size(data: bytes) -> WindowSize | None:
    """``ROWSxCOLS,XxY``; None when it is something else."""
    match = _WINSIZE.match(data)
    return WindowSize(*(min(int(number), 0xFFFF) for number in match.groups())) if match else None
