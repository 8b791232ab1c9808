"""Orders to a run of another process: find the run, send the order, read the reply."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from bridge.control.protocol import REPLY_SECONDS, address_of, from_line, read_line, to_line
from bridge.errors import ControlError


def find_running(home: Path, name: str) -> str:
    """The id of the going run that ``name`` means: a run or session id, or its beginning.

    Raises:
        ControlError: the run is over.
        RecordError: no such run, or several sessions begin like that.
    """
    from bridge.store.sessions import find
    from bridge.store.transcripts import RUNNING, Transcripts

    with closing(Transcripts(home / "bridge.db")) as transcripts:
        found = find(transcripts.database, name)
    for run in found:
        if run.status == RUNNING:
            return run.id
    last = found[-1]
    raise ControlError(
        f"run {last.id} is over: {last.status}", advice=f'go on with bridge continue {last.id} "…"'
    )


def send(home: Path, run: str, order: Mapping[str, Any]) -> dict[str, Any]:
    """Send one order to ``run``; its reply.

    Raises:
        ControlError: the run is not reachable, or refuses.
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(REPLY_SECONDS)
            connection.connect(address_of(home, run))
            with suppress(BrokenPipeError):  # a refusal may be there already
                connection.sendall(to_line(order))
            line = read_line(connection, bytearray())
    except TimeoutError as error:
        raise ControlError(
            f"run {run} did not reply within {REPLY_SECONDS:g} s", advice="try again"
        ) from error
    except OSError as error:
        raise _unreachable(run) from error
    if line is None:
        raise _unreachable(run)
    reply = from_line(line)
    if not reply.get("ok"):
        raise ControlError(str(reply.get("error")), advice=str(reply.get("advice", "")))
    return reply


def _unreachable(run: str) -> ControlError:
    return ControlError(
        f"run {run} cannot be reached: it is starting or ending", advice="try again in a second"
    )
