"""The adb transport packet: six little-endian words, then the payload (AOSP adb, protocol.txt)."""

from __future__ import annotations

import asyncio
import struct
from dataclasses import dataclass

CNXN = 0x4E584E43
OPEN = 0x4E45504F
OKAY = 0x59414B4F
CLSE = 0x45534C43
WRTE = 0x45545257

VERSION = 0x01000001
MAX_PAYLOAD = 1024 * 1024

_HEADER = struct.Struct("<6I")
_WORD = 0xFFFFFFFF


class BadPacket(Exception):
    """The peer does not speak adb: wrong magic or a payload above ``MAX_PAYLOAD``."""


@dataclass(frozen=True)
class Packet:
    command: int
    arg0: int
    arg1: int
    payload: bytes = b""


def pack(packet: Packet) -> bytes:
    """Header and payload in one piece; the checksum is 0, as since version 0x01000001."""
    magic = packet.command ^ _WORD
    size = len(packet.payload)
    return _HEADER.pack(packet.command, packet.arg0, packet.arg1, size, 0, magic) + packet.payload


async def read_packet(reader: asyncio.StreamReader) -> Packet | None:
    """The next packet, None when the peer closed between or inside packets. Raises BadPacket."""
    try:
        command, arg0, arg1, size, _, magic = _HEADER.unpack(await reader.readexactly(_HEADER.size))
        if magic != command ^ _WORD or size > MAX_PAYLOAD:
            raise BadPacket(f"magic {magic:08x}, payload of {size} bytes")
        return Packet(command, arg0, arg1, await reader.readexactly(size))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
