"""Redact, store, then show: the only way an event of a run leaves the loop."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from bridge.conversation.events import (
    CallIntended,
    RunEvent,
    RunFinished,
    RunStarted,
    SteeringQueued,
)
from bridge.errors import RecordError
from bridge.store.redaction import Redactor
from bridge.store.run_state import Ender
from bridge.store.spans import Secret
from bridge.store.transcripts import Transcripts

Listener = Callable[[Mapping[str, Any]], None]
"""Receives the redacted record (``v``, ``type``, ``run``, ``time`` and the event's fields)."""

_DURABLE = CallIntended | SteeringQueued
"""Synced before the run goes on, like its start and its end; other events go with the next one."""


class Recorder:
    """The journal of one run (``bridge.agent.ports.Journal``), from any thread: what is stored
    first is shown first."""

    def __init__(
        self,
        transcripts: Transcripts,
        run: str,
        session: str,
        listeners: Sequence[Listener] = (),
        secrets: Sequence[str] = (),
    ) -> None:
        self._transcripts = transcripts
        self._run = run
        self._session = session
        self._listeners = tuple(listeners)
        self._redactor = Redactor(secrets)
        self._ender: Ender | None = None
        self._lock = threading.RLock()

    @property
    def ender(self) -> Ender | None:
        """Who won the right to end this run, None while nobody did."""
        return self._ender

    def find_secrets(self, text: str) -> list[Secret]:
        """What of a text of the wire is secret by all that the run knows by now."""
        return self._redactor.spans_of_wire(text)

    def record(self, event: RunEvent) -> None:
        """Store ``event`` and tell the listeners; RecordError when it cannot be stored."""
        with self._lock:
            self._record(event)

    def _record(self, event: RunEvent) -> None:
        redacted = self._redactor.redact(event, self._run, round(time.time(), 3))
        shown = [redacted]
        if isinstance(event, RunStarted):
            self._transcripts.begin_run(self._run, self._session, redacted, os.getpid())
        elif isinstance(event, RunFinished):
            shown = [*self._transcripts.finish_run(redacted, self._ender), redacted]
        else:
            self._transcripts.append(redacted, durable=isinstance(event, _DURABLE))
        for each in shown:
            for listen in self._listeners:
                listen(each.record)
        if isinstance(event, RunFinished):
            # the result is safe in the outbox; whoever opens the record next delivers it
            with suppress(RecordError):
                self._transcripts.drain()

    def begin_commit(self, who: Ender) -> bool:
        """Try to win the right to end this run; then only RunFinished of the winner is stored."""
        if not self._transcripts.begin_commit(self._run, who):
            return False
        self._ender = who
        return True
