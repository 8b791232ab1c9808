"""Starts, finds and stops virtual phones; each is a process of its own (``process.py``).

A phone's folder holds ``phone.json`` while it runs (mode 0600: it has the control token), then
``state.json`` and ``screen.png``. Named phones live in ``HOME/virtual/NAME``.
"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from device_tools.cancel import CancelScope
from device_tools.errors import Cancelled, VirtualPhoneError
from device_tools.virtual.control import ask
from device_tools.virtual.userland.roots import PROFILES

START_SECONDS = 20.0
STOP_SECONDS = 10.0
"""Until a phone that was asked to end is killed."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_POLL_SECONDS = 0.02
_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "BRIDGE_ADB", "SYSTEMROOT", "USER")


@dataclass(frozen=True)
class VirtualHandle:
    """``serial`` is attached to the private adb server on 127.0.0.1:``adb_port``."""

    name: str
    serial: str
    adb_port: int
    pid: int
    folder: Path


class VirtualPhone:
    """A phone this process started. As a context manager it is stopped at the end."""

    def __init__(self, handle: VirtualHandle, process: subprocess.Popen[bytes]) -> None:
        self.handle = handle
        self._process = process

    def __enter__(self) -> VirtualPhone:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def state(self) -> dict[str, Any]:
        """The phone's state as ``state.json`` will have it, with counters of what was injected."""
        return state(self.handle)

    def screenshot(self) -> bytes:
        """PNG."""
        return screenshot(self.handle)

    def stop(self) -> None:
        """End the phone and wait; its final state is in the folder then. May be called twice."""
        if self._process.stdin:
            self._process.stdin.close()
        if self._process.poll() is None:
            self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        _clean(self.handle.folder)


def start(
    folder: Path,
    *,
    name: str,
    owned: bool = True,
    root: str = "none",
    timeout: float = START_SECONDS,
    cancel: CancelScope | None = None,
) -> VirtualPhone:
    """Start a phone that keeps its files in ``folder``.

    ``owned``: it ends with this process, however that ends. ``root``: how it is rooted, a name of
    ``userland.roots.PROFILES``. Raises VirtualPhoneError, Cancelled.
    """
    if not is_name(name):
        raise VirtualPhoneError(
            f"not a name for a phone: {name!r}", advice="use letters, digits, _.-"
        )
    check_root(root)
    folder = folder.resolve()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if (running := read_handle(folder)) is not None:
        raise VirtualPhoneError(
            f"virtual phone {running.name!r} runs already: {running.serial}",
            advice=f"use it with --device {running.name}, or end it: "
            f"bridge virtual stop {running.name}",
        )
    _clean(folder)
    process = _spawn(folder, name, owned, root)
    scope = cancel or CancelScope()
    try:
        with scope.closing(process.kill):
            facts = _first_line(process, folder, timeout)
        scope.check()
    except (VirtualPhoneError, Cancelled, KeyboardInterrupt):
        process.kill()
        process.wait()
        if process.stdin:
            process.stdin.close()
        _clean(folder)
        scope.check()
        raise
    finally:
        if process.stdout:
            process.stdout.close()
    return VirtualPhone(_handle(facts, folder), process)


def is_name(name: str) -> bool:
    """Whether a phone may be called so; the name is also that of its folder."""
    return _NAME.fullmatch(name) is not None


def check_root(root: str) -> None:
    """Raises VirtualPhoneError when no profile has that name."""
    if root not in PROFILES:
        raise VirtualPhoneError(
            f"no way to root a virtual phone: {root!r}", advice=f"use one of {', '.join(PROFILES)}"
        )


def list_running(home: Path) -> list[VirtualHandle]:
    """The named phones that run, by name."""
    folders = sorted((home / "virtual").glob("*/phone.json"))
    found = (read_handle(path.parent) for path in folders)
    return [handle for handle in found if handle is not None]


def find(home: Path, name: str) -> VirtualHandle:
    """Raises VirtualPhoneError when no phone of that name runs."""
    handle = read_handle(home / "virtual" / name) if is_name(name) else None
    if handle is None:
        running = ", ".join(phone.name for phone in list_running(home))
        raise VirtualPhoneError(
            f"no virtual phone {name!r} runs",
            advice=f"running: {running}" if running else "start one: bridge virtual start",
        )
    return handle


def stop(home: Path, name: str) -> None:
    """End a named phone and wait. Raises VirtualPhoneError when it does not run."""
    handle = find(home, name)
    _ask(handle.folder, "stop")
    end = time.monotonic() + STOP_SECONDS
    while _alive(handle.pid):
        if time.monotonic() > end:
            os.kill(handle.pid, signal.SIGKILL)
            break
        time.sleep(_POLL_SECONDS)
    _clean(handle.folder)


def state(handle: VirtualHandle) -> dict[str, Any]:
    """The state of a running phone. Raises VirtualPhoneError."""
    found: dict[str, Any] = json.loads(_ask(handle.folder, "state"))
    return found


def screenshot(handle: VirtualHandle) -> bytes:
    """The screen of a running phone as PNG. Raises VirtualPhoneError."""
    return _ask(handle.folder, "screenshot")


def read_handle(folder: Path) -> VirtualHandle | None:
    """The phone that runs in the folder; None when it does not answer any more."""
    try:
        facts = json.loads((folder / "phone.json").read_text())
        ask(facts["control_port"], facts["token"], "state")
    except (OSError, ValueError, VirtualPhoneError):
        return None
    return _handle(facts, folder)


def _ask(folder: Path, what: str) -> bytes:
    try:
        facts = json.loads((folder / "phone.json").read_text())
    except (OSError, ValueError) as error:
        raise VirtualPhoneError("the virtual phone has ended") from error
    return ask(facts["control_port"], facts["token"], what)


def _spawn(folder: Path, name: str, owned: bool, root: str) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-P", "-m", "device_tools.virtual"]
    argv += ["--folder", str(folder), "--name", name, "--root", root]
    argv += ["--owned"] if owned else []
    package_root = str(Path(__file__).resolve().parents[2])
    # few variables, so that no secret of the run is in the phone
    env = {key: os.environ[key] for key in _ENVIRONMENT if key in os.environ}
    paths = [package_root, *filter(None, [os.environ.get("PYTHONPATH")])]
    with open(folder / "phone.log", "wb") as log:
        return subprocess.Popen(
            argv,
            stdin=subprocess.PIPE if owned else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            env={**env, "PYTHONPATH": os.pathsep.join(paths)},
            cwd="/",
            start_new_session=True,
        )


def _first_line(process: subprocess.Popen[bytes], folder: Path, timeout: float) -> dict[str, Any]:
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], timeout)
    if not ready:
        raise VirtualPhoneError(f"the virtual phone did not start within {timeout:g} seconds")
    line = process.stdout.readline()
    if not line:
        raise VirtualPhoneError(
            f"the virtual phone ended at once: {_last_words(folder)}",
            advice=f"see {folder / 'phone.log'}",
        )
    facts: dict[str, Any] = json.loads(line)
    if "error" in facts:
        raise VirtualPhoneError(facts["error"], advice=facts["advice"])
    return facts


def _last_words(folder: Path) -> str:
    lines = (folder / "phone.log").read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def _handle(facts: dict[str, Any], folder: Path) -> VirtualHandle:
    return VirtualHandle(facts["name"], facts["serial"], facts["adb_port"], facts["pid"], folder)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with suppress(OSError):
        # a zombie of ours has ended
        os.waitpid(pid, os.WNOHANG)
    return True


def _clean(folder: Path) -> None:
    """Remove what only a running phone needs."""
    with suppress(OSError):
        (folder / "phone.json").unlink()
    shutil.rmtree(folder / "work", ignore_errors=True)
