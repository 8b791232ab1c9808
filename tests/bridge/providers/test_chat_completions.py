from __future__ import annotations

import gzip
import json
import random
import re
import signal
import threading
import time

import pytest

from bridge.conversation.messages import AssistantMessage, ModelRequest, UserMessage
from bridge.conversation.stream import (
    Finish,
    FinishReason,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    Usage,
)
from bridge.errors import ProviderError
from bridge.providers.chat_completions import ChatWire
from bridge.providers.endpoint import HttpLimits, Server
from bridge.providers.provider import HttpProvider
from bridge.providers.wire import RequestOptions
from device_tools.cancel import CancelScope
from device_tools.errors import Cancelled
from device_tools.result import Image
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
from tests.shared_data import shared_data

HELLO = ModelRequest("be brief", (UserMessage("hello"),))
ONCE = HttpLimits(attempts=1)
FAST = HttpLimits(first_pause=0.01, connect=2.0, first_byte=5.0, idle=5.0)


def provider(
    server: ScriptedServer, *, cancel: CancelScope | None = None, limits: HttpLimits = FAST
) -> HttpProvider:
    address = Server(server.base_url, "sk-verysecretkey")
    return HttpProvider(
        "test", ChatWire(), RequestOptions("m"), address, cancel or CancelScope(), limits=limits
    )


def read(*steps: Step, limits: HttpLimits = FAST) -> list[StreamEvent]:
    with (
        ScriptedServer([Answer(steps)]) as server,
        provider(server, limits=limits).stream(HELLO) as events,
    ):
        return list(events)


def text_of(events: list[StreamEvent]) -> str:
    return "".join(each.text for each in events if isinstance(each, TextDelta))


def failure(*answers: Answer, limits: HttpLimits = ONCE) -> ProviderError:
    with (
        ScriptedServer(answers) as server,
        pytest.raises(ProviderError) as caught,
        provider(server, limits=limits).stream(HELLO) as events,
    ):
        list(events)
    assert "sk-verysecretkey" not in str(caught.value) + caught.value.advice
    return caught.value


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_an_answer_is_the_same_at_every_chunk_size(size: int) -> None:
    """Text, reasoning, usage and reason arrive whole however the network cuts them."""
    stream = b"".join(
        [
            b": keep-alive\n\n",
            chat_chunk({"role": "assistant", "content": None}),
            chat_chunk({"reasoning_content": "hm 思"}),
            chat_chunk({"content": "你好 \u2028😀"}),
            chat_chunk({"content": "!"}),
            chat_chunk(finish="stop"),
            chat_chunk(usage=(12, 3)),
            DONE,
        ]
    )
    assert read(*cut(stream, size)) == [
        ReasoningDelta("hm 思"),
        TextDelta("你好 \u2028😀"),
        TextDelta("!"),
        Usage(12, 3),
        Finish(FinishReason.STOP, "stop"),
    ]


def test_the_request_holds_messages_images_and_limits() -> None:
    """System prompt, history, pictures as data URLs, and the key in the header only."""
    image = Image(b"\x89PNG", "image/png", 1, 1, "a picture")
    request = ModelRequest(
        "be brief",
        (UserMessage("look", (image,)), AssistantMessage("ok"), UserMessage("go")),
        max_output_tokens=99,
    )
    with ScriptedServer([chat_answer("x")]) as server:
        with provider(server).stream(request) as events:
            list(events)
        sent = server.requests[0]
    assert sent.path == "/v1/chat/completions"
    assert sent.headers["authorization"] == "Bearer sk-verysecretkey"
    assert sent.json == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "be brief"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "look"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
                ],
            },
            {"role": "assistant", "content": "ok"},
            {"role": "user", "content": "go"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 99,
    }


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stop", FinishReason.STOP),
        ("tool_calls", FinishReason.TOOL_CALLS),
        ("length", FinishReason.LENGTH),
        ("content_filter", FinishReason.CONTENT_FILTER),
        ("model_length", FinishReason.UNKNOWN),
    ],
)
def test_finish_reasons_are_normalised(word: str, reason: FinishReason) -> None:
    """Known words are mapped, any other word is unknown and kept."""
    assert read(chat_chunk({"content": "a"}), chat_chunk(finish=word), DONE)[-1] == Finish(
        reason, word
    )


def test_contradictions_are_an_unknown_end() -> None:
    """Two different reasons, or calls nobody offered, are no clean end; a repeated one is."""
    stop, tools = chat_chunk(finish="stop"), chat_chunk(finish="tool_calls")
    call = chat_chunk({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f"}}]})
    assert read(stop, tools, DONE) == [Finish(FinishReason.UNKNOWN, "stop then tool_calls")]
    assert read(stop, stop, DONE) == [Finish(FinishReason.STOP, "stop")]
    [finish] = read(call, tools, DONE)
    assert isinstance(finish, Finish)
    assert finish.reason is FinishReason.UNKNOWN
    assert "none were offered" in finish.raw


def test_a_refusal_is_text_and_a_filtered_end() -> None:
    """What the model says instead of an answer is shown, and permits nothing."""
    assert read(chat_chunk({"refusal": "no"}), chat_chunk(finish="stop"), DONE) == [
        TextDelta("no"),
        Finish(FinishReason.CONTENT_FILTER, "stop"),
    ]


def test_a_character_split_over_two_escapes_is_joined() -> None:
    """Half a surrogate pair per chunk gives one character; half a pair alone is an error."""
    high, low = (b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % half
                 for half in (b"a\\ud83d", b"\\ude00b"))  # fmt: skip
    stop = chat_chunk(finish="stop")
    assert text_of(read(high, low, stop)) == "a😀b"
    assert "inside a character" in failure(Answer([high, stop])).message
    assert "half a character" in failure(Answer([low, stop])).message


def test_a_reason_is_evidence_even_when_the_connection_breaks_after_it() -> None:
    """Neither [DONE] nor usage is needed once the server said why it stopped."""
    assert read(chat_chunk({"content": "a"}), chat_chunk(finish="stop"), HangUp())[-1] == Finish(
        FinishReason.STOP, "stop"
    )


@pytest.mark.parametrize("end", [[DONE], [], [chat_chunk({"content": "b"}), DONE]])
def test_an_end_without_a_reason_is_an_error(end: list[Step]) -> None:
    """[DONE] and a clean end of the connection are no evidence of a complete answer."""
    error = failure(Answer([chat_chunk({"content": "a"}), *end]))
    assert "without saying it was done" in error.message


@pytest.mark.parametrize("reset", [False, True])
def test_a_hang_up_in_the_middle_is_an_error_and_not_retried(reset: bool) -> None:
    """What arrived before is delivered once; after the first event nothing is asked again."""
    answers = [Answer([chat_chunk({"content": "a"}), Delay(0.1), HangUp(reset)]), chat_answer("b")]
    got: list[StreamEvent] = []
    with ScriptedServer(answers) as server:
        with (
            pytest.raises(ProviderError, match="broke off"),
            provider(server).stream(HELLO) as events,
        ):
            got.extend(events)
        assert len(server.requests) == 1
    assert got == [TextDelta("a")]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'data: {"error":{"message":"overloaded","code":502}}\n\n', "error: overloaded"),
        (b'data: {"error":"plain words"}\n\n', "plain words"),
        (b'event: error\ndata: {"message":"sk-verysecretkey is bad"}\n\n', r"\[key\] is bad"),
        (b'data: {"choices":[],"x_groq":{"error":"tool_use_failed"}}\n\n', "tool_use_failed"),
        (b"data: : OPENROUTER PROCESSING\n\n", "not JSON"),
        (b"data: [1]\n\n", "not an object"),
        (b"data: " + b"[" * 100_000 + b"\n\n", "not JSON"),
        (b'data: {"choices":[{"index":1,"delta":{"content":"x"}}]}\n\n', "not asked for"),
        (b'data: {"choices":[{"delta":{"role":"user","content":"x"}}]}\n\n', "not the assistant"),
        (b'data: {"choices":[{"delta":{"content":["x"]}}]}\n\n', "not text"),
        (b"data: \xff\n\n", "UTF-8"),
        (b"x" * (8 * 1024 * 1024 + 1), "longer than"),
    ],
)
def test_what_is_no_answer_in_the_stream_is_an_error(data: bytes, words: str) -> None:
    """An error object or anything that is no chunk ends the turn in words."""
    error = failure(Answer([chat_chunk({"content": "a"}), data, chat_chunk(finish="stop")]))
    assert re.search(words, error.message)


def test_an_answer_without_end_is_cut_off_by_its_size() -> None:
    """A model in a loop cannot fill the memory: over the limit the answer is an error."""
    endless = Answer([chat_chunk({"content": "a" * 1000})] * 500)
    error = failure(endless, limits=HttpLimits(attempts=1, answer=100_000))
    assert "more than 100000 bytes" in error.message


@pytest.mark.parametrize(
    ("answer", "words", "advice"),
    [
        (
            Answer([b'{"error":{"message":"bad key sk-verysecretkey"}}'], 401, "application/json"),
            "401: bad key [key]",
            "BRIDGE_API_KEY",
        ),
        (Answer([b"<html>x</html>"], 404, "text/html"), "web page", "--base-url"),
        (Answer([b"<!DOCTYPE html>hi"], 200, "text/html"), "web page", "--base-url"),
        (
            Answer([b'{"error":{"message":"model m not found"}}'], 404, "application/json"),
            "model m not found",
            "--model",
        ),
        (Answer([b'{"detail":"Not Found"}'], 404, "application/json"), "Not Found", "--base-url"),
        (Answer([b""], 413, "text/plain"), "413", "smaller images"),
        (Answer([b""], 301, headers=(("Location", "https://x.test/"),)), "x.test", "--base-url"),
        (
            Answer([b'{"error":{"message":"You exceeded your quota"}}'], 429, "application/json"),
            "quota",
            "credit",
        ),
        (Answer([b'{"choices":[]}'], 200, "application/json"), "did not stream", "stream"),
        (
            Answer([b'{"error":{"message":"no such lora"}}'], 200, "application/json"),
            "no such lora",
            "",
        ),
    ],
)
def test_refusals_say_what_happened_and_what_to_do(answer: Answer, words: str, advice: str) -> None:
    """Wrong key, URL, model, size and a page instead of an API each have their own advice."""
    error = failure(answer, limits=FAST)
    assert words in error.message
    assert advice in error.advice


def test_faults_before_the_first_event_are_retried() -> None:
    """A hang-up, a 503 and an empty stream are tried again, each told; then the answer counts."""
    told: list[str] = []
    answers = [
        Answer([HangUp()], head=b""),
        Answer([b"busy"], 503, "text/plain"),
        Answer([b": ping\n\n"]),
        chat_answer("fine"),
    ]
    with ScriptedServer(answers) as server:
        model = HttpProvider(
            "test",
            ChatWire(),
            RequestOptions("m"),
            Server(server.base_url),
            CancelScope(),
            limits=HttpLimits(first_pause=0.01, attempts=4),
            on_retry=told.append,
        )
        with model.stream(HELLO) as events:
            assert text_of(list(events)) == "fine"
        assert len(server.requests) == 4
        assert "authorization" not in server.requests[0].headers
    assert len(told) == 3
    assert "503" in told[1]


def test_retries_are_bounded_and_wait_as_long_as_the_server_asks() -> None:
    """Retry-After is obeyed; a refused key or a wait that is too long is not retried."""
    busy = Answer([b""], 429, "text/plain", headers=(("Retry-After", "0.2"),))
    for answers, requests, least in (
        ([busy] * 5, 3, 0.4),
        ([Answer([b""], 401, "text/plain")] * 2, 1, 0.0),
        ([Answer([b""], 503, "text/plain", headers=(("Retry-After", "900"),))] * 2, 1, 0.0),
    ):
        with ScriptedServer(answers) as server:
            started = time.monotonic()
            with pytest.raises(ProviderError), provider(server).stream(HELLO):
                pass
            assert len(server.requests) == requests
            assert time.monotonic() - started >= least


def test_a_refused_connection_names_the_server() -> None:
    """Nobody listens: retried, then told in one line with the address."""
    with ScriptedServer([]) as server:
        gone = provider(server)
        host = f"127.0.0.1:{server.port}"
    with pytest.raises(ProviderError, match=f"no connection to {host}: Connection refused"):
        gone.stream(HELLO).__enter__()


def test_the_idle_limit_counts_only_time_spent_reading() -> None:
    """A consumer that is busy longer than the limit loses nothing; a silent server is an error."""
    limits = HttpLimits(idle=0.3, attempts=1)
    steps = [chat_chunk({"content": "a"}), chat_chunk({"content": "b"}), chat_chunk(finish="stop")]
    with (
        ScriptedServer([Answer(steps)]) as server,
        provider(server, limits=limits).stream(HELLO) as events,
    ):
        got = [next(events)]
        time.sleep(0.6)
        got += events
    assert text_of(got) == "ab"
    silent = failure(Answer([chat_chunk({"content": "a"}), Delay(3)]), limits=limits)
    assert "idle limit, 0.3 s" in silent.message
    mute = failure(Answer([Delay(3)], head=b""), limits=HttpLimits(first_byte=0.2))
    assert "first-byte limit, 0.2 s" in mute.message


@pytest.mark.parametrize("phase", ["headers", "body"])
@pytest.mark.parametrize("by", ["thread", "signal"])
def test_cancel_ends_every_wait_within_100_ms(phase: str, by: str) -> None:
    """Cancelled from another thread or from a signal handler, before and inside the answer."""
    scope = CancelScope()
    cancelled_at: list[float] = []

    def cancel(*_: object) -> None:
        cancelled_at.append(time.monotonic())
        scope.cancel()

    def later() -> None:
        time.sleep(0.2)
        if by == "thread":
            cancel()
        else:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)

    steps = [Delay(10)] if phase == "headers" else [chat_chunk({"content": "a"}), Delay(10)]
    answer = Answer(steps, head=b"" if phase == "headers" else None)
    previous = signal.signal(signal.SIGUSR1, cancel)
    try:
        with ScriptedServer([answer]) as server:
            threading.Thread(target=later).start()
            with (
                pytest.raises(Cancelled),
                provider(server, cancel=scope).stream(HELLO) as events,
            ):
                list(events)
            took = time.monotonic() - cancelled_at[0]
    finally:
        signal.signal(signal.SIGUSR1, previous)
    assert took < 0.1


def test_leaving_early_closes_the_connection() -> None:
    """A client stop reaches the server although the answer is not at its end."""
    written: list[int] = []
    tick: list[Step] = [Delay(0.02), chat_chunk({"content": "b"}), Do(lambda: written.append(1))]
    with ScriptedServer([Answer([chat_chunk({"content": "a"}), *tick * 100])]) as server:
        with provider(server).stream(HELLO) as events:
            assert next(events) == TextDelta("a")
        time.sleep(0.1)
        count = len(written)
        time.sleep(0.2)
        assert len(written) == count


def test_a_base_url_without_a_path_is_tried_below_v1_too() -> None:
    """http://host:port works whether the server lives at the root or below /v1."""
    answers = [Answer([b""], 404, "text/plain"), chat_answer("a"), chat_answer("b")]
    with ScriptedServer(answers) as server:
        root = server.base_url.removesuffix("/v1")
        address = Server(root)
        model = HttpProvider(
            "test", ChatWire(), RequestOptions("m"), address, CancelScope(), limits=FAST
        )
        for expected in ("a", "b"):
            with model.stream(HELLO) as events:
                assert text_of(list(events)) == expected
        paths = [request.path for request in server.requests]
    assert paths == ["/chat/completions", "/v1/chat/completions", "/chat/completions"]


def test_a_compressed_stream_is_read() -> None:
    """gzip is undone before the events are decoded."""
    body = gzip.compress(
        b"".join([chat_chunk({"content": "zip"}), chat_chunk(finish="stop"), DONE])
    )
    answer = Answer(cut(body, 5), headers=(("Content-Encoding", "gzip"),))
    with ScriptedServer([answer]) as server, provider(server).stream(HELLO) as events:
        assert text_of(list(events)) == "zip"


def test_http_logging_shows_no_url(caplog: pytest.LogCaptureFixture) -> None:
    """Not even with logging at DEBUG does the client library write where requests go."""
    caplog.set_level("DEBUG")
    with ScriptedServer([chat_answer("a")]) as server, provider(server).stream(HELLO) as events:
        list(events)
        assert str(server.port) not in caplog.text


@pytest.mark.parametrize("name", ["chat_plain", "chat_tools", "chat_tools_truncated"])
def test_recorded_streams_of_a_real_server(name: str) -> None:
    """Text equals the recorded deltas; native calls that nobody offered end as unknown."""
    stream = shared_data(f"streams/{name}.sse").read_bytes()
    chunks = [json.loads(line[6:]) for line in stream.splitlines() if line.startswith(b"data: {")]
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    events = read(*cut(stream, random.Random(name).randrange(1, 400)))
    assert text_of(events) == "".join(delta.get("content") or "" for delta in deltas)
    assert any(isinstance(each, Usage) and each.output_tokens for each in events)
    finish = events[-1]
    assert isinstance(finish, Finish)
    plain = not any("tool_calls" in delta for delta in deltas)
    assert (finish.reason is FinishReason.STOP) is plain


def test_an_unknown_field_is_ignored() -> None:
    """Vendors add fields; what is understood counts."""
    odd = event({"choices": [{"delta": {"content": "a", "x": 1}, "logprobs": None}], "timings": {}})
    assert text_of(read(odd, chat_chunk(finish="stop"), DONE)) == "a"


def test_a_connection_left_open_behind_the_reason_does_not_delay_the_end() -> None:
    """Usage that comes soon is read; silence or comments cost the straggler limit at most."""
    stop, usage = chat_chunk(finish="stop"), chat_chunk(usage=(3, 4))
    limits = HttpLimits(attempts=1, stragglers=0.4)
    started = time.monotonic()
    late = read(stop, Delay(0.1), usage, Delay(20), limits=limits)
    assert late == [Usage(3, 4), Finish(FinishReason.STOP, "stop")]
    chatty = read(stop, *[b": ping\n\n", Delay(0.1)] * 200, limits=limits)
    assert chatty == [Finish(FinishReason.STOP, "stop")]
    assert time.monotonic() - started < 5


def test_an_error_behind_the_reason_still_fails_the_answer() -> None:
    """A reason is no reason to overlook what the server says against it."""
    broken = event({"error": {"message": "overloaded"}})
    assert "overloaded" in failure(Answer([chat_chunk(finish="stop"), broken])).message


def test_comments_keep_the_connection_but_not_the_answer() -> None:
    """Keep-alive comments reset the idle limit; the limit for the whole answer ends the wait."""
    limits = HttpLimits(attempts=1, idle=0.5, answer_wait=1.0)
    pings: list[Step] = [b": ping\n\n", Delay(0.1)] * 100
    error = failure(Answer([chat_chunk({"content": "a"}), *pings]), limits=limits)
    assert "answer limit, 1 s" in error.message


def test_a_bomb_is_unpacked_no_further_than_the_limit() -> None:
    """64 MB of zeros in 64 kB of gzip end at the limit of an answer."""
    bomb = gzip.compress(b"data: " + b"\0" * 64_000_000)
    zipped = (("Content-Encoding", "gzip"),)
    assert "longer than" in failure(Answer(cut(bomb, 10_000), headers=zipped)).message
    odd = failure(Answer([b"xxxx"], headers=(("Content-Encoding", "br"),)))
    assert "cannot be unpacked" in odd.message
