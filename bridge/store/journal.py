"""Redact, store durably, then show: the only way an event of a run leaves the loop."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bridge.conversation.events import RunEvent, RunFinished, RunStarted
from bridge.store.redaction import Redactor
from bridge.store.transcripts import Transcripts

Listener = Callable[[Mapping[str, Any]], None]
"""Receives the redacted record (``v``, ``type``, ``run``, ``time`` and the event's fields)."""


class Recorder:
    """The journal of one run (``bridge.agent.ports.Journal``)."""

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

    def record(self, event: RunEvent) -> None:
        """Store ``event`` and tell the listeners; RecordError when it cannot be stored."""
        redacted = self._redactor.redact(event, self._run, round(time.time(), 3))
        if isinstance(event, RunStarted):
            self._transcripts.begin_run(self._run, self._session, redacted, os.getpid())
        elif isinstance(event, RunFinished):
            self._transcripts.finish_run(redacted)
        else:
            self._transcripts.append(redacted)
        for listen in self._listeners:
            listen(redacted.record)
