"""``bridge steer|pause|resume|cancel``: orders to a run of another terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from bridge.cli.common import JsonFlag, print_json, printable

Name = Annotated[
    str, typer.Argument(metavar="RUN", help="A run or its session, or the beginning of the id.")
]


def steer(
    name: Name,
    text: Annotated[str, typer.Argument(help="What to tell the model, in one quoted text.")],
    as_json: JsonFlag = False,
) -> None:
    """Tell a going run something; its next turn reads it."""
    _order(name, {"command": "steer", "text": text}, as_json)


def pause(name: Name, as_json: JsonFlag = False) -> None:
    """Hold a going run before its next request or call."""
    _order(name, {"command": "pause"}, as_json)


def resume(name: Name, as_json: JsonFlag = False) -> None:
    """Let a paused run go on."""
    _order(name, {"command": "resume"}, as_json)


def cancel(name: Name, as_json: JsonFlag = False) -> None:
    """End a going run now; what it did stays in the record."""
    _order(name, {"command": "cancel"}, as_json)


def _order(name: str, order: Mapping[str, Any], as_json: bool) -> None:
    from bridge.config import home_folder
    from bridge.control.client import find_running, send

    home = home_folder()
    run = find_running(home, name)
    reply = send(home, run, order)
    if as_json:
        print_json({"v": 1, "type": "control", "run": run, "state": reply["state"]})
        return
    number = f" as message {reply['number']}" if "number" in reply else ""
    paused = "; the run is paused" if reply.get("paused") else ""
    print(printable(f"run {run}: {reply['state']}{number}{paused}"))
