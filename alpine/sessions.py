"""A shell that lives on between commands: directory, variables and functions stay.

The shell reads its commands from a pipe. Behind each comes a line of ours that writes a random
mark to both streams, so that output and exit code belong to the command that made them. A
command that goes beyond its time cannot be ended without the shell: the session ends with it.
"""

from __future__ import annotations

import secrets
import shlex
import time
from collections.abc import Callable
from contextlib import ExitStack
from threading import Lock, Timer

from alpine.channel import STDERR, STDOUT, Packet
from alpine.errors import SessionBusy, SessionEnded
from alpine.identity import ShellForm
from alpine.marks import MarkScanner
from alpine.running import COMMAND, TIMED_OUT, End, Output
from alpine.supervisor import HANDSHAKE, STOPPING, Command, Mode, ShellProcessSupervisor, Supervised
from device_tools.errors import BridgeError, DeviceTimeout
from device_tools.limits import Limit

IDLE_SECONDS = 15 * 60.0
ABSOLUTE_SECONDS = 2 * 3600.0

_OPEN = """\
exec 7>&1 8>&2; set +m; unset HISTFILE PS4
_B_() {
  command echo "\1bridge-done-$1 $?" >&7
  command echo "\1bridge-done-$1 0" >&8
} 2>/dev/null"""
"""7 and 8 are where the marks go, whatever a command does to its own streams. A function with a
short name, as the phone's shell reads its commands byte by byte. mksh traces (set -x) to its first
stderr whatever is redirected, but spells out the control character: a trace never is a mark."""


class Session:
    """One shell. Commands run one after another; ``close`` may come from any thread."""

    def __init__(
        self,
        id: str,
        supervisor: ShellProcessSupervisor,
        form: ShellForm,
        cwd: str = "",
        *,
        idle: float = IDLE_SECONDS,
        absolute: float = ABSOLUTE_SECONDS,
    ) -> None:
        """Start the shell.

        Raises:
            AdmissionClosed, SupervisionFailed: it did not start.
            DeviceError, Cancelled
        """
        self.id = id
        self.ended = ""
        self._stack = ExitStack()
        self._busy = Lock()
        self._idle_seconds, self._absolute_seconds = idle, absolute
        self._opened = self._used = time.monotonic()
        self._timer: Timer | None = None
        # what background processes wrote behind the marks of the command before
        self._early = b"", b""
        self._shell = self._stack.enter_context(
            supervisor.start(Command(cwd=cwd, mode=Mode.SHELL), form)
        )
        try:
            # what the shell says of itself before its first command belongs to nobody
            _Reply(self._shell, Output()).to_the_mark(_OPEN, HANDSHAKE)
        except BridgeError:
            self._stack.close()
            raise
        if self._shell.code is not None:
            self._stack.close()
            raise SessionEnded("the session's shell ended at once", advice="check the directory")
        self._check_limits()

    @property
    def process(self) -> int:
        """PID of the shell's supervisor on the phone."""
        return self._shell.process.pid

    def run(
        self,
        text: str,
        seconds: float,
        output: Output,
        *,
        cwd: str = "",
        merge_stderr: bool = False,
        started: Callable[[Supervised], None] = lambda _running: None,
    ) -> None:
        """Run one command; ``output`` grows meanwhile.

        Raises:
            SessionBusy: a command of the session runs.
            SessionEnded: the shell is gone; nothing was sent.
            DeviceError, Cancelled: the session has ended.
        """
        if not self._busy.acquire(blocking=False):
            raise SessionBusy(
                f"session {self.id} is running a command",
                advice="wait for its job, close it, or open another session",
            )
        try:
            self._refuse_when_ended()
            started(self._shell)
            line = _line(text, cwd, merge_stderr)
            self._run(line, seconds, output)
        finally:
            self._used = time.monotonic()
            self._busy.release()

    def close(self, reason: str = "it was closed") -> None:
        """End the shell and all it started; the phone does it by itself. Never blocks."""
        self.ended = self.ended or reason
        if self._timer is not None:
            self._timer.cancel()
        self._shell.stop()
        if self._busy.acquire(blocking=False):
            self._stack.close()
            self._busy.release()

    def _run(self, line: str, seconds: float, output: Output) -> None:
        reply = _Reply(self._shell, output, self._early)
        try:
            code = reply.to_the_mark(line, Limit(COMMAND, seconds))
        except DeviceTimeout:
            self.ended = "a command of it went beyond its time"
            try:
                self._shell.stop()
                reply.to_the_end(STOPPING)
            finally:
                self._give_up()
            output.finish(TIMED_OUT, End.TIMED_OUT)
        except BridgeError as error:
            self.ended = self.ended or error.message
            self._give_up()
            raise
        else:
            self._finish(code, output, reply.after())

    def _finish(self, code: int, output: Output, early: tuple[bytes, bytes]) -> None:
        self._early = early
        end = End.STOPPED if self.ended else End.EXIT
        if self._shell.code is not None:
            self.ended = self.ended or f"its shell exited with code {code}"
            self._give_up()
        output.finish(code, end)

    def _refuse_when_ended(self) -> None:
        if self.ended:
            raise SessionEnded(
                f"session {self.id} has ended: {self.ended}", advice="open a new session"
            )

    def _check_limits(self) -> None:
        """End the session at a limit, else look again when the next one may be reached. One timer
        for all commands: to start one for each would cost more than the command."""
        now = time.monotonic()
        used = now if self._busy.locked() else self._used
        left_idle = used + self._idle_seconds - now
        left = self._opened + self._absolute_seconds - now
        if left <= 0:
            self.close(f"it was open for {self._absolute_seconds:g} s")
        elif left_idle <= 0:
            self.close(f"it was not used for {self._idle_seconds:g} s")
        elif not self.ended:
            self._timer = Timer(min(left, left_idle), self._check_limits)
            self._timer.daemon = True
            self._timer.start()

    def _give_up(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._stack.close()


class _Reply:
    """What a shell writes up to the marks behind one line, without the marks."""

    def __init__(
        self, shell: Supervised, output: Output, early: tuple[bytes, bytes] = (b"", b"")
    ) -> None:
        self._shell = shell
        self._output = output
        self._word = secrets.token_hex(8)
        mark = f"\1bridge-done-{self._word} ".encode()
        self._out, self._err = MarkScanner(mark), MarkScanner(mark)
        for kind, data in zip((STDOUT, STDERR), early, strict=True):
            self._take(Packet(kind, data))

    def to_the_mark(self, line: str, limit: Limit) -> int:
        """Send the line; its exit code, or the shell's when that ends on the way."""
        end = time.monotonic() + limit.seconds
        self._shell.feed(f"{line}\n_B_ {self._word}")
        while self._out.line is None or self._err.line is None:
            self._take(self._shell.read(end, limit))
            if self._shell.code is not None:
                self._take_rest()
                return self._shell.code
        return int(self._out.line) if self._out.line.isdigit() else 255

    def after(self) -> tuple[bytes, bytes]:
        """What standard output and error said behind the marks."""
        return self._out.after(), self._err.after()

    def to_the_end(self, limit: Limit) -> None:
        """Until the shell is gone."""
        end = time.monotonic() + limit.seconds
        while self._shell.code is None:
            self._take(self._shell.read(end, limit))
        self._take_rest()

    def _take(self, packet: Packet | None) -> None:
        if packet is not None:
            scanner = self._err if packet.kind == STDERR else self._out
            if data := scanner.feed(packet.data):
                self._output.sink(packet.kind, data)

    def _take_rest(self) -> None:
        self._output.sink(STDOUT, self._out.rest())
        self._output.sink(STDERR, self._err.rest())


def _line(text: str, cwd: str, merge_stderr: bool) -> str:
    """``command`` keeps the shell alive over an error in the text, which is one quoted word."""
    enter = f"cd -- {shlex.quote(cwd)} && " if cwd else ""
    merge = " 2>&1" if merge_stderr else ""
    return f"{enter}command eval {shlex.quote(text)} </dev/null{merge}"
