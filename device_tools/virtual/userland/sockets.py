"""Sockets of the phone's network, made by pid 1 and handed to the daemon."""

from __future__ import annotations

import errno
import os
import socket

CONNECT_LIMIT = 1.0
"""Seconds; everything is on the phone's own loopback."""

_BACKLOG = 64


def connect(spec: str) -> socket.socket:
    """Connect to ``tcp:PORT``, ``localabstract:NAME`` or ``localfilesystem:PATH``."""
    family, address = _address(spec)
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.settimeout(CONNECT_LIMIT)
    try:
        sock.connect(address)
    except OSError:
        sock.close()
        raise
    return sock


def listen(spec: str) -> socket.socket:
    """Listen on ``tcp:PORT`` (127.0.0.1; 0 = any free port) or ``localabstract:NAME``."""
    family, address = _address(spec)
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        if family == socket.AF_INET:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(_BACKLOG)
    except OSError:
        sock.close()
        raise
    return sock


def loopback_up() -> None:
    """Set IFF_UP on ``lo`` (struct ifreq of netdevice(7))."""
    import fcntl
    import struct

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16sh14x", b"lo", 1)
        fcntl.ioctl(sock, 0x8914, request)  # SIOCSIFFLAGS


def _address(spec: str) -> tuple[socket.AddressFamily, tuple[str, int] | bytes]:
    kind, _, name = spec.partition(":")
    if kind == "tcp" and name.isdecimal() and int(name) < 65536:
        return socket.AF_INET, ("127.0.0.1", int(name))
    if kind == "localabstract" and name:
        return socket.AF_UNIX, b"\0" + os.fsencode(name)
    if kind == "localfilesystem" and name.startswith("/"):
        return socket.AF_UNIX, os.fsencode(name)
    raise OSError(errno.EINVAL, f"no socket of the phone: {spec}")
