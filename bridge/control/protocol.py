"""What goes over a run's control socket, and where the socket is.

One JSON object per line, a reply for each order, in order (docs/control.md). The socket lies in a
folder that only its user can enter; the address of a Unix socket holds about 100 bytes, so below a
long home folder stands a link to a short place instead.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bridge.errors import ControlError

VERSION = 1
FOLDER = "control"
MAX_LINE = 64 * 1024
"""Bytes of an order or a reply."""
REPLY_SECONDS = 10.0
"""For one order and its reply; the run writes its record before it replies."""
MAX_ADDRESS = 100
"""Bytes; Linux takes 107, macOS 103."""


def place_of(home: Path, run: str) -> Path:
    """Where the socket of ``run`` is, or the link to it."""
    return home / FOLDER / run


def address_of(home: Path, run: str) -> str:
    """What a client connects to."""
    place = place_of(home, run)
    return os.readlink(place) if place.is_symlink() else str(place)


def to_line(message: Mapping[str, Any]) -> bytes:
    """One line with its version."""
    return json.dumps({"v": VERSION, **message}, ensure_ascii=False).encode() + b"\n"


def from_line(line: bytes) -> dict[str, Any]:
    """The object of a line; ControlError when it is none of this version."""
    try:
        message = json.loads(line)
    except ValueError:
        message = None
    if not isinstance(message, dict) or message.get("v") != VERSION:
        raise ControlError(
            "the control socket spoke something else",
            advice="use the same version of bridge on both sides",
        )
    return message


def read_line(connection: socket.socket, rest: bytearray) -> bytes | None:
    """The next line without its end, None at the end of the stream; ``rest`` keeps what follows.

    Raises:
        ControlError: the line is too long.
        OSError: the connection broke or its time ran out.
    """
    while (end := rest.find(b"\n")) < 0:
        if len(rest) > MAX_LINE:
            raise ControlError(f"a line has at most {MAX_LINE} bytes")
        data = connection.recv(8192)
        if not data:
            return None
        rest += data
    line = bytes(rest[:end])
    del rest[: end + 1]
    return line
