"""How long a cancel takes to end the wait for a model's answer, over real sockets."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

from measure import figures, table

from bridge.conversation.messages import ModelRequest, UserMessage
from bridge.providers.chat_completions import ChatWire
from bridge.providers.endpoint import Server
from bridge.providers.provider import HttpProvider
from bridge.providers.wire import RequestOptions
from device_tools.cancel import CancelScope
from device_tools.errors import Cancelled
from tests.doubles.provider_server import Answer, Delay, ScriptedServer, chat_chunk

REPEAT = 50
REQUEST = ModelRequest("s", (UserMessage("hello"),))
PHASES = {
    "before the answer begins": Answer([Delay(30)], head=b""),
    "inside the answer": Answer([chat_chunk({"content": "a"}), Delay(30)]),
}


def cancelled_after(answer: Answer) -> float:
    """Seconds from the cancel to the end of the wait."""
    scope, at = CancelScope(), [0.0]

    def cancel() -> None:
        at[0] = time.perf_counter()
        scope.cancel()

    with ScriptedServer([answer]) as server:
        provider = HttpProvider(
            "bench", ChatWire(), RequestOptions("m"), Server(server.base_url), scope
        )
        timer = threading.Timer(0.1, cancel)
        timer.start()
        with suppress(Cancelled), provider.stream(REQUEST) as events:
            list(events)
        return time.perf_counter() - at[0]


def main() -> None:
    rows = []
    # the first request loads the HTTP client
    cancelled_after(next(iter(PHASES.values())))
    for name, answer in PHASES.items():
        taken = [cancelled_after(answer) for _ in range(REPEAT)]
        rows.append([name, figures(taken), REPEAT])
    print(table(["cancelled", "ms: median (lowest to highest)", "times"], rows))
    print("\ntarget: at most 100 ms")


if __name__ == "__main__":
    main()
