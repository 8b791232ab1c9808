from __future__ import annotations

import threading

import pytest

from bridge.conversation.messages import ModelRequest, UserMessage
from bridge.conversation.stream import Finish, FinishReason, StreamEvent, TextDelta, Usage
from bridge.errors import ProviderError
from bridge.providers.chat_completions import ChatWire
from bridge.providers.demo.server import DemoServer
from bridge.providers.endpoint import Server
from bridge.providers.provider import HttpProvider
from bridge.providers.wire import RequestOptions
from device_tools.cancel import CancelScope


def ask(server: DemoServer, task: str, key: str | None = None) -> list[StreamEvent]:
    address = Server(server.base_url, key or server.key)
    provider = HttpProvider(
        "demo", ChatWire(), RequestOptions(server.model), address, CancelScope()
    )
    with provider.stream(ModelRequest("s", (UserMessage(task),))) as events:
        return list(events)


def test_the_demo_answers_over_http_in_small_pieces() -> None:
    """The planner's frames arrive as a stream of deltas with a reason and usage."""
    with DemoServer() as server:
        events = ask(server, "turn off Wi-Fi")
    texts = [each.text for each in events if isinstance(each, TextDelta)]
    assert len(texts) > 3
    assert "".join(texts) == "[demo] look at the screen\ncall d1.2 observe_screen\nend\n"
    assert events[-1] == Finish(FinishReason.STOP, "stop")
    assert any(isinstance(each, Usage) and each.output_tokens for each in events)


def test_the_demo_serves_only_who_has_the_key() -> None:
    """Another process on this machine cannot use the server."""
    with DemoServer() as server, pytest.raises(ProviderError, match="401"):
        ask(server, "go home", key="guess")


def test_no_thread_is_left_behind() -> None:
    """Closing the server ends its threads and its port."""
    before = threading.active_count()
    with DemoServer() as server:
        ask(server, "go home")
        assert server.base_url.startswith("http://127.0.0.1:")
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and thread.name.startswith("Thread-"):
            thread.join(timeout=2)
    assert threading.active_count() <= before
    with pytest.raises(ProviderError, match="no connection"):
        ask(server, "go home")
