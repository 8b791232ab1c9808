"""Composition root of a run, and its one exception boundary.

Everything a run opens is opened here, in one stack, and closed once; whatever happens, one
terminal event is stored. The phone's lock alone outlives the stack: the next run gets the phone
when this one's result is stored.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge.agent.loop import AgentLoop
from bridge.agent.totals import Totals
from bridge.agent.turn import Answer
from bridge.config import Settings, group_switches
from bridge.continuing import UNNAMED_DEVICE, Past
from bridge.control import client
from bridge.control.ending import answered, ended_by
from bridge.control.server import serve
from bridge.control.session import RunSession, time_limit
from bridge.conversation.events import Approval, Notice, RunFinished, RunStarted
from bridge.device import open_target
from bridge.device_lock import hold_device
from bridge.errors import ControlError, PhoneInUse
from bridge.plan import RunPlan, plan_run, provider_settings
from bridge.policy import Answer as Decision
from bridge.policy import Approver, Policy, refuse_without_terminal
from bridge.store.journal import Listener, Recorder
from bridge.store.run_state import Ender
from bridge.store.transcripts import Transcripts
from bridge.tools import Tools
from device_tools.cancel import CancelScope
from device_tools.errors import BridgeError
from device_tools.schema import RiskGroup, ValidCall

if TYPE_CHECKING:
    from bridge.providers.keys import Key
    from bridge.providers.settings import ResolvedProvider

DATABASE = "bridge.db"
RUNS = "runs"
REPLACE_SECONDS = 30.0
"""For a replaced run to clean up and store its result."""


def _no_terminal(_session: RunSession) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True)
class RunRequest:
    """What the user asked for. ``allow`` None means every group that is switched on; ``images``
    are files that go with the task. ``replace`` ends the run that holds the phone, ``past`` is
    what the session said before. ``attach`` lets a terminal steer the run while it goes on."""

    task: str
    settings: Settings
    home: Path
    allow: frozenset[RiskGroup] | None = None
    deny: frozenset[RiskGroup] = frozenset()
    approve: Approver = refuse_without_terminal
    images: tuple[Path, ...] = ()
    debug: bool = False
    replace: bool = False
    past: Past | None = None
    attach: Callable[[RunSession], AbstractContextManager[None]] = _no_terminal


@dataclass(frozen=True)
class RunResult:
    """How the run ended, raw: for the terminal of this run only, never for the record."""

    run: str
    session: str
    folder: Path
    finished: RunFinished


@dataclass
class _Run:
    """The parts of a run, and what is known of it when something fails half-way. ``held`` closes
    behind the terminal event."""

    request: RunRequest
    chosen: ResolvedProvider
    key: Key | None
    plan: RunPlan
    id: str
    cancel: CancelScope
    recorder: Recorder
    session: RunSession
    held: ExitStack
    loop: AgentLoop | None = None
    answer: Answer | None = None
    started: float = field(default_factory=time.monotonic)

    @property
    def folder(self) -> Path:
        return self.request.home / RUNS / self.id

    @property
    def turn(self) -> int:
        return self.loop.totals.turns if self.loop else 0

    @property
    def totals(self) -> dict[str, Any]:
        totals = self.loop.totals if self.loop else Totals()
        return {**totals.as_json(), "seconds": round(time.monotonic() - self.started, 2)}

    def note(self, text: str) -> None:
        self.recorder.record(Notice(self.turn, text))

    def note_decision(self, call: ValidCall, decision: Decision) -> None:
        self.recorder.record(Approval(self.turn, call.id, call.spec.name, decision.value))


class _SystemClock:
    def monotonic(self) -> float:
        return time.monotonic()


def execute(
    request: RunRequest, cancel: CancelScope, listeners: Sequence[Listener] = ()
) -> RunResult:
    """Run the task to its one terminal result.

    Raises:
        ConfigurationError: the settings name no usable provider; nothing was started.
        RecordError: the record cannot be opened or written.
    """
    from bridge.providers.settings import key_of, resolve

    chosen = resolve(provider_settings(request.settings))
    key = key_of(chosen, os.environ)
    plan = plan_run(request.settings, chosen, request.images)
    run = new_id("r")
    session = request.past.session if request.past else new_id("s")
    with closing(Transcripts(request.home / DATABASE)) as transcripts, ExitStack() as held:
        recorder = Recorder(transcripts, run, session, listeners, [key.value] if key else [])
        recorder.record(_started(request, chosen, plan))
        control = RunSession(run, recorder, cancel)
        going = _Run(request, chosen, key, plan, run, cancel, recorder, control, held)
        finished = _run_guarded(going)
        recorder.record(finished)
    return RunResult(run, session, going.folder, finished)


def new_id(kind: str) -> str:
    """A fresh id that sorts by time: ``r-20260131-093015-1f2e3d``."""
    return f"{kind}-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"


def _started(request: RunRequest, chosen: ResolvedProvider, plan: RunPlan) -> RunStarted:
    return RunStarted(
        request.task,
        request.settings.device or UNNAMED_DEVICE,
        chosen.profile.name,
        chosen.model,
        chosen.protocol,
        tuple(image.note for image in plan.images),
        request.settings.base_url or "",
        request.past.run if request.past else "",
    )


def _run_guarded(run: _Run) -> RunFinished:
    failure: BridgeError | None = None
    try:
        with ExitStack() as stack:
            _open_and_run(run, stack)
    except BridgeError as error:
        failure = error
    except Exception as error:
        if run.request.debug:
            raise
        failure = BridgeError(
            f"internal error: {type(error).__name__}: {error}", advice="run again with --debug"
        )
    return _ending(run, failure)


def _ending(run: _Run, failure: BridgeError | None) -> RunFinished:
    """The terminal result, whoever ended the run."""
    unread = run.session.control.close()
    # what a cancel closed may surface as any error of whoever was waiting on it
    outside = run.session.reason(run.session.settle())
    if run.answer is None or outside is not None:
        error = outside or failure
        if error is None:
            raise AssertionError("a run ends with an answer or an error")
        return ended_by(error, run.totals, unread)
    if failure is not None:
        run.note(f"after the answer: {failure.message}")
    return answered(run.answer, run.totals, unread)


def _open_and_run(run: _Run, stack: ExitStack) -> None:
    from bridge.cst.carriers import CARRIERS
    from bridge.providers.opening import open_provider
    from bridge.tool_sets import ALL_TOOLS, open_tools

    request, settings, cancel, chosen = run.request, run.request.settings, run.cancel, run.chosen
    run.folder.mkdir(parents=True, mode=0o700)
    stack.enter_context(serve(request.home, run.session))
    stack.enter_context(time_limit(run.session, settings.max_minutes))
    stack.enter_context(request.attach(run.session))
    model = stack.enter_context(
        open_provider(chosen, run.key, cancel, on_retry=run.note, find=run.recorder.find_secrets)
    )
    target = stack.enter_context(open_target(settings.device, request.home, cancel, run.folder))
    _hold_phone(run, target.serial)
    rule = chosen.profile.image
    phone = stack.enter_context(
        open_tools(target, cancel, request.home, rule=rule, adb_root=settings.adb_root)
    )
    run.note(f"phone {target.serial}")
    tools = Tools(phone, ALL_TOOLS, _policy(request), run.note_decision)
    run.loop = AgentLoop(
        model,
        CARRIERS[chosen.protocol],
        tools,
        run.recorder,
        _SystemClock(),
        cancel,
        run.plan.limits,
        chosen.prices,
        run.session.control,
    )
    past = request.past.history if request.past else ()
    answer = run.loop.run(request.task, run.plan.images, past)
    # from here on the answer stands: cancel, replacement and the time limit come too late
    if run.session.settle() is Ender.END:
        run.answer = answer


def _policy(request: RunRequest) -> Policy:
    return Policy(
        lambda: group_switches(request.home),
        request.allow,
        request.deny,
        request.settings.ask,
        request.approve,
    )


def _hold_phone(run: _Run, serial: str) -> None:
    """Take the phone's lock; with ``replace`` end the run that has it and wait for its result."""
    home, name = run.request.home, f"run {run.id}"
    try:
        run.held.enter_context(hold_device(home, serial, name))
        return
    except PhoneInUse as busy:
        if not (run.request.replace and busy.run):
            raise
        other = busy.run
    run.note(f"replaces run {other}")
    with suppress(ControlError):  # not reachable any more: it is ending
        client.send(home, other, {"command": "replace", "by": run.id})
    run.held.enter_context(hold_device(home, serial, name, wait=REPLACE_SECONDS, cancel=run.cancel))
