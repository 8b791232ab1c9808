"""What a server can get wrong, end to end: ``bridge run`` says it in one line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from device_tools.virtual import launcher
from tests.bridge.place import KEY, Place, certified, checked
from tests.doubles.provider_server import (
    DONE,
    Answer,
    Delay,
    Do,
    HangUp,
    ScriptedServer,
    Step,
    chat_answer,
    chat_chunk,
    cut,
    event,
)

SAID = chat_chunk({"content": "I look.\n"})
ZIPPED = (("Content-Encoding", "gzip"),)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    home = tmp_path_factory.mktemp("bad") / "home"
    with launcher.start(home / "virtual" / "p", name="p"):
        yield Place(home)


def refused(status: int, said: object, kind: str = "application/json") -> Answer:
    body = said if isinstance(said, bytes) else json.dumps(said).encode()
    return Answer([body], status, kind)


def streamed(*steps: Step, **more: object) -> Answer:
    return Answer([SAID, *steps], **more)  # type: ignore[arg-type]


CASES: dict[str, tuple[Callable[[], Answer], str, str]] = {
    "wrong key": (
        lambda: refused(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}),
        "401: Incorrect API key provided: [key]",
        "check the key in BRIDGE_API_KEY",
    ),
    "wrong path": (lambda: refused(404, b"<html>no</html>", "text/html"), "404", "--base-url"),
    "wrong model": (
        lambda: refused(404, {"error": {"message": "The model `m` does not exist"}}),
        "The model `m` does not exist",
        "--model",
    ),
    "page instead of JSON": (
        lambda: refused(200, b"<!doctype html><title>Sign in</title>", "text/html"),
        "answered with a web page",
        "--base-url",
    ),
    "error with 200": (
        lambda: refused(200, {"error": {"message": "no such lora"}}),
        "reported an error: no such lora",
        "",
    ),
    "error object in the stream": (
        lambda: streamed(event({"error": {"message": "overloaded", "code": 502}})),
        "broke off with an error: overloaded",
        "try again",
    ),
    "endless line": (
        lambda: streamed(*[b"data: " + b"x" * 65536] + [b"x" * 65536] * 200),
        "line of the event stream is longer than",
        "--record",
    ),
    "event of 10 MB": (
        lambda: streamed(*cut(event({"choices": [], "x": "y" * 10_000_000}), 1_000_000)),
        "longer than",
        "",
    ),
    "gzip bomb": (
        lambda: Answer(cut(gzip.compress(b": " + b"\n: " * 30_000_000), 100_000), headers=ZIPPED),
        "more than 33554432 bytes",
        "",
    ),
    "answer without end": (
        lambda: Answer([chat_chunk({"content": "la " * 20_000 + "\n"})] * 600),
        "more than 33554432 bytes in one answer",
        "caught in a loop",
    ),
    "end without evidence": (lambda: streamed(), "without saying it was done", "try again"),
    "hang-up": (lambda: streamed(HangUp()), "broke off the connection", "try again"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_bad_answer_is_one_clear_line(place: Place, case: str) -> None:
    """Whatever the server sends instead of an answer, the run ends with 4 and says so."""
    answer, words, advice = CASES[case]
    with ScriptedServer([answer()]) as server:
        ran = place.run("--provider", "custom", "--base-url", server.base_url, "--model", "m")
    checked(place, ran, words, advice)


DRIP = [step for _ in range(40) for step in (b": still here\n\n", Delay(0.1))]


@pytest.mark.parametrize(
    ("limit", "steps", "words"),
    [
        ("ANSWER", [SAID, *DRIP], "answer limit, 1 s"),
        ("IDLE", [SAID, Delay(5)], "idle limit, 1 s"),
    ],
)
def test_a_limit_of_the_settings_ends_the_wait(
    place: Place, limit: str, steps: list[Step], words: str
) -> None:
    """A server that drips bytes for ever, and one that is silent, are told apart by the limit."""
    with ScriptedServer([Answer(steps)]) as server:
        asked = ("--provider", "custom", "--base-url", server.base_url, "--model", "m")
        ran = place.run(*asked, **{f"BRIDGE_{limit}_TIMEOUT": "1"})
    checked(place, ran, words, "")


@pytest.mark.parametrize(
    ("url", "words", "advice"),
    [
        ("http://127.0.0.1:9/v1", "no connection to 127.0.0.1:9: Connection refused", "--base-url"),
        ("http://no-such-host.invalid/v1", "name of no-such-host.invalid cannot be res", "network"),
    ],
)
def test_a_wrong_address_is_one_clear_line(place: Place, url: str, words: str, advice: str) -> None:
    """Nobody listens there, or nobody is called so."""
    checked(
        place, place.run("--provider", "custom", "--base-url", url, "--model", "m"), words, advice
    )


def test_a_certificate_nobody_signed_is_one_clear_line(place: Place, tmp_path: Path) -> None:
    """TLS is never switched off: the user is told how to trust a private authority."""
    certificate, context = certified(tmp_path, ["IP:127.0.0.1"])
    with ScriptedServer([chat_answer("It is done.")], tls=context) as server:
        named = ("--provider", "custom", "--base-url", server.base_url, "--model", "m")
        checked(place, place.run(*named), "no trusted TLS connection", "SSL_CERT_FILE")
        trusted = place.run(*named, SSL_CERT_FILE=str(certificate))
    assert (trusted.returncode, trusted.stdout) == (0, "It is done.\n"), trusted.stderr


def test_flags_reach_the_request(place: Place) -> None:
    """Wire and web search of the command line decide what is sent; an effort without a model
    that is known to reason is not sent, and a notice says so."""
    with ScriptedServer([refused(400, {"error": {"message": "no"}})]) as server:
        ran = place.run(
            "--provider", "openai", "--base-url", server.base_url, "--model", "m",
            "--wire", "responses", "--thinking", "high", "--web-search",
        )  # fmt: skip
        [request] = server.requests
    assert ran.returncode == 4, ran.stderr
    assert request.path == "/v1/responses"
    assert request.json["tools"] == [{"type": "web_search"}]
    assert "reasoning" not in request.json
    notices = [body for kind, body in place.last_events() if kind == "notice"]
    assert any("thinking high is not sent" in body for body in notices)


def test_a_providers_protocol_holds_and_the_flag_wins(place: Place) -> None:
    """``protocol`` in a provider's table decides how calls travel; --protocol overrides it; the
    record names the one that was used."""
    file = place.home / "config.toml"
    file.write_text('[providers.custom]\nprotocol = "native-inc"\n', encoding="utf-8")
    try:
        with ScriptedServer([chat_answer("It is done."), chat_answer("It is done.")]) as server:
            named = ("--provider", "custom", "--base-url", server.base_url, "--model", "m")
            used = []
            for flags in ((), ("--protocol", "ctl")):
                ran = place.run(*named, *flags)
                assert ran.returncode == 0, ran.stderr
                body = dict(place.last_events())["run_started"]
                used.append(json.loads(body)["protocol"])
            native, text = (request.json for request in server.requests)
    finally:
        file.unlink()
    assert used == ["native-inc", "ctl"]
    assert native["tools"] and "NBYTES" not in json.dumps(native["messages"])
    assert "tools" not in text and "NBYTES" in json.dumps(text["messages"])


def test_retries_are_bounded_and_shown(place: Place) -> None:
    """A busy server is asked three times in all; each further attempt is a notice in the record."""
    busy = refused(503, {"error": {"message": "busy"}})
    soon = Answer([b"later"], 429, "text/plain", (("Retry-After", "1"),))
    with ScriptedServer([busy, soon, chat_answer("It is done."), busy, busy, busy]) as server:
        named = ("--provider", "custom", "--base-url", server.base_url, "--model", "m")
        ran = place.run(*named)
        assert (ran.returncode, ran.stdout) == (0, "It is done.\n"), ran.stderr
        notes = [body for kind, body in place.last_events() if kind == "notice"]
        shown = [note for note in notes if "attempt" in note]
        assert "answered 503: busy; attempt 2 of 3 in 0.5 s" in shown[0]
        assert "answered 429; attempt 3 of 3 in 1 s" in shown[1]
        assert len(shown) == 2
        checked(place, place.run(*named), "503: busy", "try again later")
        assert len(server.requests) == 6


def test_the_key_is_in_no_process_list_and_no_file(place: Place, tmp_path: Path) -> None:
    """Not in the arguments of a process while a reply comes in, not in what the run leaves
    behind, also when everything is logged."""
    lines: list[bytes] = []

    def look() -> None:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                lines.append(path.read_bytes())

    files = ("--debug-http", str(tmp_path / "http.log"), "--record", str(tmp_path / "wire.jsonl"))
    with ScriptedServer([Answer([SAID, Do(look), chat_chunk(finish="stop"), DONE])]) as server:
        named = ("--provider", "custom", "--base-url", server.base_url, "--model", "m")
        ran = place.bridge(
            "--debug", "run", "--device", "p", *named, *files, "do it", BRIDGE_API_KEY=KEY
        )
        [request] = server.requests
    assert ran.returncode == 0, ran.stderr
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert any(named[3].encode() in line for line in lines)
    left = [path.read_bytes() for folder in (place.home, tmp_path) for path in files_in(folder)]
    assert len(left) > 3
    assert not any(KEY.encode() in each for each in [*lines, *left, ran.stderr.encode()])


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
