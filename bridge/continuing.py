"""``bridge continue``: what a new run of a session takes over from the runs before it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge import config
from bridge.errors import ConfigurationError
from bridge.store.continuation import continuation
from bridge.store.transcripts import Transcripts

if TYPE_CHECKING:
    from bridge.conversation.messages import Message
    from bridge.store.sessions import RunSummary

UNNAMED_DEVICE = "(the only attached phone)"
"""What the record says of a run that named no phone."""
_OF_THE_MODEL = ("model", "protocol", "base_url")


@dataclass(frozen=True)
class Past:
    """The session, its newest run, and what was said in it, redacted."""

    session: str
    run: str
    history: tuple[Message, ...]


def take_up(home: Path, name: str, flags: Mapping[str, Any]) -> tuple[config.Loaded, Past]:
    """The settings of a run that continues ``name`` (a run or session), and the past it knows.

    Phone, provider, model, protocol and server are those of the session's newest run unless
    ``flags`` say otherwise; another provider brings its own.

    Raises:
        RecordError: no such session, or one of its runs is going on.
        ConfigurationError: its provider cannot be used again, or a setting is wrong.
    """
    with closing(Transcripts(home / "bridge.db")) as transcripts:
        found = continuation(transcripts, name)
        newest = found.newest
        started = next(transcripts.events(newest.id))
    given = {key: value for key, value in flags.items() if value is not None}
    loaded = config.load({**_defaults(newest, started, given), **given})
    return loaded, Past(found.session, newest.id, found.history)


def _defaults(
    newest: RunSummary, started: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if newest.device != UNNAMED_DEVICE:
        values["device"] = newest.device
    if given.get("provider") not in (None, newest.provider):
        return values
    if newest.provider == "replay" and "provider" not in given:
        raise ConfigurationError(
            f"run {newest.id} was played back from a recording; there is no model to go on with",
            advice="name one with --provider",
        )
    if newest.provider != config.load().settings.provider:
        values["provider"] = newest.provider
    values |= {key: started[key] for key in _OF_THE_MODEL if started.get(key)}
    if "base_url" in given:
        values.pop("base_url", None)
    return values
