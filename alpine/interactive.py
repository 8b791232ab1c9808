"""An interactive shell of the phone for a person: this computer's terminal becomes the phone's.

With a terminal on standard input the phone gives a PTY: keys go through as they are (Ctrl-C too),
and the window's size follows. Without one the shell reads its commands from the pipe, and its
streams stay apart. What the shell has started ends with it.
"""

from __future__ import annotations

import os
import secrets
import select
import signal
import sys
import termios
import threading
import time
import tty
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from alpine.channel import EXIT, STDERR, ShellChannel, open_channel
from alpine.identity import ShellForm
from alpine.supervisor import ShellProcessSupervisor, guard_functions
from device_tools.errors import BridgeError
from device_tools.limits import Limit

OPEN = Limit("an interactive shell", 7 * 86400.0)
_PIECE = 64 * 1024

_KEEPER = """
trap : HUP INT QUIT TERM
dir=$2
shift 2
if [ -z "$dir" ] || cd -- "$dir"; then
  BRIDGE_TOKEN="$token" "$@" <&3 3<&-
  code=$?
else
  code=1
fi
stop
exit $code"""
"""Stays behind the shell: daemons of it would hold the PTY open for ever. Descriptor 3 is where
``guard_functions`` puts the standard input."""


def interact(supervisor: ShellProcessSupervisor, form: ShellForm, cwd: str = "") -> int:
    """Run a shell on this process's own streams until it ends; its exit code.

    Raises:
        DeviceError, Cancelled: the terminal is as it was before.
    """
    token = secrets.token_hex(16)
    is_terminal = os.isatty(sys.stdin.fileno())
    kind = os.environ.get("TERM", "dumb") if is_terminal else ""
    options = f"TERM={kind},pty" if is_terminal else "raw"
    line = form.script(guard_functions() + _KEEPER, token, cwd, *form.shell)
    whole = False
    try:
        with open_channel(supervisor.phone, line, options=options) as channel:
            with ExitStack() as stack:
                if is_terminal:
                    stack.enter_context(_raw_terminal())
                    stack.enter_context(_window(channel))
                code = _converse(channel)
            whole = True
            return code
    finally:
        if not whole and not supervisor.phone.cancel.cancelled:
            with suppress(BridgeError):
                supervisor.sweep(token, form)


def _converse(channel: ShellChannel) -> int:
    closing, wake = os.pipe()
    reader = threading.Thread(target=_forward, args=(channel, closing), daemon=True)
    reader.start()
    try:
        end = time.monotonic() + OPEN.seconds
        while (packet := channel.read(end, OPEN)).kind != EXIT:
            _write(2 if packet.kind == STDERR else 1, packet.data)
        return packet.data[0]
    finally:
        os.close(wake)
        reader.join()
        os.close(closing)


def _forward(channel: ShellChannel, closing: int) -> None:
    """Standard input to the phone, until it ends or the shell has."""
    source = sys.stdin.fileno()
    try:
        while closing not in select.select([source, closing], [], [])[0]:
            data = os.read(source, _PIECE)
            if not data:
                channel.close_stdin()
                return
            channel.send(data)
    except (BridgeError, OSError):
        return  # whoever reads the shell hears of it


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


@contextmanager
def _raw_terminal() -> Iterator[None]:
    source = sys.stdin.fileno()
    before = termios.tcgetattr(source)
    # what was typed already is kept
    tty.setraw(source, termios.TCSADRAIN)
    try:
        yield
    finally:
        termios.tcsetattr(source, termios.TCSADRAIN, before)


@contextmanager
def _window(channel: ShellChannel) -> Iterator[None]:
    """The phone's PTY has the size of this terminal, now and when it changes.

    The handler only sets a flag for a thread: sending takes a lock that the interrupted code may
    hold.
    """
    changed = threading.Semaphore(1)
    over = threading.Event()

    def follow() -> None:
        while changed.acquire() and not over.is_set():
            try:
                size = os.get_terminal_size(sys.stdin.fileno())
                channel.resize(size.lines, size.columns)
            except (BridgeError, OSError):
                return

    thread = threading.Thread(target=follow, daemon=True)
    before = signal.signal(signal.SIGWINCH, lambda _number, _frame: changed.release())
    thread.start()
    try:
        yield
    finally:
        signal.signal(signal.SIGWINCH, before)
        over.set()
        changed.release()
        thread.join(1.0)
