"""``reverse:``: listeners inside the phone whose connections are opened to the host.

The destination sent to the host is always the very string the host gave when it set the forward up:
the adb server aborts, with all its devices, when a device asks for anything else.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from device_tools.virtual.network import Close, PhoneNetwork, pump
from device_tools.virtual.ports import PortHandler
from device_tools.virtual.transport import Service, Stream, StreamClosed, Transport


class ReverseForwards:
    """The reverse listeners of one connection; they end with it."""

    def __init__(self, transport: Transport, network: PhoneNetwork) -> None:
        self._transport = transport
        self._network = network
        self._listeners: dict[str, tuple[str, Close]] = {}
        transport.on_close.append(self.close_all)

    def service(self, command: str) -> Service | None:
        """What serves ``reverse:command``; None when the command is unknown."""
        verb, _, rest = command.partition(":")
        if verb not in ("forward", "list-forward", "killforward", "killforward-all"):
            return None

        async def serve(stream: Stream) -> None:
            await stream.send(await self._answer(verb, rest))

        return serve

    def close_all(self) -> None:
        for _, close in self._listeners.values():
            close()
        self._listeners.clear()

    async def _answer(self, verb: str, rest: str) -> bytes:
        if verb == "forward":
            return await self._forward(rest)
        if verb == "list-forward":
            return _sized("".join(f"host {p} {h}\n" for p, (h, _) in self._listeners.items()))
        if verb == "killforward-all":
            self.close_all()
        elif rest in self._listeners:
            self._listeners.pop(rest)[1]()
        else:
            return b"FAIL" + _sized(f"listener '{rest}' not found")
        return b"OKAY"

    async def _forward(self, rest: str) -> bytes:
        keep = rest.startswith("norebind:")
        phone, _, host = rest.removeprefix("norebind:").partition(";")
        if not phone.startswith(("tcp:", "localabstract:")) or not host:
            return b"FAIL" + _sized(f"cannot listen on '{phone}'")
        if phone in self._listeners:
            if keep:
                return b"FAIL" + _sized("cannot rebind existing socket")
            self._listeners.pop(phone)[1]()
        try:
            real, close = await self._network.listen(phone, self._handler(host))
        except OSError as error:
            return b"FAIL" + _sized(f"cannot bind listener: {error.strerror}")
        self._listeners[real] = (host, close)
        return b"OKAY" + (_sized(real[4:]) if real.startswith("tcp:") else b"")

    def _handler(self, host: str) -> PortHandler:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(StreamClosed):
                stream = await self._transport.open_to_host(host)
                if stream is None:
                    return
                try:
                    await pump(stream, reader, writer)
                finally:
                    await self._transport.close_stream(stream)

        return serve


def _sized(text: str) -> bytes:
    data = text.encode()
    return b"%04x" % len(data) + data
