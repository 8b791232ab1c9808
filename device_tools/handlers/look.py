"""Looking at the screen and waiting for what is on it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from device_tools.errors import ActionRefused
from device_tools.observation import (
    Observation,
    Tree,
    as_json,
    as_text,
    secrets_shown,
    storable_text,
)
from device_tools.result import ToolResult, done
from device_tools.session import ScreenSession

Arguments = Mapping[str, Any]
_POLL_SECONDS = 0.1


def observe_screen(session: ScreenSession, arguments: Arguments) -> ToolResult:
    seen = session.observe(
        screenshot=arguments.get("screenshot", True), numbers=arguments.get("numbers", False)
    )
    return observation_result(seen, arguments.get("first", 1))


def wait_for(session: ScreenSession, arguments: Arguments) -> ToolResult:
    text, gone = arguments["text"], arguments.get("gone", False)
    seconds = arguments.get("timeout_ms", 5000) / 1000
    end = time.monotonic() + seconds
    while True:
        if _shows(session.look(), text) is not gone:
            return done(f"{text!r} is {'gone' if gone else 'on the screen'}")
        if time.monotonic() >= end:
            state = "still" if gone else "not"
            raise ActionRefused(f"{text!r} is {state} on the screen after {seconds:g} s")
        session.phone.cancel.wait(_POLL_SECONDS)


def observation_result(observation: Observation, first: int = 1) -> ToolResult:
    """An observation as the model gets it."""
    images = (observation.screenshot,) if observation.screenshot else ()
    result = done(as_text(observation, first), images=images, **as_json(observation))
    return replace(
        result, secrets=secrets_shown(observation), storable=storable_text(observation, first)
    )


def _shows(tree: Tree, text: str) -> bool:
    wanted = " ".join(text.split()).casefold()
    stack = list(tree.hierarchy.windows)
    while stack:
        node = stack.pop()
        shown = f"{node.text}\n{node.description}"
        if not node.has("password") and wanted in " ".join(shown.split()).casefold():
            return True
        stack += node.children
    return False
