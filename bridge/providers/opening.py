"""A resolved provider made ready for a run: its wire, its key, and who listens to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bridge.providers.answer_redaction import FindSecrets, Span
from bridge.providers.endpoint import HttpLimits, Server
from bridge.providers.keys import Key
from bridge.providers.provider import HttpProvider, ignore_notice
from bridge.providers.settings import ResolvedProvider
from bridge.providers.tap import Tap
from bridge.providers.wire import RequestOptions
from bridge.providers.wires import open_wire
from device_tools.cancel import CancelScope


def no_secrets(_text: str) -> Sequence[Span]:
    """For callers that write no recording."""
    return ()


@contextmanager
def open_provider(
    chosen: ResolvedProvider,
    key: Key | None,
    cancel: CancelScope,
    *,
    limits: HttpLimits | None = None,
    on_retry: Callable[[str], None] = ignore_notice,
    find: FindSecrets = no_secrets,
) -> Iterator[HttpProvider]:
    """The provider for the length of a run (the servers of demo and replay live as long).

    ``on_retry`` is told of each retry and of each setting without effect; ``find`` knows
    the secrets that a recording must not have; it is asked when the context ends.

    Raises:
        ConfigurationError: a recording or debug file that cannot be made.
    """
    settings = chosen.settings
    for text in _without_effect(chosen):
        on_retry(text)
    with ExitStack() as stack:
        server = _server(chosen, key, stack)
        wire = open_wire(
            chosen.wire,
            chosen.profile,
            quirk=settings.quirk,
            note=on_retry,
        )
        yield HttpProvider(
            chosen.profile.name,
            wire,
            options_of(chosen),
            server,
            cancel,
            limits=limits or settings.limits,
            on_retry=on_retry,
            taps=_taps(chosen, find, stack),
            extra_headers=settings.headers,
        )


def options_of(chosen: ResolvedProvider) -> RequestOptions:
    """What each request carries besides the conversation."""
    settings = chosen.settings
    return RequestOptions(
        chosen.model,
        chosen.profile.max_tokens_field,
        settings.thinking,
        chosen.reasons,
        settings.web_search,
        settings.pictures,
        settings.request,
    )


def _without_effect(chosen: ResolvedProvider) -> Iterator[str]:
    settings = chosen.settings
    if settings.thinking not in ("", "off") and not chosen.reasons:
        yield f"thinking {settings.thinking} is not sent: {chosen.model} is not known to reason"
    if settings.web_search and chosen.wire == "chat":
        yield "web search is not sent: the chat wire has none"


def _server(chosen: ResolvedProvider, key: Key | None, stack: ExitStack) -> Server:
    if chosen.recorded is not None:
        from bridge.providers.replay import ReplayServer

        replay = stack.enter_context(ReplayServer(chosen.recorded))
        return Server(replay.base_url, replay.key)
    if chosen.profile.name == "demo":
        from bridge.providers.demo.server import DemoServer

        demo = stack.enter_context(DemoServer())
        return Server(demo.base_url, demo.key)
    if key is None:
        return Server(chosen.base_url, key_source=chosen.key_variables[-1])
    return Server(chosen.base_url, key.value, key.source)


def _taps(chosen: ResolvedProvider, find: FindSecrets, stack: ExitStack) -> list[Tap]:
    settings = chosen.settings
    taps: list[Tap] = []
    if settings.record:
        from bridge.providers.recording import open_recording

        about = {
            "provider": chosen.profile.name,
            "model": chosen.model,
            "wire": chosen.wire,
            "protocol": chosen.protocol,
        }
        path = Path(settings.record).expanduser()
        taps.append(stack.enter_context(open_recording(path, find, about)))
    if settings.debug_http:
        from bridge.providers.debug_log import open_debug_log

        path = Path(settings.debug_http).expanduser()
        taps.append(stack.enter_context(open_debug_log(path)))
    return taps
