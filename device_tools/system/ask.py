"""One question to the phone: its answer, or the reason why this phone has none.

Command vectors only; ``AdbPhone.shell`` quotes at the one place that exists. What the phone says is
data: it is cut to a bound before a model sees it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate

from device_tools import limits
from device_tools.adb import AdbPhone, ShellResult
from device_tools.errors import ActionRefused, DeviceError, NotAvailable, Outcome
from device_tools.limits import Limit
from device_tools.result import ToolResult

MAX_TEXT = 16_000
MAX_LINE = 600

_DENIED = ("SecurityException", "Permission Denial", "Permission denied", "Operation not permitted")
_MISSING = (
    "inaccessible or not found", "Can't find service", "Can't find provider",
    "Could not find provider", "Unknown command", "unknown command", "No shell command",
    "Unknown URL", "Unknown URI", "Bad component name",
)  # fmt: skip


def ask(phone: AdbPhone, *argv: str, limit: Limit = limits.SERVICE_READ) -> str:
    """The standard output of a read-only command.

    Raises:
        NotAvailable: this phone lacks the command or service, or does not allow it.
    """
    return answer(phone.shell(argv, limit=limit), argv)


def order(phone: AdbPhone, *argv: str, limit: Limit = limits.SHELL_READ) -> str:
    """What a command that changes the phone said.

    Raises:
        NotAvailable: this phone lacks the command or forbids it.
        ActionRefused: it failed in another way; UNKNOWN when it may have had an effect.
    """
    result = phone.shell(argv, limit=limit)
    text = answer(result, argv)
    if result.code != 0:
        raise ActionRefused(
            f"{argv[0]} failed: {one_line(result.text, 300)}",
            advice="look at the state of the phone before trying again",
            outcome=Outcome.UNKNOWN,
        )
    return text


def answer(result: ShellResult, argv: Sequence[str]) -> str:
    """The answer in ``result``; see ``ask`` for errors. A command may be refused with code 0."""
    out = result.stdout.decode("utf-8", "replace").removeprefix("\ufeff")
    errors = result.stderr.decode("utf-8", "replace")
    # an answer that quotes such words far below its head is still an answer
    head = errors + out[:400] if result.code or errors or len(out) < 400 else ""
    for words, reason in (
        (_DENIED, "it does not allow adb to do this"),
        (_MISSING, "it lacks this"),
    ):
        line = next((line for line in head.splitlines() if any(word in line for word in words)), "")
        if line and (result.code or not out or out.strip() in head):
            raise unavailable(" ".join(argv[:2]), f"{reason} ({one_line(line, 200)})")
    if result.code == 127:
        raise unavailable(argv[0], "there is no such command")
    return out


def unavailable(what: str, reason: str) -> NotAvailable:
    return NotAvailable(f"{what} is not available on this phone: {reason}")


def require_answer(found: object, what: str, text: str) -> None:
    """Raises DeviceError where an answer came that holds nothing we can read."""
    if not found:
        raise DeviceError(f"{what}: the phone's answer cannot be read: {one_line(text, 200)!r}")


def sdk(phone: AdbPhone) -> int:
    """The phone's API level (34 for Android 14); 0 when it does not say."""
    said = ask(phone, "getprop", "ro.build.version.sdk").strip()
    return int(said) if said.isascii() and said.isdigit() else 0


def now(phone: AdbPhone) -> int:
    """The phone's own clock in seconds since the epoch."""
    said = ask(phone, "date", "+%s").strip()
    require_answer(said.isascii() and said.isdigit(), "date", said)
    return int(said)


def one_line(text: str, most: int = MAX_LINE) -> str:
    """``text`` without line breaks and control characters, cut with a mark."""
    flat = "".join(character if character.isprintable() else " " for character in text)
    flat = " ".join(flat.split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"


def moment(milliseconds: int | str | None) -> str:
    """``2026-11-30 09:41:00Z`` from milliseconds since the epoch, "" from anything else."""
    try:
        stamp = datetime.fromtimestamp(int(milliseconds or 0) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return f"{stamp:%Y-%m-%d %H:%M:%S}Z" if milliseconds else ""


def told(facts: Mapping[str, str]) -> ToolResult:
    """Facts as lines for the model, and by name for programs; empty ones are not shown."""
    lines = [f"{name}: {one_line(value, 400)}" for name, value in facts.items() if value]
    data = {name.replace(" ", "_"): value for name, value in facts.items()}
    return ToolResult(Outcome.DONE, 0, "\n".join(lines), data)


def listing(
    lines: Sequence[str], *, total: int | None = None, nothing: str = "nothing found"
) -> str:
    """Lines as one bounded text that says how many it leaves out. ``total`` counts what there is
    when ``lines`` is already a part of it."""
    if not lines:
        return nothing
    sizes = accumulate(len(line) + 1 for line in lines)
    kept = [line for line, size in zip(lines, sizes, strict=True) if size <= MAX_TEXT]
    left = (len(lines) if total is None else total) - len(kept)
    return "\n".join([*kept, *([f"… {left} more, not shown"] if left > 0 else [])])
