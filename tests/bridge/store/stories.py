"""Small runs for the tests of the record."""

from __future__ import annotations

from bridge.conversation.events import (
    AssistantText,
    CallFinished,
    CallIntended,
    ResponseFinished,
    ResponseStarted,
    RunFinished,
    RunStarted,
    RunStatus,
)
from bridge.store.journal import Recorder
from bridge.store.redaction import Redactor
from bridge.store.transcripts import Transcripts
from device_tools.schema import RiskGroup


def begin(transcripts: Transcripts, run: str, session: str, task: str = "the task") -> Recorder:
    """A run that has said nothing yet."""
    recorder = Recorder(transcripts, run, session)
    recorder.record(RunStarted(task, "virtual", "demo", "demo-rules", "ctl-heredoc"))
    return recorder


def intended(turn: int, call_id: str = "c1") -> CallIntended:
    return CallIntended(turn, call_id, "tap", RiskGroup.DIRECT, {"x": turn}, f"call {call_id} tap")


def finished(turn: int, call_id: str = "c1", text: str = "tapped") -> CallFinished:
    return CallFinished(turn, call_id, "tap", RiskGroup.DIRECT, "DONE", 0, "", text, 1.0)


def take_turn(recorder: Recorder, turn: int, said: str = "", text: str = "tapped") -> None:
    """One whole turn with one call."""
    said = said or f"turn {turn}"
    recorder.record(ResponseStarted(turn))
    recorder.record(AssistantText(turn, said))
    recorder.record(intended(turn))
    recorder.record(finished(turn, text=text))
    recorder.record(ResponseFinished(turn, "client_stop", said, 10, 1, 5.0))


def end(recorder: Recorder, summary: str = "done", output: str = "") -> None:
    recorder.record(RunFinished(RunStatus.DONE, 0, summary, output))


def end_undelivered(transcripts: Transcripts, run: str, summary: str = "done") -> None:
    """End a run as a process does that dies before it hands the result to the session."""
    ending = Redactor().redact(RunFinished(RunStatus.DONE, 0, summary), run, 2_000_000_000.0)
    transcripts.finish_run(ending)


def whole_run(
    transcripts: Transcripts,
    run: str,
    session: str,
    task: str = "the task",
    turns: int = 1,
    *,
    delivered: bool = True,
) -> None:
    recorder = begin(transcripts, run, session, task)
    for turn in range(1, turns + 1):
        take_turn(recorder, turn)
    if delivered:
        end(recorder, f"{task}: done")
    else:
        end_undelivered(transcripts, run, f"{task}: done")
