"""Messages between the daemon and the phone's pid 1: one JSON object per packet, with descriptors.

The socket is SOCK_SEQPACKET, so a packet is whole or not there. Text that came as bytes travels as
UTF-8 with surrogate escapes, so any byte but NUL passes in a command.
"""

from __future__ import annotations

import array
import json
import os
import socket
from collections.abc import Sequence
from typing import Any

MAX_PACKET = 400_000
MAX_DESCRIPTORS = 3

Message = dict[str, Any]


def pair() -> tuple[socket.socket, socket.socket]:
    """A socket pair whose both ends can send ``MAX_PACKET`` bytes at once."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in ends:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MAX_PACKET)
    return ends


def send(sock: socket.socket, message: Message, descriptors: Sequence[int] = ()) -> None:
    """Raises OSError, BlockingIOError among them."""
    data = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogateescape")
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
    sock.sendmsg([data], rights if descriptors else [], socket.MSG_NOSIGNAL)


def receive(sock: socket.socket) -> tuple[Message | None, list[int]]:
    """The next message and its descriptors (close-on-exec); None at the end."""
    data, descriptors, _, _ = socket.recv_fds(sock, MAX_PACKET, MAX_DESCRIPTORS)
    for descriptor in descriptors:
        # recv_fds ignores its flags (MSG_CMSG_CLOEXEC) in Python 3.11
        os.set_inheritable(descriptor, False)
    if not data:
        return None, list(descriptors)
    message: Message = json.loads(data.decode("utf-8", "surrogateescape"))
    return message, list(descriptors)
