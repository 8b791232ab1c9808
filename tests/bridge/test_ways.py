"""The way to the model's server, end to end: proxy, private authority, each known provider.

A tunnel stands where name lookup and the internet would be; the program, TLS and HTTP are real.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from bridge.providers.profiles import PROVIDERS, ProviderProfile
from device_tools.virtual import launcher
from tests.bridge.place import Place, certified, checked
from tests.bridge.tunnel import Tunnel
from tests.doubles import anthropic_stream, responses_stream
from tests.doubles.provider_server import Answer, ScriptedServer, chat_answer

CLOUD = [profile for profile in PROVIDERS.values() if profile.base_url.startswith("https:")]
SECRET = "sk-ways0123456789abcdef"
OBSERVE = "call c1 observe_screen\nend\n"


@dataclass(frozen=True)
class Wire:
    """How a provider is spoken to where nothing is set, and what a reply is counted as."""

    path: str
    header: str
    tokens: str
    used: tuple[int, int, int | None, int | None]


CHAT = Wire("/chat/completions", "authorization", "10 in, 5 out", (10, 5, None, None))
WIRES = {
    "openai": Wire(
        "/responses",
        "authorization",
        "100 in, 40 of them cached, 30 out, 11 of them reasoning",
        (100, 30, 40, 11),
    ),
    "anthropic": Wire(
        "/messages", "x-api-key", "123 in, 100 of them cached, 9 out", (123, 9, 100, None)
    ),
}
COSTS = {
    "openai": ("gpt-4o", (60 * 2.5 + 40 * 1.25 + 30 * 10) / 1e6),
    "anthropic": ("claude-haiku-4-5", (3 * 1 + 20 * 1.25 + 100 * 0.1 + 9 * 5) / 1e6),
    "gemini": ("gemini-2.5-flash", (10 * 0.3 + 5 * 2.5) / 1e6),
}


def said(name: str, text: str) -> Answer:
    """A whole reply on the wire that ``name`` has by default."""
    if name == "openai":
        return responses_stream.answer(responses_stream.stream(responses_stream.message(text)))
    if name == "anthropic":
        return Answer([anthropic_stream.message([anthropic_stream.text(text)], "end_turn")])
    return chat_answer(text)


@dataclass
class Ways:
    """A place, and an authority that vouches for every provider's host name."""

    place: Place
    authority: Path
    context: ssl.SSLContext


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ways]:
    folder = tmp_path_factory.mktemp("ways")
    hosts = [f"DNS:{urlsplit(profile.base_url).hostname}" for profile in CLOUD]
    authority, context = certified(folder, hosts)
    home = folder / "home"
    with launcher.start(home / "virtual" / "p", name="p"):
        yield Ways(Place(home), authority, context)


def events(place: Place, kind: str) -> list[dict[str, Any]]:
    return [json.loads(body) for each, body in place.last_events() if each == kind]


@pytest.mark.parametrize("profile", CLOUD, ids=lambda profile: profile.name)
def test_each_provider_is_reached_at_its_own_address(ways: Ways, profile: ProviderProfile) -> None:
    """With nothing but its name, a model and its key: address, wire, call format and key are
    right, the proxy sees neither key nor words, and tokens and cost are told per reply and run."""
    place, name = ways.place, profile.name
    wire = WIRES.get(name, CHAT)
    model, cost = COSTS.get(name, ("m", None))
    with (
        ScriptedServer([said(name, "It is done.")], tls=ways.context) as server,
        Tunnel(server.port) as proxy,
    ):
        ran = place.bridge(
            "run", "--device", "p", "--provider", name, "--model", model, "do it",
            HTTPS_PROXY=proxy.url,
            NO_PROXY="",
            SSL_CERT_FILE=str(ways.authority),
            **{profile.key_variables[0]: SECRET},
        )  # fmt: skip
        [request] = server.requests
    assert (ran.returncode, ran.stdout) == (0, "It is done.\n"), ran.stderr
    url = urlsplit(profile.base_url)
    assert proxy.asked == [f"{url.hostname}:443"]
    assert request.path == url.path + wire.path
    assert request.headers[wire.header].removeprefix("Bearer ") == SECRET
    assert SECRET.encode() not in proxy.seen and b"do it" not in proxy.seen
    [started] = events(place, "run_started")
    assert (started["provider"], started["protocol"]) == (name, "ctl-heredoc")
    [reply] = events(place, "response_finished")
    [ended] = events(place, "run_finished")
    for used in (reply, ended["totals"]):
        keys = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
        assert tuple(used[key] for key in keys) == wire.used
        assert used["cost"] == (None if cost is None else pytest.approx(cost, abs=1e-6))
    shown = place.bridge("sessions", "show").stdout
    money = "" if cost is None else f", cost {cost:.4f}"
    assert f"tokens: {wire.tokens}{money}" in shown
    assert f"{wire.used[0]} + {wire.used[1]} tokens{money and money + ' USD'}, " in shown


def test_the_money_ceiling_stops_the_run_before_the_next_request(ways: Ways) -> None:
    """One reply costs more than --max-cost: exit 5, no second request, the totals tell."""
    place = ways.place
    with (
        ScriptedServer([said("openai", OBSERVE)] * 2, tls=ways.context) as server,
        Tunnel(server.port) as proxy,
    ):
        ran = place.run(
            "--provider", "openai", "--model", "gpt-4o", "--max-cost", "0.0004",
            HTTPS_PROXY=proxy.url,
            NO_PROXY="",
            SSL_CERT_FILE=str(ways.authority),
        )  # fmt: skip
        assert len(server.requests) == 1
    checked(place, ran, "0.0005 of its 0.0004 USD", "--max-cost", ends=(5, "LimitReached"))
    [ended] = events(place, "run_finished")
    assert ended["totals"]["cost"] == pytest.approx(0.0005)
    assert [each["name"] for each in events(place, "call_finished")] == ["observe_screen"]


def test_a_search_of_the_provider_is_told_and_its_sources_are_links(ways: Ways) -> None:
    """--web-search offers it; start, end and cited sources are in the answer and in the record."""
    place = ways.place
    source = {"type": "url_citation", "url": "https://a.example/", "title": "A"}
    found = responses_stream.message(
        "It is done.", annotations=[{**source, "start_index": 0, "end_index": 11}]
    )
    stream = responses_stream.stream(responses_stream.search(), found)
    with ScriptedServer([responses_stream.answer(stream)]) as server:
        ran = place.run(*CUSTOM, server.base_url, "--wire", "responses", "--web-search")
        assert server.requests[0].json["tools"] == [{"type": "web_search"}]
    assert (ran.returncode, ran.stdout) == (0, "It is done. ([A](https://a.example/))\n")
    shown = place.bridge("sessions", "show").stdout
    begun, ended = (f"web_search of the provider: {word}" for word in ("started", "done"))
    assert 0 < shown.index(begun) < shown.index(ended) < shown.index("https://a.example/")


CUSTOM = ("--provider", "custom", "--model", "m", "--base-url")


@pytest.mark.parametrize(
    ("proxy", "words", "code"),
    [
        ("http://u:geheim@127.0.0.1:9", "no connection to the proxy 127.0.0.1:9 on the way to", 4),
        ("http://p.invalid:3128", "no connection to the proxy p.invalid:3128 on the way to", 4),
        ("ftp://u:geheim@127.0.0.1:9", "a proxy by something that is no URL", 2),
        ("http://[u:geheim", "a proxy by something that is no URL", 2),
    ],
)
def test_a_bad_proxy_is_named_and_its_password_is_not(
    ways: Ways, proxy: str, words: str, code: int
) -> None:
    """What is wrong is the proxy of the environment, not the server behind it."""
    ran = ways.place.run(*CUSTOM, "https://models.invalid/v1", HTTPS_PROXY=proxy, NO_PROXY="")
    kind = "ProviderError" if code == 4 else "ConfigurationError"
    checked(ways.place, ran, words, "check HTTPS_PROXY", ends=(code, kind))
    assert "geheim" not in ran.stderr + str(ways.place.last_events())


@pytest.mark.skipif(find_spec("socksio") is not None, reason="SOCKS can be spoken here")
def test_a_socks_proxy_without_its_package_says_what_to_install(ways: Ways) -> None:
    """The extra that brings SOCKS is named instead of an internal error."""
    proxy = {"ALL_PROXY": "socks5://127.0.0.1:9", "NO_PROXY": ""}
    ran = ways.place.run(*CUSTOM, "https://models.invalid/v1", **proxy)
    checked(ways.place, ran, "SOCKS", "bridge-android[socks]", ends=(2, "ConfigurationError"))


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_wants_a_password_is_told_from_the_server(ways: Ways, scheme: str) -> None:
    """407 points at the proxy, whether it tunnels or asks itself."""
    refusal = Answer([b"who are you?"], 407, "text/plain")
    with ScriptedServer([refusal]) as proxy:
        ran = ways.place.run(
            *CUSTOM,
            f"{scheme}://models.invalid/v1",
            NO_PROXY="",
            **{f"{scheme.upper()}_PROXY": f"http://127.0.0.1:{proxy.port}"},
        )
    checked(ways.place, ran, "407", "check HTTPS_PROXY")


@pytest.mark.parametrize("content", [None, "no certificate\n"])
def test_an_authority_that_cannot_be_read_is_a_setting_of_the_user(
    ways: Ways, content: str | None, tmp_path: Path
) -> None:
    """A file that is missing or holds no certificate is named; TLS goes on being checked."""
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    ran = ways.place.run(*CUSTOM, "https://models.invalid/v1", SSL_CERT_FILE=str(file))
    words = f"SSL_CERT_FILE={file} holds no certificate"
    checked(ways.place, ran, words, "PEM", ends=(2, "ConfigurationError"))
