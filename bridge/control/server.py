"""The control socket of a run: orders of other processes of the same user, carried out at once."""

from __future__ import annotations

import os
import select
import shutil
import socket
import struct
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from bridge.control.protocol import (
    FOLDER,
    MAX_ADDRESS,
    REPLY_SECONDS,
    from_line,
    place_of,
    read_line,
    to_line,
)
from bridge.control.session import RunSession
from bridge.errors import ControlError, RecordError
from bridge.store.liveness import lives
from bridge.store.run_state import Ender
from device_tools.errors import BridgeError

MAX_CLIENTS = 8
"""At once; one more is told to come back."""
IDLE_SECONDS = 60.0
"""A client that says nothing for so long is left."""


def obey(session: RunSession, order: Mapping[str, Any]) -> dict[str, Any]:
    """Carry out one order; the reply.

    Raises:
        ControlError: the run does not take it.
        RecordError: it could not be recorded.
    """
    command = order.get("command")
    match command:
        case "steer":
            number = session.control.steer(str(order.get("text", "")), "socket")
            return {"state": "queued", "number": number, "paused": session.control.paused}
        case "pause":
            return {"state": "pausing" if session.control.pause() else "paused already"}
        case "resume":
            return {"state": "resumed" if session.control.resume() else "was not paused"}
        case "cancel":
            return {"state": "cancelled" if session.end(Ender.CANCEL) else "ending already"}
        case "replace":
            won = session.end(Ender.REPLACED, str(order.get("by", ""))[:80])
            return {"state": "replaced" if won else "ending already"}
    raise ControlError(f"there is no order {command!r}", advice="see docs/control.md")


@contextmanager
def serve(home: Path, session: RunSession) -> Iterator[None]:
    """Take orders while the body runs.

    Raises:
        RecordError: the socket cannot be made.
    """
    place = place_of(home, session.run)
    try:
        _prepare(home)
        listener, extra = _listen(place)
    except OSError as error:
        raise RecordError(
            f"the control socket {place} cannot be made: {error}",
            advice="check the home folder (BRIDGE_HOME)",
        ) from error
    try:
        with listener, _Server(session, listener):
            yield
    finally:
        place.unlink(missing_ok=True)
        if extra is not None:
            shutil.rmtree(extra, ignore_errors=True)


def _prepare(home: Path) -> None:
    """The folder, private, without what runs left there that were killed."""
    folder = home / FOLDER
    folder.mkdir(parents=True, mode=0o700, exist_ok=True)
    folder.chmod(0o700)
    for place in folder.iterdir():
        if lives(home, place.name):
            continue
        if place.is_symlink():
            shutil.rmtree(Path(os.readlink(place)).parent, ignore_errors=True)
        place.unlink(missing_ok=True)


def _listen(place: Path) -> tuple[socket.socket, Path | None]:
    """The listening socket, and the folder made for it where the address would be too long."""
    extra: Path | None = None
    address = place
    if len(os.fsencode(place)) > MAX_ADDRESS:
        extra = Path(tempfile.mkdtemp(prefix="bridge-"))
        address = extra / "control"
        place.symlink_to(address)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(address))
        address.chmod(0o600)
        listener.listen(MAX_CLIENTS)
    except OSError:
        listener.close()
        raise
    return listener, extra


class _Server:
    """A thread that accepts, and one for each client."""

    def __init__(self, session: RunSession, listener: socket.socket) -> None:
        self._session = session
        self._listener = listener
        self._lock = threading.Lock()
        self._clients: dict[threading.Thread, socket.socket] = {}
        self._closing, self._wake = socket.socketpair()
        self._thread = threading.Thread(target=self._accept, name="control", daemon=True)

    def __enter__(self) -> _Server:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._wake.close()
        self._thread.join()
        with self._lock:
            left = dict(self._clients)
        for connection in left.values():
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RD)  # what is under way still gets its reply
        for thread in left:
            thread.join(REPLY_SECONDS)
        self._closing.close()

    def _accept(self) -> None:
        while True:
            ready, _, _ = select.select([self._listener, self._closing], [], [])
            if self._closing in ready:
                return
            with suppress(OSError):
                self._admit(self._listener.accept()[0])

    def _admit(self, connection: socket.socket) -> None:
        connection.settimeout(IDLE_SECONDS)
        thread = threading.Thread(target=self._attend, args=(connection,), daemon=True)
        with self._lock:
            crowded = len(self._clients) >= MAX_CLIENTS
            if not crowded:
                self._clients[thread] = connection
        if crowded or not _is_same_user(connection):
            why = "too many clients at once" if crowded else "this run belongs to another user"
            with connection, self._lock, suppress(OSError):
                self._clients.pop(thread, None)
                connection.sendall(_refusal(ControlError(why)))
            return
        thread.start()

    def _attend(self, connection: socket.socket) -> None:
        rest = bytearray()
        with connection, suppress(OSError):
            try:
                while (line := read_line(connection, rest)) is not None:
                    connection.sendall(self._answer(line))
            except ControlError as error:
                connection.sendall(_refusal(error))
        with self._lock:
            self._clients.pop(threading.current_thread(), None)

    def _answer(self, line: bytes) -> bytes:
        try:
            reply = obey(self._session, from_line(line))
        except BridgeError as error:
            return _refusal(error)
        return to_line({"ok": True, "run": self._session.run, **reply})


def _refusal(error: BridgeError) -> bytes:
    return to_line({"ok": False, "error": error.message, "advice": error.advice})


def _is_same_user(connection: socket.socket) -> bool:
    """What the kernel says of the peer; where it says nothing, the private folder is the guard."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    size = struct.calcsize("3i")
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    _, user, _ = struct.unpack("3i", credentials)
    return bool(user == os.geteuid())
