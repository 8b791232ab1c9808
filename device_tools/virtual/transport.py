"""One connection of an adb server: the handshake, and many streams with flow control.

Rules of the wire: one unacknowledged WRTE per stream and direction; the OKAY for received data is
sent when a service takes it, so that a slow service stops the host; CLSE never overtakes data.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress

from device_tools.virtual.adb_wire import (
    CLSE,
    CNXN,
    MAX_PAYLOAD,
    OKAY,
    OPEN,
    VERSION,
    WRTE,
    BadPacket,
    Packet,
    pack,
    read_packet,
)

SERVICE_END_SECONDS = 8.0
"""How long services may tidy up after the connection was lost, before they are cancelled."""

_OLD_PAYLOAD = 4096


class StreamClosed(ConnectionError):
    """The stream ended while something was to be sent on it."""


class Stream:
    """One end of an adb stream. ``closed`` is set when either side or the connection ended it."""

    def __init__(self, transport: Transport, local_id: int, peer_id: int) -> None:
        self.local_id = local_id
        self.peer_id = peer_id
        self.closed = asyncio.Event()
        self._transport = transport
        self._received: deque[bytes] = deque()
        self._arrived = asyncio.Event()
        self._credit = asyncio.Event()
        self._credit.set()

    @property
    def transport(self) -> Transport:
        return self._transport

    async def send(self, data: bytes) -> None:
        """Send all of ``data`` in WRTE packets, each after the OKAY of the one before."""
        step = self._transport.max_payload
        for start in range(0, len(data), step):
            await self.drain()
            self._credit.clear()
            await self._transport.write(
                Packet(WRTE, self.local_id, self.peer_id, data[start : start + step])
            )

    async def drain(self) -> None:
        """Wait until the last WRTE was consumed. Raises StreamClosed."""
        await self._credit.wait()
        if self.closed.is_set():
            raise StreamClosed("the adb stream is closed")

    async def recv(self) -> bytes:
        """The next payload, never empty before the end; ``b""`` once closed and all was taken."""
        while not self._received:
            if self.closed.is_set():
                return b""
            self._arrived.clear()
            await self._arrived.wait()
        data = self._received.popleft()
        if not self.closed.is_set():
            await self._transport.write(Packet(OKAY, self.local_id, self.peer_id))
        return data or await self.recv()

    def feed(self, data: bytes) -> None:
        self._received.append(data)
        self._arrived.set()

    def acknowledge(self) -> None:
        self._credit.set()

    def mark_closed(self) -> None:
        self.closed.set()
        self._arrived.set()
        self._credit.set()


Service = Callable[[Stream], Awaitable[None]]
Opener = Callable[["Transport", str], Awaitable[Service | None]]
"""From a service name to what serves it; None refuses the stream with CLSE."""


class Transport:
    """Serves one accepted connection until it ends. ``on_close`` callbacks run at its end."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        opener: Opener,
        banner: str,
    ) -> None:
        self.max_payload = _OLD_PAYLOAD
        self.on_close: list[Callable[[], None]] = []
        self._reader = reader
        self._writer = writer
        self._opener = opener
        self._banner = banner
        self._streams: dict[int, Stream] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._next_id = 1
        self._connected = False

    async def run(self) -> None:
        """Read and dispatch until the peer goes, breaks the protocol, or this task is cancelled."""
        try:
            while (packet := await read_packet(self._reader)) is not None:
                await self._dispatch(packet)
        except (BadPacket, ConnectionError):
            pass
        finally:
            await self._end()

    async def write(self, packet: Packet) -> None:
        """Write one packet whole. Raises StreamClosed when the connection is gone."""
        if self._writer.is_closing():
            raise StreamClosed("the adb connection is closed")
        self._writer.write(pack(packet))
        try:
            await self._writer.drain()
        except ConnectionError as error:
            raise StreamClosed("the adb connection is closed") from error

    def drop(self) -> None:
        """Cut the connection; the adb server connects again by itself."""
        self._writer.close()

    async def open_to_host(self, destination: str) -> Stream | None:
        """Open a stream to the host; None when it refuses. Only ever for a reverse forward's exact
        destination: the adb server aborts on any other."""
        stream = self._new_stream(0)
        stream._credit.clear()
        await self.write(Packet(OPEN, stream.local_id, 0, destination.encode() + b"\0"))
        await stream._credit.wait()
        return None if stream.closed.is_set() else stream

    async def close_stream(self, stream: Stream) -> None:
        """Send CLSE after the last data was consumed; nothing when it is closed already."""
        try:
            await stream.drain()
            stream.mark_closed()
            await self.write(Packet(CLSE, stream.local_id, stream.peer_id))
        except StreamClosed:
            pass
        finally:
            stream.mark_closed()
            self._streams.pop(stream.local_id, None)

    def spawn(self, work: Awaitable[None]) -> None:
        """Run ``work`` for as long as this connection's streams are served."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _dispatch(self, packet: Packet) -> None:
        if packet.command == CNXN:
            await self._greet(packet)
        elif not self._connected:
            return
        elif packet.command == OPEN:
            name = packet.payload.rstrip(b"\0").decode("utf-8", "surrogateescape")
            self.spawn(self._serve(name, packet.arg0))
        elif packet.command in (OKAY, WRTE, CLSE):
            await self._to_stream(packet)

    async def _greet(self, packet: Packet) -> None:
        self._close_streams()
        self.max_payload = min(packet.arg1, MAX_PAYLOAD)
        self._connected = True
        await self.write(
            Packet(CNXN, min(packet.arg0, VERSION), MAX_PAYLOAD, self._banner.encode())
        )

    async def _to_stream(self, packet: Packet) -> None:
        stream = self._streams.get(packet.arg1)
        if stream is None:
            if packet.command == OKAY:
                await self.write(Packet(CLSE, packet.arg1, packet.arg0))
        elif packet.command == OKAY:
            stream.peer_id = stream.peer_id or packet.arg0
            stream.acknowledge()
        elif packet.command == WRTE:
            stream.feed(packet.payload)
        else:
            stream.mark_closed()
            self._streams.pop(stream.local_id, None)

    async def _serve(self, name: str, peer_id: int) -> None:
        try:
            service = await self._opener(self, name)
            if service is None:
                await self.write(Packet(CLSE, 0, peer_id))
                return
            stream = self._new_stream(peer_id)
            await self.write(Packet(OKAY, stream.local_id, peer_id))
        except StreamClosed:
            return
        except OSError:
            # the userland is gone or full; without an answer the host would wait for ever
            with suppress(StreamClosed):
                await self.write(Packet(CLSE, 0, peer_id))
            return
        try:
            await service(stream)
        except StreamClosed:
            pass
        finally:
            await self.close_stream(stream)

    def _new_stream(self, peer_id: int) -> Stream:
        stream = Stream(self, self._next_id, peer_id)
        self._next_id += 1
        self._streams[stream.local_id] = stream
        return stream

    def _close_streams(self) -> None:
        for stream in self._streams.values():
            stream.mark_closed()
        self._streams.clear()

    async def _end(self) -> None:
        self._writer.close()
        self._close_streams()
        for callback in self.on_close:
            callback()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=SERVICE_END_SECONDS)
            for task in late:
                task.cancel()
