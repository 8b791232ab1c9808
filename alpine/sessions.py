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

_OPEN = "exec 7>&1 8>&2; set +m; unset HISTFILE PS4"
"""7 and 8 are where the marks go, whatever a command does to its own streams."""


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
        self._idle_seconds = idle
        self._idle: Timer | None = None
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
        self._lifetime = self._timer(absolute, f"it was open for {absolute:g} s")
        self._rest()

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
            if self._idle is not None:
                self._idle.cancel()
            started(self._shell)
            line = _line(text, cwd, merge_stderr)
            self._run(line, seconds, output)
        finally:
            self._busy.release()

    def close(self, reason: str = "it was closed") -> None:
        """End the shell and all it started; the phone does it by itself. Never blocks."""
        self.ended = self.ended or reason
        for timer in (self._idle, getattr(self, "_lifetime", None)):
            if timer is not None:
                timer.cancel()
        self._shell.stop()
        if self._busy.acquire(blocking=False):
            self._stack.close()
            self._busy.release()

    def _run(self, line: str, seconds: float, output: Output) -> None:
        reply = _Reply(self._shell, output)
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
            self._finish(code, output)

    def _finish(self, code: int, output: Output) -> None:
        end = End.STOPPED if self.ended else End.EXIT
        if self._shell.code is None:
            self._rest()
        else:
            self.ended = self.ended or f"its shell exited with code {code}"
            self._give_up()
        output.finish(code, end)

    def _refuse_when_ended(self) -> None:
        if self.ended:
            raise SessionEnded(
                f"session {self.id} has ended: {self.ended}", advice="open a new session"
            )

    def _rest(self) -> None:
        self._idle = self._timer(
            self._idle_seconds, f"it was not used for {self._idle_seconds:g} s"
        )

    def _timer(self, seconds: float, reason: str) -> Timer:
        timer = Timer(seconds, self.close, [reason])
        timer.daemon = True
        timer.start()
        return timer

    def _give_up(self) -> None:
        for timer in (self._idle, self._lifetime):
            if timer is not None:
                timer.cancel()
        self._stack.close()


class _Reply:
    """What a shell writes up to the marks behind one line, without the marks."""

    def __init__(self, shell: Supervised, output: Output) -> None:
        self._shell = shell
        self._output = output
        self._mark = f"bridge-done-{secrets.token_hex(16)} "
        self._out = MarkScanner(self._mark.encode())
        self._err = MarkScanner(self._mark.encode())

    def to_the_mark(self, line: str, limit: Limit) -> int:
        """Send the line; its exit code, or the shell's when that ends on the way."""
        end = time.monotonic() + limit.seconds
        marks = f'command echo "{self._mark}$?" >&7; command echo "{self._mark}0" >&8'
        self._shell.feed(f"{line}\n{{ {marks}; }} 2>/dev/null")
        while self._out.line is None or self._err.line is None:
            self._take(self._shell.read(end, limit))
            if self._shell.code is not None:
                self._take_rest()
                return self._shell.code
        return int(self._out.line) if self._out.line.isdigit() else 255

    def to_the_end(self, limit: Limit) -> None:
        """Until the shell is gone."""
        end = time.monotonic() + limit.seconds
        while self._shell.code is None:
            self._take(self._shell.read(end, limit))
        self._take_rest()

    def _take(self, packet: Packet | None) -> None:
        if packet is not None:
            scanner = self._err if packet.kind == STDERR else self._out
            self._output.sink(packet.kind, scanner.feed(packet.data))

    def _take_rest(self) -> None:
        self._output.sink(STDOUT, self._out.rest())
        self._output.sink(STDERR, self._err.rest())


def _line(text: str, cwd: str, merge_stderr: bool) -> str:
    """``command`` keeps the shell alive over an error in the text, which is one quoted word."""
    enter = f"cd -- {shlex.quote(cwd)} && " if cwd else ""
    merge = " 2>&1" if merge_stderr else ""
    return f"{enter}command eval {shlex.quote(text)} </dev/null{merge}"
