"""Composition root of a run, and its one exception boundary.

Everything a run opens is opened here, in one stack, and closed once; whatever happens, one
terminal event is stored.
"""

from __future__ import annotations

import os
import secrets
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge.agent.loop import AgentLoop
from bridge.agent.totals import Totals
from bridge.agent.turn import Answer
from bridge.config import Settings, group_switches
from bridge.conversation.events import Notice, RunFinished, RunStarted, RunStatus
from bridge.device import open_target
from bridge.device_lock import hold_device
from bridge.errors import ConfigurationError, LimitReached
from bridge.plan import RunPlan, plan_run
from bridge.policy import Approver, Policy, refuse_without_terminal
from bridge.store.journal import Listener, Recorder
from bridge.store.transcripts import Transcripts
from bridge.tools import Tools
from device_tools.cancel import CancelScope
from device_tools.catalog import PHONE_TOOLS
from device_tools.errors import BridgeError, Cancelled
from device_tools.schema import RiskGroup

if TYPE_CHECKING:
    from bridge.providers.keys import Key
    from bridge.providers.settings import ProviderSettings, ResolvedProvider

DATABASE = "bridge.db"
RUNS = "runs"


@dataclass(frozen=True)
class RunRequest:
    """What the user asked for. ``allow`` None means every group that is switched on; ``images``
    are files that go with the task."""

    task: str
    settings: Settings
    home: Path
    allow: frozenset[RiskGroup] | None = None
    deny: frozenset[RiskGroup] = frozenset()
    approve: Approver = refuse_without_terminal
    images: tuple[Path, ...] = ()
    debug: bool = False


@dataclass(frozen=True)
class RunResult:
    """How the run ended, raw: for the terminal of this run only, never for the record."""

    run: str
    session: str
    folder: Path
    finished: RunFinished


@dataclass
class _Progress:
    """What is known when something fails half-way."""

    loop: AgentLoop | None = None
    answer: Answer | None = None
    started: float = field(default_factory=time.monotonic)

    def totals(self) -> dict[str, Any]:
        totals = self.loop.totals if self.loop else Totals()
        return {**totals.as_json(), "seconds": round(time.monotonic() - self.started, 2)}


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
    run, session = new_id("r"), new_id("s")
    folder = request.home / RUNS / run
    with closing(Transcripts(request.home / DATABASE)) as transcripts:
        recorder = Recorder(transcripts, run, session, listeners, [key.value] if key else [])
        device = request.settings.device or "(the only attached phone)"
        notes = tuple(image.note for image in plan.images)
        recorder.record(
            RunStarted(
                request.task, device, chosen.profile.name, chosen.model, chosen.protocol, notes
            )
        )
        finished = _run_guarded(request, chosen, key, plan, folder, cancel, recorder)
        recorder.record(finished)
    return RunResult(run, session, folder, finished)


def provider_settings(settings: Settings) -> ProviderSettings:
    """The provider part of the settings; there is no silent default for where data goes."""
    from bridge.providers.settings import ProviderSettings

    if settings.provider is None:
        if settings.base_url is None:
            raise ConfigurationError(
                "no model provider is configured",
                advice="name one with --provider; --provider demo needs no key and no model",
            )
        name = "custom"
    else:
        name = settings.provider
    return ProviderSettings(
        name,
        settings.base_url or "",
        settings.model or "",
        settings.quirk or "",
        settings.wire or "",
        settings.protocol or "",
        settings.thinking or "",
        settings.web_search,
        settings.pictures,
        settings.reasoning,
        settings.context_window,
        settings.request,
        settings.headers,
        settings.record or "",
        settings.debug_http or "",
    )


def new_id(kind: str) -> str:
    """A fresh id that sorts by time: ``r-20260131-093015-1f2e3d``."""
    return f"{kind}-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"


@contextmanager
def cancel_on_signals(cancel: CancelScope) -> Iterator[None]:
    """SIGINT and SIGTERM cancel; a second one leaves at once with 130 (the record stays whole,
    an owned virtual phone ends with its owner)."""

    def on_signal(_number: int, _frame: object) -> None:
        if cancel.cancelled:
            os._exit(130)
        cancel.cancel()

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, on_signal) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _run_guarded(
    request: RunRequest,
    chosen: ResolvedProvider,
    key: Key | None,
    plan: RunPlan,
    folder: Path,
    cancel: CancelScope,
    recorder: Recorder,
) -> RunFinished:
    progress = _Progress()
    try:
        with ExitStack() as stack:
            _open_and_run(request, chosen, key, plan, folder, cancel, recorder, stack, progress)
    except BridgeError as error:
        if progress.answer is None:
            return _ended_by(error, cancel, progress)
        recorder.record(Notice(0, f"after the answer: {error.message}"))
    except Exception as error:
        if request.debug:
            raise
        fault = BridgeError(
            f"internal error: {type(error).__name__}: {error}", advice="run again with --debug"
        )
        return _ended_by(fault, cancel, progress)
    return _answered(progress)


def _open_and_run(
    request: RunRequest,
    chosen: ResolvedProvider,
    key: Key | None,
    plan: RunPlan,
    folder: Path,
    cancel: CancelScope,
    recorder: Recorder,
    stack: ExitStack,
    progress: _Progress,
) -> None:
    from bridge.cst.carriers import CARRIERS
    from bridge.providers.opening import open_provider
    from bridge.store.redaction import Redactor
    from device_tools.executor import open_phone_tools

    def note(text: str) -> None:
        recorder.record(Notice(progress.loop.totals.turns if progress.loop else 0, text))

    settings = request.settings
    folder.mkdir(parents=True, mode=0o700)
    clean = Redactor([key.value] if key else []).text
    model = stack.enter_context(open_provider(chosen, key, cancel, on_retry=note, clean=clean))
    target = stack.enter_context(open_target(settings.device, request.home, cancel, folder))
    stack.enter_context(hold_device(request.home, target.serial, f"run {folder.name}"))
    rule = chosen.profile.image
    phone = stack.enter_context(open_phone_tools(target.serial, target.address, cancel, rule=rule))
    note(f"phone {target.serial}")
    policy = Policy(
        lambda: group_switches(request.home),
        request.allow,
        request.deny,
        settings.ask,
        request.approve,
    )
    tools = Tools(phone, PHONE_TOOLS, policy, note)
    carrier = CARRIERS[chosen.protocol]
    progress.loop = AgentLoop(
        model, carrier, tools, recorder, _SystemClock(), cancel, plan.limits, chosen.prices
    )
    progress.answer = progress.loop.run(request.task, plan.images)


def _answered(progress: _Progress) -> RunFinished:
    answer = progress.answer
    if answer is None:
        raise AssertionError("a run ends with an answer or an error")
    status = RunStatus.DONE if answer.success else RunStatus.FAILED
    return RunFinished(
        status,
        0 if answer.success else 1,
        answer.summary,
        answer.output,
        error="" if answer.success else "model_reported_failure",
        totals=progress.totals(),
    )


def _ended_by(error: BridgeError, cancel: CancelScope, progress: _Progress) -> RunFinished:
    # a socket closed by cancel may surface as any error of whoever was waiting on it
    if cancel.cancelled and not isinstance(error, Cancelled):
        error = Cancelled("cancelled")
    status = RunStatus.FAILED
    if isinstance(error, Cancelled):
        status = RunStatus.CANCELLED
    elif isinstance(error, LimitReached):
        status = RunStatus.LIMIT
    return RunFinished(
        status,
        error.exit_code,
        error.message,
        error=type(error).__name__,
        advice=error.advice,
        totals=progress.totals(),
    )
