"""Reading model streams: time per event, import time and memory, against the usual libraries.

python scripts/bench/providers.py [FOLDER]   FOLDER: recordings chat_tools.sse, resp_tools.sse and
msg_tools.sse; without it streams of the same shape are made. Needs the packages of the extra
`oracles`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import subprocess
import time

import httpx
import httpx2
import httpx_sse
from measure import figures, python, table
from streams import streams

from bridge.conversation.messages import ModelRequest, UserMessage
from bridge.providers.sse import SseDecoder
from bridge.providers.wire import Peer, RequestOptions, Wire
from device_tools.schema import ToolSpec, arguments_schema

CHUNK = 1400
"""Bytes per read: what one TCP segment carries."""
REPEAT = 20
TOOL = ToolSpec("write_file", "write", arguments_schema({"path": {"type": "string"}}, []))
REQUEST = ModelRequest("s", (UserMessage("go"),), (TOOL,))


def pieces(stream: bytes) -> list[bytes]:
    return [stream[at : at + CHUNK] for at in range(0, len(stream), CHUNK)]


class Body(httpx.SyncByteStream, httpx2.SyncByteStream):
    """The pieces as the body of a response of either library."""

    def __init__(self, stream: bytes) -> None:
        self._pieces = pieces(stream)

    def __iter__(self) -> Iterator[bytes]:
        yield from self._pieces


HEADERS = {"content-type": "text/event-stream"}


def decoded(stream: bytes) -> int:
    decoder = SseDecoder()
    return sum(len(decoder.feed(piece)) for piece in pieces(stream))


def decoded_by_httpx_sse(stream: bytes) -> int:
    response = httpx.Response(200, headers=HEADERS, stream=Body(stream))
    return sum(1 for _ in httpx_sse.EventSource(response).iter_sse())


def read(wire: Wire, stream: bytes) -> int:
    options = RequestOptions("m")
    answer = wire.answer(REQUEST, options, Peer("bench"))
    decoder, count = SseDecoder(), 0
    for piece in pieces(stream):
        for event in decoder.feed(piece):
            count += len(answer.feed(event))
    return count + len(answer.close())


def read_by_sdk(name: str) -> Callable[[bytes], int]:
    """The SDK's own stream of typed events, without its client's request and connection."""
    import anthropic
    import openai

    if name == "anthropic":
        from anthropic.types import RawMessageStreamEvent as Event

        client, stream_type = anthropic.Anthropic(api_key="x"), anthropic.Stream
    else:
        if name == "chat":
            from openai.types.chat import ChatCompletionChunk as Event
        else:
            from openai.types.responses import ResponseStreamEvent as Event
        client, stream_type = openai.OpenAI(api_key="x"), openai.Stream
    request = httpx2.Request("POST", "http://bench")

    def run(stream: bytes) -> int:
        response = httpx2.Response(200, headers=HEADERS, stream=Body(stream), request=request)
        return sum(1 for _ in stream_type(cast_to=Event, response=response, client=client))

    return run


def wires() -> dict[str, Wire]:
    from bridge.providers.anthropic import AnthropicWire
    from bridge.providers.chat_completions import ChatWire
    from bridge.providers.responses import ResponsesWire

    return {"chat": ChatWire(), "responses": ResponsesWire(), "anthropic": AnthropicWire()}


def cpu_seconds(subjects: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The least processor time of each call: other programs on the machine do not count."""
    least = dict.fromkeys(subjects, float("inf"))
    for _ in range(REPEAT):
        for name, call in subjects.items():
            start = time.process_time()
            call()
            least[name] = min(least[name], time.process_time() - start)
    return least


def per_event(folder: Path | None) -> str:
    rows = []
    ours = wires()
    for name, stream in streams(folder).items():
        events = decoded(stream)
        sdk = read_by_sdk(name)
        subjects = {
            "decoder": lambda stream=stream: decoded(stream),
            "httpx-sse": lambda stream=stream: decoded_by_httpx_sse(stream),
            "wire": lambda name=name, stream=stream: read(ours[name], stream),
            "SDK": lambda sdk=sdk, stream=stream: sdk(stream),
        }
        micro = {key: seconds / events * 1e6 for key, seconds in cpu_seconds(subjects).items()}
        rows.append(
            [
                name,
                events,
                *(f"{micro[key]:.2f}" for key in ("decoder", "httpx-sse")),
                f"{micro['httpx-sse'] / micro['decoder']:.1f}",
                *(f"{micro[key]:.2f}" for key in ("wire", "SDK")),
                f"{micro['SDK'] / micro['wire']:.1f}",
            ]
        )
    head = [
        "wire",
        "events",
        "our decoder, µs of processor time per event",
        "httpx-sse, µs",
        "ratio",
    ]
    return table([*head, "our whole wire, µs per event", "the SDK's parser, µs", "ratio"], rows)


IMPORTS = {
    "bare Python": "",
    "ours: three wires, profiles, HTTP": "import bridge.providers.profiles, httpx\n"
    "import bridge.providers.responses, bridge.providers.anthropic",
    "openai": "import openai; openai.OpenAI",
    "anthropic": "import anthropic; anthropic.Anthropic",
    "both SDKs": "import openai, anthropic; openai.OpenAI, anthropic.Anthropic",
}
PROBE = """
import sys, time
start = time.process_time()
{code}
seconds = time.process_time() - start
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(seconds, peak.split()[1], len(sys.modules))
"""


def weights() -> str:
    """Import time, peak memory and modules of a fresh interpreter. Linux only."""
    taken: dict[str, list[list[float]]] = {name: [] for name in IMPORTS}
    for _ in range(3):
        for name, code in IMPORTS.items():
            done = subprocess.run(
                python("-c", PROBE.format(code=code)), check=True, capture_output=True, text=True
            )
            taken[name].append([float(word) for word in done.stdout.split()])
    bare = min(probe[1] for probe in taken["bare Python"])
    heaviest = taken["both SDKs"]
    rows = []
    for name, probes in taken.items():
        seconds = figures([probe[0] for probe in probes])
        memory = (min(probe[1] for probe in probes) - bare) / 1024
        of_time = seconds.median / figures([probe[0] for probe in heaviest]).median
        of_memory = memory * 1024 / (min(probe[1] for probe in heaviest) - bare)
        rows.append([name, seconds, f"{of_time:.2f}", f"{memory:.1f}", f"{of_memory:.2f}",
                     int(probes[0][2])])  # fmt: skip
    head = ["imported", "ms of processor time: median (lowest to highest)", "part of both SDKs"]
    return table([*head, "MiB above bare Python", "part of both SDKs", "modules"], rows)


def main(folder: Path | None) -> None:
    print(per_event(folder))
    print()
    print(weights())


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
