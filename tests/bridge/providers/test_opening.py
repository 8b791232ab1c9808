from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.conversation.messages import ModelRequest, UserMessage
from bridge.conversation.stream import Finish, FinishReason, TextDelta
from bridge.errors import ProviderError
from bridge.providers.endpoint import HttpLimits
from bridge.providers.keys import Key
from bridge.providers.opening import open_provider
from bridge.providers.settings import ProviderSettings, resolve
from device_tools.cancel import CancelScope
from device_tools.catalog import PHONE_TOOLS
from tests.doubles.provider_server import DONE, Answer, ScriptedServer, chat_answer, chat_chunk

REQUEST = ModelRequest("s", (UserMessage("go home"),))


def test_a_local_server_needs_no_key() -> None:
    """Any profile with a base URL on this machine works without a key."""
    with ScriptedServer([chat_answer("hi")]) as server:
        chosen = resolve(ProviderSettings("openai", server.base_url))
        with (
            open_provider(chosen, None, CancelScope()) as provider,
            provider.stream(REQUEST) as events,
        ):
            texts = [each.text for each in events if isinstance(each, TextDelta)]
        assert "".join(texts) == "hi"
        assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize(
    ("quirk", "reason"), [("", FinishReason.STOP), ("stop-with-calls", FinishReason.TOOL_CALLS)]
)
def test_the_quirk_reaches_the_provider_only_when_asked_for(
    quirk: str, reason: FinishReason
) -> None:
    """A stop behind native calls is a tool reason with the quirk, and noted; else it stays one."""
    call = {"index": 0, "id": "a", "function": {"name": "current_app", "arguments": "{}"}}
    reply = Answer([chat_chunk({"tool_calls": [call]}), chat_chunk(finish="stop"), DONE])
    notices: list[str] = []
    with ScriptedServer([reply]) as server:
        chosen = resolve(ProviderSettings("custom", server.base_url, "m", quirk))
        request = replace(REQUEST, tools=PHONE_TOOLS)
        with (
            open_provider(chosen, None, CancelScope(), on_retry=notices.append) as provider,
            provider.stream(request) as events,
        ):
            *_, finish = events
    assert finish == Finish(reason, "stop")
    assert len(notices) == bool(quirk)


def test_comments_as_data_are_skipped_only_when_asked_for() -> None:
    """A proxy that sends them breaks the answer, unless the user knows it."""
    reply = Answer([b"data: : keep-alive\n\n", chat_chunk({"content": "hi"}, "stop"), DONE])
    with ScriptedServer([reply, reply]) as server:
        for quirk in ("comments-as-data", ""):
            chosen = resolve(ProviderSettings("custom", server.base_url, "m", quirk))
            with open_provider(chosen, None, CancelScope()) as provider:
                if quirk:
                    with provider.stream(REQUEST) as events:
                        assert TextDelta("hi") in list(events)
                else:
                    with pytest.raises(ProviderError), provider.stream(REQUEST) as events:
                        list(events)


def test_a_proxy_is_not_used_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """HTTP_PROXY without NO_PROXY does not lead local requests astray."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with (
        open_provider(resolve(ProviderSettings()), None, CancelScope()) as provider,
        provider.stream(REQUEST) as events,
    ):
        *_, finish = events
    assert finish == Finish(FinishReason.STOP, "stop")


@pytest.mark.parametrize(
    ("thinking", "sent"),
    [
        ("", {"reasoning_effort": "high", "chat_template_kwargs": {"enable_thinking": True}}),
        ("off", {}),
        ("low", {"reasoning_effort": "high", "chat_template_kwargs": {"enable_thinking": True}}),
    ],
)
def test_thinking_off_takes_overrides_out_of_the_custom_body(
    thinking: str, sent: dict[str, object]
) -> None:
    """The user's own fields stay, those about thinking only while thinking is not off; an effort
    for a model that is not known to reason is not sent, and that is said."""
    extra = {
        "reasoning_effort": "high",
        "chat_template_kwargs": {"enable_thinking": True},
        "temperature": 0,
    }
    notices: list[str] = []
    with ScriptedServer([chat_answer("x")]) as server:
        chosen = resolve(
            ProviderSettings(
                "custom",
                server.base_url,
                "m",
                thinking=thinking,
                request=extra,
                headers={"X-Title": "t"},
            )
        )
        with (
            open_provider(
                chosen, Key("k", "X"), CancelScope(), on_retry=notices.append
            ) as provider,
            provider.stream(REQUEST) as events,
        ):
            list(events)
        [request] = server.requests
    standard = {"model", "messages", "stream", "stream_options"}
    assert {k: v for k, v in request.json.items() if k not in standard} == {
        "temperature": 0,
        **sent,
    }
    assert request.headers["x-title"] == "t"
    assert request.headers["authorization"] == "Bearer k"
    assert [("not known to reason" in each) for each in notices] == [True] * (thinking == "low")


def test_a_proxy_from_the_environment_leads_to_other_machines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The request for another host goes to HTTP_PROXY, with its whole address; NO_PROXY counts."""
    chosen = resolve(ProviderSettings("custom", "http://no-such-host.invalid/v1", "m"))
    with ScriptedServer([chat_answer("hi")]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        with (
            open_provider(chosen, None, CancelScope()) as provider,
            provider.stream(REQUEST) as events,
        ):
            *_, finish = events
        assert finish == Finish(FinishReason.STOP, "stop")
        assert [each.path for each in proxy.requests] == [
            "http://no-such-host.invalid/v1/chat/completions"
        ]
        monkeypatch.setenv("NO_PROXY", "no-such-host.invalid")
        with (
            open_provider(chosen, None, CancelScope(), limits=HttpLimits(attempts=1)) as provider,
            pytest.raises(ProviderError, match="cannot be resolved"),
            provider.stream(REQUEST),
        ):
            pass
        assert len(proxy.requests) == 1


@pytest.mark.parametrize(
    ("wire", "path"),
    [
        ("chat", "/v1/chat/completions"),
        ("responses", "/v1/responses"),
        ("anthropic", "/v1/messages"),
    ],
)
def test_every_wire_is_opened_by_its_name(wire: str, path: str) -> None:
    """The request goes to the wire's own path with the key in the wire's own header."""
    busy = Answer([b"no"], 400, "text/plain")
    with ScriptedServer([busy]) as server:
        chosen = resolve(ProviderSettings("custom", server.base_url, "m", wire=wire))
        with (
            open_provider(chosen, Key("k-1", "X"), CancelScope()) as provider,
            pytest.raises(ProviderError),
            provider.stream(REQUEST),
        ):
            pass
        [request] = server.requests
    assert request.path == path
    assert "k-1" in request.headers.get("authorization", "") + request.headers.get("x-api-key", "")
    assert request.json["model"] == "m"
    assert request.json["stream"] is True
