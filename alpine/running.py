"""One command from its start to its end: output into spools, within a time, nothing left over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from alpine.channel import STDERR
from alpine.identity import ShellForm
from alpine.output import Spool
from alpine.supervisor import STOPPING, Command, ShellProcessSupervisor, Supervised
from device_tools.errors import BridgeError, DeviceTimeout
from device_tools.limits import Limit

COMMAND = "a command on the phone"
TIMED_OUT = 124
"""The exit code of a command that was ended at its time limit, as of coreutils' timeout."""


class End(StrEnum):
    """How a command ended. STOPPED: somebody closed it."""

    EXIT = "exit"
    TIMED_OUT = "timed out"
    STOPPED = "stopped"


@dataclass
class Output:
    """What a command has written so far; ``code`` is None while it runs."""

    stdout: Spool = field(default_factory=Spool)
    stderr: Spool = field(default_factory=Spool)
    code: int | None = None
    end: End | None = None

    def sink(self, kind: int, data: bytes) -> None:
        (self.stderr if kind == STDERR else self.stdout).feed(data)

    def finish(self, code: int, end: End) -> None:
        for spool in (self.stdout, self.stderr):
            spool.feed(b"", last=True)
        self.code, self.end = code, end


def run_command(
    supervisor: ShellProcessSupervisor,
    command: Command,
    form: ShellForm,
    seconds: float,
    output: Output,
    started: Callable[[Supervised], None] = lambda _running: None,
) -> None:
    """Run it to its end or to its time limit; ``output`` grows meanwhile.

    Raises:
        AdmissionClosed, SupervisionFailed: it did not start.
        DeviceError, Cancelled: also when the phone did not confirm that it ended.
    """
    with supervisor.start(command, form) as running:
        started(running)
        limit = Limit(COMMAND, seconds)
        try:
            code = running.drain(output.sink, time.monotonic() + seconds, limit)
        except DeviceTimeout:
            stop_and_drain(running, output)
            output.finish(TIMED_OUT, End.TIMED_OUT)
        else:
            output.finish(code, End.EXIT)


def stop_and_drain(running: Supervised, output: Output) -> None:
    """End it, and wait until the phone says that nothing is left."""
    running.stop()
    running.drain(output.sink, time.monotonic() + STOPPING.seconds, STOPPING)


class Job:
    """A command that goes on while the model does something else."""

    def __init__(self, id: str, work: Callable[[Output, Callable[[Supervised], None]], None]):
        self.id = id
        self.output = Output()
        self.error: BridgeError | None = None
        self._started = threading.Event()
        self._running: Supervised | None = None
        self._work = work
        self._thread = threading.Thread(target=self._run, name=f"bridge-{id}", daemon=True)

    def start(self) -> None:
        """Return when the phone has started it.

        Raises:
            BridgeError: it did not start.
        """
        self._thread.start()
        self._started.wait()
        if self.error is not None and self._running is None:
            raise self.error

    @property
    def done(self) -> bool:
        return not self._thread.is_alive()

    def wait(self, seconds: float) -> None:
        """Until it is over, ``seconds`` at most."""
        self._thread.join(seconds)

    def stop(self) -> bool:
        """End it on the phone; whether it is over now."""
        if self._running is not None and not self.done:
            self._running.stop()
        self._thread.join(STOPPING.seconds)
        return self.done

    def _run(self) -> None:
        try:
            self._work(self.output, self._has_started)
        except BridgeError as error:
            self.error = error
        finally:
            self._started.set()

    def _has_started(self, running: Supervised) -> None:
        self._running = running
        self._started.set()
