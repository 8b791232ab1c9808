"""One phone over the adb server: shell v2, streams, and the device object for uiautomator2.

The only importer of adbutils. Nothing here forwards a port, and nothing starts an adb
server except ``ensure_server``.
"""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import Timer
from typing import Any
from weakref import WeakSet

from device_tools import limits
from device_tools.adb_server import (
    AdbAddress,
    AdbStream,
    ServiceRefused,
    choose_serial,
    connect_server,
    hang_up,
    list_devices,
    not_ready,
    open_server,
    server_version,
)
from device_tools.cancel import CancelScope
from device_tools.errors import (
    ActionRefused,
    AdbUnavailable,
    DeviceDisconnected,
    DeviceError,
    DeviceNotFound,
    Outcome,
)
from device_tools.limits import Deadline, Limit

MAX_OUTPUT = 4 * 1024 * 1024


@dataclass(frozen=True)
class ShellResult:
    """``code`` is what the phone's exit packet said; output over the cap is cut and said so."""

    stdout: bytes
    stderr: bytes
    code: int
    truncated: bool = False

    @property
    def text(self) -> str:
        """Standard output, then standard error, decoded."""
        return (self.stdout + self.stderr).decode("utf-8", "replace")


def find_adb() -> str:
    """The adb binary: ADBUTILS_ADB_PATH, PATH, then the one bundled with adbutils.

    Raises:
        AdbUnavailable: there is none.
    """
    from adbutils import AdbError, adb_path

    try:
        return str(adb_path())
    except AdbError as error:
        raise AdbUnavailable(str(error), advice="install adb, or set ADBUTILS_ADB_PATH") from error


def ensure_server(address: AdbAddress, cancel: CancelScope) -> bool:
    """Start an adb server on this machine if none answers; True when one was started."""
    try:
        server_version(address, cancel)
    except AdbUnavailable:
        _start_server(address)
        server_version(address, cancel)
        return True
    return False


def _start_server(address: AdbAddress) -> None:
    command = [find_adb(), "-P", str(address.port), "start-server"]
    environment = {**os.environ, "ANDROID_ADB_SERVER_PORT": str(address.port)}
    try:
        subprocess.run(
            command,
            env=environment,
            check=True,
            timeout=limits.ADB_START.seconds,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise AdbUnavailable(
            f"the adb server did not start: {error}", advice="run `bridge doctor`"
        ) from error


def open_device(serial: str | None, address: AdbAddress, cancel: CancelScope) -> AdbPhone:
    """The named phone, or the only one attached; see ``choose_serial`` for errors."""
    chosen = choose_serial(serial, list_devices(address, cancel), address)
    return AdbPhone(chosen, address, cancel)


class AdbPhone:
    """One phone. Safe to use from several threads: every call has its own connection."""

    def __init__(self, serial: str, address: AdbAddress, cancel: CancelScope) -> None:
        self.serial = serial
        self.address = address
        self.cancel = cancel
        self._sockets: WeakSet[socket.socket] = WeakSet()

    @contextmanager
    def service(self, name: str, limit: Limit) -> Iterator[AdbStream]:
        """A stream to a service of the phone, such as ``tcp:9008``, within one limit.

        Raises:
            ServiceRefused: the phone said no; with "closed" nothing was sent to the service.
            DeviceNotFound, DeviceNotReady, DeviceDisconnected, DeviceTimeout, Cancelled.
        """
        with open_server(self.address, limit, self.cancel) as stream:
            try:
                stream.request(f"host:tport:serial:{self.serial}")
            except ServiceRefused as refusal:
                raise transport_error(self.serial, refusal.message) from refusal
            stream.read_exact(8)
            stream.request(name)
            yield stream

    def shell(self, argv: Sequence[str], *, limit: Limit = limits.SHELL_READ) -> ShellResult:
        """Run one command without a terminal; a non-zero code is a result, not an error.

        Raises:
            DeviceDisconnected: also when the stream ends without an exit packet; the outcome
                is UNKNOWN then, as for DeviceTimeout: the command may have run.
        """
        command = shlex.join(argv)
        with ExitStack() as stack:
            try:
                stream = stack.enter_context(self.service(f"shell,v2,raw:{command}", limit))
            except ServiceRefused as refusal:
                raise ActionRefused(
                    f"the phone refused the shell: {refusal.message}",
                    advice=refusal.advice or "check `adb shell` by hand",
                ) from refusal
            stream.outcome = Outcome.UNKNOWN
            return _collect(stream)

    def client_device(self) -> Any:
        """An ``adbutils.AdbDevice`` for the unmodified uiautomator2 client: no delay, no
        version question, its sockets bounded, and closed by ``hang_up``."""
        return _fast_device(self)

    def hang_up(self) -> None:
        """Wake everything that waits on a socket of ``client_device``."""
        for sock in list(self._sockets):
            hang_up(sock)

    def drop_client(self) -> None:
        """Close the sockets of a ``client_device`` that failed; its library leaves them open."""
        for sock in list(self._sockets):
            sock.close()

    def remember(self, sock: socket.socket) -> None:
        self._sockets.add(sock)


_STDOUT, _STDERR, _EXIT = 1, 2, 3


def _collect(stream: AdbStream) -> ShellResult:
    """Read shell v2 packets (u8 id, u32 length, data) until the exit packet."""
    output: dict[int, bytearray] = {_STDOUT: bytearray(), _STDERR: bytearray()}
    truncated = False
    while True:
        head = stream.read_exact(5)
        data = stream.read_exact(int.from_bytes(head[1:], "little"))
        if head[0] == _EXIT:
            out, err = bytes(output[_STDOUT]), bytes(output[_STDERR])
            return ShellResult(out, err, data[0] if data else 255, truncated)
        kept = output.get(head[0])
        if kept is not None:
            room = MAX_OUTPUT - len(kept)
            truncated = truncated or len(data) > room
            kept += data[: max(0, room)]


def transport_error(serial: str, reason: str) -> DeviceError:
    """What the server's refusal of a transport means."""
    if "not found" in reason or "no devices" in reason:
        return DeviceNotFound(
            f"device {serial} is no longer attached", advice="check the cable, then try again"
        )
    return not_ready(serial, reason.splitlines()[0] if reason else "refused")


@contextmanager
def client_errors(
    phone: AdbPhone, limit: Limit, own: type[Exception], make: Callable[[str], DeviceError]
) -> Iterator[None]:
    """Around calls into a client library: its errors and those below it become ours.

    ``make`` builds the error for what the library reports as ``own``. Its sockets are hung up
    when ``limit`` is over, as it puts no limit on most of them.
    """
    from adbutils import AdbError

    deadline = Deadline(limit)
    timer = Timer(limit.seconds, phone.hang_up)
    timer.daemon = True
    timer.start()
    try:
        with phone.cancel.closing(phone.hang_up):
            yield
    except (own, AdbError, OSError, EOFError) as error:
        phone.drop_client()
        phone.cancel.check()
        deadline.remaining()
        if isinstance(error, TimeoutError):
            raise deadline.expired() from error
        if isinstance(error, OSError | EOFError):
            raise DeviceDisconnected(f"the adb connection broke: {error}") from error
        raise make(str(error)) from error
    finally:
        timer.cancel()


def _fast_device(phone: AdbPhone) -> Any:
    from adbutils import AdbClient, AdbConnection, AdbDevice

    class Connection(AdbConnection):  # type: ignore[misc]
        def _safe_connect(self) -> socket.socket:
            # the parent would start a server of its own accord, on the default port
            sock = connect_server(phone.address)
            sock.settimeout(None)
            phone.remember(sock)
            return sock

    class Client(AdbClient):  # type: ignore[misc]
        def make_connection(self, timeout: float | None = None) -> AdbConnection:
            connection = Connection(phone.address.host, phone.address.port)
            connection.conn.settimeout(timeout)
            return connection

    class Device(AdbDevice):  # type: ignore[misc]
        def open_transport(
            self, command: str | None = None, timeout: float | None = 600
        ) -> AdbConnection:
            if command:
                return super().open_transport(command, timeout)
            connection = self._client.make_connection(timeout=timeout)
            connection.send_command(f"host:tport:serial:{phone.serial}")
            connection.check_okay()
            connection.read(8)
            return connection

        def create_connection(self, network: Any, address: Any) -> socket.socket:
            sock: socket.socket = super().create_connection(network, address)
            sock.settimeout(limits.UI_PING.seconds)
            return sock

    return Device(Client(phone.address.host, phone.address.port), phone.serial)
