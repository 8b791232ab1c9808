"""The terminals of one phone: who runs commands, the open sessions, and the jobs.

``environment`` is the one seam to other userlands: it turns an identity into the form of a shell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from typing import TypeVar

from alpine.errors import EnvironmentMissing, TooMany, UnknownSession
from alpine.identity import USER, Identity, ShellForm
from alpine.root import Root, find_root
from alpine.running import Job, Output, run_command
from alpine.sessions import Session
from alpine.supervisor import Command, ShellProcessSupervisor, Supervised
from device_tools.adb import AdbPhone

MAX_SESSIONS = 8
MAX_JOBS = 16

T = TypeVar("T")


class Environment(StrEnum):
    """Where a command runs: the phone's own userland, or the managed Alpine."""

    ANDROID = "android"
    LINUX = "linux"


Entry = Callable[[Root, str], ShellForm]
"""How to get into an environment: root and the directory inside ("" = its own default) give the
form of a shell whose commands run there. Raises EnvironmentMissing where it is not installed."""


def not_installed(_root: Root, _cwd: str) -> ShellForm:
    """The entry of a phone without Alpine."""
    raise EnvironmentMissing(
        "Alpine is not installed on this phone", advice="run bridge alpine install"
    )


@dataclass(frozen=True)
class Place:
    """Where a command runs and as whom. ``cwd`` "" is the default of the environment."""

    environment: Environment = Environment.ANDROID
    identity: Identity = Identity.USER
    cwd: str = ""


@dataclass
class Terminal:
    """All terminals of one phone; ``close`` ends every one of them."""

    phone: AdbPhone
    entry: Entry = not_installed
    allow_adb_root: bool = False
    supervisor: ShellProcessSupervisor = field(init=False)
    _root: Root | None = None
    _sessions: dict[str, Session] = field(default_factory=dict)
    _jobs: dict[str, Job] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.supervisor = ShellProcessSupervisor(self.phone)

    def close(self) -> None:
        """Admit nothing any more and hang up on everything; the phone ends it. Never blocks."""
        self.supervisor.close()
        for session in list(self._sessions.values()):
            session.close("the run has ended")

    def root(self) -> Root:
        """Root, found once.

        Raises:
            RootUnavailable, DeviceError, Cancelled
        """
        if self._root is None:
            self._root = find_root(self.phone, allow_adb_root=self.allow_adb_root)
        return self._root

    def form(self, place: Place) -> tuple[ShellForm, str]:
        """The shell to start there, and the directory that it must change to itself.

        Raises:
            RootUnavailable, EnvironmentMissing, DeviceError, Cancelled
        """
        if place.environment is Environment.LINUX:
            return self.entry(self.root(), place.cwd), ""
        if place.identity is Identity.ROOT:
            return self.root().form, place.cwd
        return USER, place.cwd

    def run(
        self,
        place: Place,
        text: str,
        seconds: float,
        output: Output,
        *,
        merge_stderr: bool = False,
        started: Callable[[Supervised], None] = lambda _running: None,
    ) -> None:
        """One command in a process session of its own; see ``run_command``."""
        form, cwd = self.form(place)
        command = Command(text, cwd, merge_stderr)
        run_command(self.supervisor, command, form, seconds, output, started)

    def open(self, place: Place) -> Session:
        """A new session.

        Raises:
            TooMany, RootUnavailable, EnvironmentMissing, SupervisionFailed, DeviceError, Cancelled
        """
        self._forget_ended()
        if len(self._sessions) >= MAX_SESSIONS:
            raise TooMany(
                f"{MAX_SESSIONS} sessions are open: {', '.join(self._sessions)}",
                advice="close one of them",
            )
        form, cwd = self.form(place)
        session = Session(f"s{next(self._numbers)}", self.supervisor, form, cwd)
        self._sessions[session.id] = session
        return session

    def session(self, id: str) -> Session:
        """Raises UnknownSession."""
        return _known("session", id, self._sessions)

    def start(self, work: Callable[[Output, Callable[[Supervised], None]], None]) -> Job:
        """A job; it is running when this returns.

        Raises:
            TooMany, BridgeError: it did not start.
        """
        self._forget_ended()
        if len(self._jobs) >= MAX_JOBS:
            raise TooMany(f"{MAX_JOBS} jobs are kept: {', '.join(self._jobs)}", advice="close one")
        job = Job(f"j{next(self._numbers)}", work)
        job.start()
        self._jobs[job.id] = job
        return job

    def job(self, id: str) -> Job:
        """Raises UnknownSession."""
        return _known("job", id, self._jobs)

    def forget_job(self, id: str) -> None:
        self._jobs.pop(id, None)

    def close_session(self, id: str) -> Session:
        """Raises UnknownSession."""
        session = self.session(id)
        session.close()
        del self._sessions[id]
        return session

    def _forget_ended(self) -> None:
        """Ended sessions make room; their error is told as long as there is room."""
        for id, session in list(self._sessions.items()):
            if session.ended and len(self._sessions) >= MAX_SESSIONS:
                del self._sessions[id]


def _known(kind: str, id: str, table: Mapping[str, T]) -> T:
    if id not in table:
        there = ", ".join(table) or "none"
        raise UnknownSession(f"there is no {kind} {id!r}; there are: {there}")
    return table[id]


@contextmanager
def open_terminal(
    phone: AdbPhone, *, entry: Entry = not_installed, allow_adb_root: bool = False
) -> Iterator[Terminal]:
    """The terminals of a phone; cancelled or not, nothing of them is left on it."""
    terminal = Terminal(phone, entry, allow_adb_root)
    try:
        with phone.cancel.closing(terminal.supervisor.close):
            yield terminal
    finally:
        terminal.close()
