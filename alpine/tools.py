"""Executes validated terminal calls: what each tool answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from alpine.catalog import DEFAULT_CHARS, DEFAULT_MILLIS, MAX_MILLIS
from alpine.identity import Identity
from alpine.running import End, Job, Output
from alpine.sessions import Session
from alpine.supervisor import Supervised
from alpine.terminal import Environment, Place, Terminal
from device_tools.errors import BridgeError, Cancelled, InvalidCall, Outcome
from device_tools.result import ToolResult, done, failed
from device_tools.schema import Effect, ValidCall

Arguments = Mapping[str, Any]
Handler = Callable[[Arguments], ToolResult]
Started = Callable[[Supervised], None]

_ALLOWED: Mapping[str, frozenset[str]] = {
    "open": frozenset({"environment", "identity", "cwd"}),
    "exec": frozenset(
        {"environment", "identity", "command", "cwd", "timeout_ms", "merge_stderr", "session_id",
         "async", "max_chars"}
    ),
    "open_and_exec": frozenset(
        {"environment", "identity", "command", "cwd", "timeout_ms", "merge_stderr", "async",
         "max_chars"}
    ),
    "read_async_result": frozenset(
        {"job_id", "offset_chars", "max_chars", "timeout_ms", "close_if_done"}
    ),
    "close": frozenset({"session_id", "job_id"}),
}  # fmt: skip
_NEEDED = {"exec": "command", "open_and_exec": "command", "read_async_result": "job_id"}


class TerminalTools:
    """The tools of one phone's terminals. ``more`` are handlers that others add by name."""

    def __init__(self, terminal: Terminal, more: Mapping[str, Handler] | None = None) -> None:
        self._terminal = terminal
        self._table: Mapping[str, Handler] = {
            "run_command": self._run_command,
            "terminal": self._act,
            **(more or {}),
        }

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._table)

    def execute(self, call: ValidCall) -> ToolResult:
        """Run it once. Faults come back as results.

        Raises:
            Cancelled: with UNKNOWN when the command may have run.
        """
        try:
            self._terminal.phone.cancel.check()
            return self._table[call.spec.name](call.arguments)
        except Cancelled:
            raise
        except BridgeError as error:
            if call.spec.effect is Effect.NONE:
                # a look that failed has changed nothing, whatever was lost on the way
                error.outcome = Outcome.NOT_SENT
            return failed(error)

    def _run_command(self, arguments: Arguments) -> ToolResult:
        output = Output()
        self._terminal.run(
            _place(arguments),
            arguments["command"],
            _seconds(arguments, DEFAULT_MILLIS),
            output,
            merge_stderr=arguments.get("merge_stderr", False),
        )
        return _answer(output, arguments)

    def _act(self, arguments: Arguments) -> ToolResult:
        action = arguments["action"]
        _check(action, arguments)
        actions: Mapping[str, Handler] = {
            "open": self._open,
            "exec": self._exec,
            "open_and_exec": self._open_and_exec,
            "read_async_result": self._read,
            "close": self._close,
        }
        return actions[action](arguments)

    def _open(self, arguments: Arguments) -> ToolResult:
        session = self._terminal.open(_place(arguments))
        return done(f"session {session.id} is open", session_id=session.id)

    def _open_and_exec(self, arguments: Arguments) -> ToolResult:
        session = self._terminal.open(_place(arguments))
        # the session is in the directory already
        inside = {name: value for name, value in arguments.items() if name != "cwd"}
        return self._in_session(session, inside)

    def _exec(self, arguments: Arguments) -> ToolResult:
        if "session_id" not in arguments:
            work = partial(
                self._terminal.run,
                _place(arguments),
                arguments["command"],
                _time(arguments),
                merge_stderr=arguments.get("merge_stderr", False),
            )
            return self._run_or_start(lambda out, started: work(out, started=started), arguments)
        if "identity" in arguments or "environment" in arguments:
            raise InvalidCall(
                "a session keeps the identity and environment it was opened with",
                advice="leave both out, or open another session",
            )
        return self._in_session(self._terminal.session(arguments["session_id"]), arguments)

    def _in_session(self, session: Session, arguments: Arguments) -> ToolResult:
        work = partial(
            session.run,
            arguments["command"],
            _time(arguments),
            cwd=arguments.get("cwd", ""),
            merge_stderr=arguments.get("merge_stderr", False),
        )
        return self._run_or_start(
            lambda out, started: work(out, started=started), arguments, session
        )

    def _run_or_start(
        self,
        work: Callable[[Output, Started], None],
        arguments: Arguments,
        session: Session | None = None,
    ) -> ToolResult:
        if arguments.get("async", False):
            job = self._terminal.start(work)
            data = {"job_id": job.id} | ({"session_id": session.id} if session else {})
            return ToolResult(Outcome.DONE, 0, f"job {job.id} is running", data)
        output = Output()
        work(output, lambda _running: None)
        return _answer(output, arguments, session)

    def _read(self, arguments: Arguments) -> ToolResult:
        job = self._terminal.job(arguments["job_id"])
        job.wait(arguments.get("timeout_ms", 0) / 1000)
        self._terminal.phone.cancel.check()
        result = _progress(job, arguments)
        if job.done and arguments.get("close_if_done", False):
            self._terminal.forget_job(job.id)
        return result

    def _close(self, arguments: Arguments) -> ToolResult:
        if ("session_id" in arguments) == ("job_id" in arguments):
            raise InvalidCall("close needs session_id or job_id, one of them")
        if "session_id" in arguments:
            session = self._terminal.close_session(arguments["session_id"])
            return done(f"session {session.id} is closed")
        job = self._terminal.job(arguments["job_id"])
        if not job.stop():
            raise InvalidCall(f"job {job.id} has not ended yet", advice="close it again")
        self._terminal.forget_job(job.id)
        return done(f"job {job.id} is closed", exit_code=job.output.code)


def _check(action: str, arguments: Arguments) -> None:
    needed = _NEEDED.get(action)
    if needed and needed not in arguments:
        raise InvalidCall(f"terminal.{needed}: {action} needs it", field=needed)
    for name in arguments:
        if name != "action" and name not in _ALLOWED[action]:
            raise InvalidCall(f"terminal.{name}: {action} does not take it", field=name)


def _place(arguments: Arguments) -> Place:
    environment = Environment(arguments.get("environment", Environment.ANDROID))
    default = Identity.ROOT if environment is Environment.LINUX else Identity.USER
    identity = Identity(arguments.get("identity", default))
    if environment is Environment.LINUX and identity is Identity.USER:
        raise InvalidCall("environment linux is entered as root only", field="identity")
    return Place(environment, identity, arguments.get("cwd", ""))


def _time(arguments: Arguments) -> float:
    if arguments.get("async", False):
        return _seconds(arguments, MAX_MILLIS)
    if arguments.get("timeout_ms", 0) > MAX_MILLIS:
        raise InvalidCall(
            f"terminal.timeout_ms is at most {MAX_MILLIS} for a command that is waited for",
            field="timeout_ms",
            advice="set async to true",
        )
    return _seconds(arguments, DEFAULT_MILLIS)


def _seconds(arguments: Arguments, default: int) -> float:
    return max(0.1, float(arguments.get("timeout_ms", default)) / 1000)


def _answer(output: Output, arguments: Arguments, session: Session | None = None) -> ToolResult:
    """A command that is over: DONE with its own exit code."""
    chars = arguments.get("max_chars", DEFAULT_CHARS)
    out, err = output.stdout.summary(chars), output.stderr.summary(chars)
    notes = [_how(output)] if output.code or output.end is not End.EXIT else []
    data: dict[str, Any] = {"stdout": out, "stderr": err, "exit_code": output.code}
    if session is not None:
        data["session_id"] = session.id
        data["session_ended"] = bool(session.ended)
        if session.ended:
            notes.append(f"session {session.id} has ended: {session.ended}")
        elif arguments["action"] == "open_and_exec":
            notes.append(f"session {session.id} is open")
    return _result(output, _text(out, err, notes), data)


def _progress(job: Job, arguments: Arguments) -> ToolResult:
    """A job, over or not: standard output from an offset on, standard error as a whole."""
    if job.error is not None and job.output.code is None:
        raise job.error
    output, chars = job.output, arguments.get("max_chars", DEFAULT_CHARS)
    over = job.done
    part = output.stdout.read(arguments.get("offset_chars", 0), chars)
    err = output.stderr.summary(chars)
    data = {
        "stdout": part.text, "stderr": err, "done": over, "exit_code": output.code,
        "offset_chars": part.start, "next_offset_chars": part.end, "total_chars": part.total,
    }  # fmt: skip
    notes = [f"characters {part.start} to {part.end} of {part.total}"]
    if part.start > arguments.get("offset_chars", 0):
        notes.append("what lies before them was dropped or is not there yet")
    if not over:
        notes.append(f"job {job.id} is still running")
        return ToolResult(Outcome.DONE, 0, _text(part.text, err, notes), data)
    notes.append(f"job {job.id} is over: {_how(output)}")
    return _result(output, _text(part.text, err, notes), data)


def _how(output: Output) -> str:
    if output.end is End.TIMED_OUT:
        return "ended at its time limit"
    if output.end is End.STOPPED:
        return "it was stopped"
    return f"exit code {output.code}"


def _text(out: str, err: str, notes: list[str]) -> str:
    parts = [out.removesuffix("\n")] if out else []
    if err:
        parts.append("[stderr]\n" + err.removesuffix("\n"))
    parts += [f"[{note}]" for note in notes]
    return "\n".join(parts)


def _result(output: Output, text: str, data: Mapping[str, Any]) -> ToolResult:
    code = 255 if output.code is None else output.code
    error = "" if code == 0 else "exit_code"
    if output.end is not End.EXIT:
        error = "timed_out" if output.end is End.TIMED_OUT else "stopped"
    return ToolResult(Outcome.DONE, code, text, data, (), error)
