"""ShellProcessSupervisor: nothing runs on the phone that is not known, and nothing is left there.

Every command leads a session of its own (setsid) and reports process, group and its random token
before it may start. ``guard.sh`` is the phone's half: it ends everything of the token when told
to, when the command ends, and when the connection is gone, whatever became of this process.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from threading import Lock

from alpine.channel import EXIT, STDERR, Packet, ShellChannel, open_channel
from alpine.errors import AdmissionClosed, SupervisionFailed
from alpine.identity import ShellForm
from alpine.marks import MarkScanner
from device_tools.adb import AdbPhone
from device_tools.errors import BridgeError, DeviceError, DeviceTimeout
from device_tools.limits import Limit

HANDSHAKE = Limit("the handshake with a new shell on the phone", 15.0)
STOPPING = Limit("ending a command on the phone", 8.0)
"""2 s after TERM, the KILL rounds, and the way there and back."""
MAX_WIRE = 32 * 1024
"""Bytes of a service name that every adb carries; longer commands go through a file."""
MAX_NOISE = 64 * 1024
"""Bytes that su or a shell may print before the handshake."""

_OUTER = """\
token=$1; shift
(setsid "$@"); code=$?
echo "bridge-end $token over" >&2
exit $code"""
"""Outlives a guard that is killed, whose daemons would hold the stream open."""

Sink = Callable[[int, bytes], None]


class Mode(StrEnum):
    """ONCE: ``text`` is the command. SCRIPT: it is a file on the phone, deleted afterwards; FD: the
    same for a shell that cannot see that file and gets it as descriptor 8. SHELL: a shell that
    reads what ``Supervised.feed`` sends."""

    ONCE = "once"
    SCRIPT = "script"
    FD = "fd"
    SHELL = "shell"


@dataclass(frozen=True)
class Command:
    """What to run; ``cwd`` "" is where the phone's shell starts."""

    text: str = ""
    cwd: str = ""
    merge_stderr: bool = False
    mode: Mode = Mode.ONCE


@dataclass(frozen=True)
class Process:
    """What the phone reported of a command before it started."""

    token: str
    pid: int
    pgid: int
    session: int


class Supervised:
    """One command. One thread reads it; ``stop`` and ``hang_up`` may come from any."""

    def __init__(self, channel: ShellChannel, process: Process, sweep: Callable[[], None]) -> None:
        self.process = process
        self.code: int | None = None
        self.left = 0
        self.clean = False
        self._channel = channel
        self._sweep = sweep
        self._end = MarkScanner(f"bridge-end {process.token} ".encode())

    def feed(self, text: str) -> None:
        """Lines for a shell (mode SHELL)."""
        lines = text.split("\n")
        self._channel.send("".join(f"x{line}\n" for line in lines).encode())

    def stop(self) -> None:
        """Ask the phone to end it: TERM, KILL after 2 s, then the sweep."""
        with suppress(BridgeError):
            self._channel.send(b"end\n")

    def hang_up(self) -> None:
        """The phone notices and does the same by itself."""
        self._channel.hang_up()

    def read(self, end: float, limit: Limit) -> Packet | None:
        """The next output, None when the command is over and ``code`` is known.

        Raises:
            DeviceTimeout, DeviceDisconnected, Cancelled: see ``ShellChannel.read``.
        """
        packet = self._channel.read(end, limit)
        if packet.kind == STDERR:
            return Packet(STDERR, self._errors(packet.data))
        if packet.kind == EXIT:
            return self._ended(packet.data[0])
        return packet

    def _errors(self, data: bytes) -> bytes:
        running = self._end.line is None
        out = self._end.feed(data)
        if running and self._end.line == "over":
            # the guard itself was killed
            self._sweep()
        return out

    def _ended(self, code: int) -> Packet | None:
        self.code = code
        words = (self._end.line or "").split()
        if words[:1] == ["done"]:
            # told by the guard itself: su changes exit codes on some phones
            self.code, self.left = int(words[1]), int(words[2])
            self.clean = self.left == 0
        rest = self._end.rest()
        return Packet(STDERR, rest) if rest else None

    def drain(self, sink: Sink, end: float, limit: Limit) -> int:
        """Hand all output to ``sink`` until the end; the exit code."""
        while self.code is None:
            packet = self.read(end, limit)
            if packet is not None and packet.data:
                sink(packet.kind, packet.data)
        return self.code


class ShellProcessSupervisor:
    """All shells of one phone. ``close`` ends admission and every one of them."""

    def __init__(self, phone: AdbPhone) -> None:
        self.phone = phone
        self._lock = Lock()
        self._closed = False
        self._running: dict[str, Supervised] = {}

    @property
    def running(self) -> tuple[Process, ...]:
        with self._lock:
            return tuple(each.process for each in self._running.values())

    def close(self) -> None:
        """Admit nothing any more, and hang up on what runs; the phone ends it. Never blocks."""
        with self._lock:
            self._closed = True
            running = list(self._running.values())
        for each in running:
            each.hang_up()

    @contextmanager
    def start(self, command: Command, form: ShellForm) -> Iterator[Supervised]:
        """Start a command; whatever is left of it at the end of the body is ended.

        Raises:
            AdmissionClosed, SupervisionFailed: it did not start.
            DeviceError, Cancelled
        """
        self._admit()
        token = secrets.token_hex(16)
        line, script = self._line(command, form, token)
        with open_channel(self.phone, line) as channel:
            try:
                process = _handshake(channel, token)
            except DeviceError:
                self._forget(script)
                raise
            supervised = Supervised(channel, process, lambda: self.sweep(token, form))
            with self._lock:
                self._refuse_when_closed()
                self._running[token] = supervised
            try:
                channel.send(f"go {token}\n".encode())
                yield supervised
            finally:
                with self._lock:
                    del self._running[token]

    def sweep(self, token: str, form: ShellForm) -> None:
        """End what carries the token, from a new connection."""
        with open_channel(
            self.phone, form.script(f"{guard_functions()}stop\nexit $left", token)
        ) as channel:
            end = time.monotonic() + STOPPING.seconds
            while channel.read(end, STOPPING).kind != EXIT:
                pass

    def _admit(self) -> None:
        with self._lock:
            self._refuse_when_closed()

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise AdmissionClosed("the terminal was closed; the command did not start")

    def _line(self, command: Command, form: ShellForm, token: str) -> tuple[str, str]:
        """What to send to adb, and the file on the phone that it needs ("" = none)."""
        line = _guarded(command, form, token)
        if len(line.encode()) <= MAX_WIRE or command.mode is not Mode.ONCE:
            return line, ""
        path = f"/data/local/tmp/.bridge-{token}.sh"
        push_script(self.phone, path, command.text)
        mode = Mode.FD if form.inner else Mode.SCRIPT
        script = Command(path, command.cwd, command.merge_stderr, mode)
        return _guarded(script, form, token), path

    def _forget(self, script: str) -> None:
        if script:
            with suppress(DeviceError):
                self.phone.shell(["rm", "-f", script])


def push_script(phone: AdbPhone, path: str, text: str) -> None:
    """Write a script for a command that adb could not carry; readable by its owner only."""
    data = text.encode() + b"\n"
    writer = ShellForm().script(
        'umask 077; cat >"$1" && [ "$(wc -c <"$1")" -eq "$2" ]', path, str(len(data))
    )
    with open_channel(phone, writer) as channel:
        channel.send(data)
        channel.close_stdin()
        end = time.monotonic() + HANDSHAKE.seconds
        while (packet := channel.read(end, HANDSHAKE)).kind != EXIT:
            pass
    if packet.data[0] != 0:
        raise SupervisionFailed(
            "the command is too long for adb and could not be stored on the phone",
            advice="free some space on the phone, or write a script and run that",
        )


def _guarded(command: Command, form: ShellForm, token: str) -> str:
    merge = "1" if command.merge_stderr else "0"
    asked = (token, command.mode.value, command.cwd, merge, command.text)
    return form.script(
        _OUTER, token, *form.words, "-c", _guard(), "bridge-guard", *asked, *form.shell
    )


@cache
def _guard() -> str:
    text = (resources.files("alpine") / "guard.sh").read_text("utf-8")
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    return "\n".join(line for line in lines if line)


@cache
def guard_functions() -> str:
    """The guard's functions without its work; ``$1`` is the token. No session decides here."""
    functions = _guard().partition("\nlisten() {")[0]
    return "token=$1\n" + functions.partition("\nshift 5\n")[2] + "\nguard=none\n"


def _handshake(channel: ShellChannel, token: str) -> Process:
    """Read "bridge-ready TOKEN PID PGID SID" and check that the process leads its own session."""
    end = time.monotonic() + HANDSHAKE.seconds
    ready = MarkScanner(f"bridge-ready {token} ".encode())
    noise, errors = 0, b""
    while ready.line is None:
        try:
            packet = channel.read(end, HANDSHAKE)
        except DeviceTimeout as error:
            raise SupervisionFailed(error.message, advice="check the phone's su") from error
        if packet.kind == EXIT:
            raise _refused(packet.data[0], errors)
        if packet.kind == STDERR:
            errors = (errors + packet.data)[-1000:]
            continue
        noise += len(ready.feed(packet.data))
        if noise > MAX_NOISE:
            raise SupervisionFailed("the phone's shell prints without end before it starts")
    numbers = ready.line.split()
    if len(numbers) != 3 or len(set(numbers)) != 1 or not numbers[0].isdigit():
        raise SupervisionFailed(f"the phone's shell leads no session of its own: {ready.line}")
    pid, pgid, session = map(int, numbers)
    return Process(token, pid, pgid, session)


def _refused(code: int, errors: bytes) -> SupervisionFailed:
    lines = errors.decode("utf-8", "replace").split("bridge-end ")[0].split("\n")
    reason = next((line for line in lines if line.strip()), f"exit code {code}")[:200]
    return SupervisionFailed(
        f"the phone's shell did not start under supervision: {reason}",
        advice="the phone needs setsid (toybox or BusyBox) and /proc",
    )
