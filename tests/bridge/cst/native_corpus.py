"""Streams of native calls: the known deviations of servers and what they mean, and generated ones.

An entry is one wire entry of ``tool_calls``, or a close (see ``close``).
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

from bridge.conversation.stream import CallClosed, StreamEvent
from bridge.providers.chat_calls import call_deltas


def entry(index: Any = None, id: Any = None, name: Any = None, arguments: Any = None) -> Any:
    """One wire entry; None leaves the field out."""
    function = {"name": name, "arguments": arguments}
    whole = {
        "index": index,
        "id": id,
        "function": {key: value for key, value in function.items() if value is not None},
    }
    return {key: value for key, value in whole.items() if value is not None}


def close(index: Any, arguments: str | None = None) -> Any:
    """The wire ends the call at the index; ``arguments`` where it repeats them."""
    return {"close": index} | ({} if arguments is None else {"arguments": arguments})


def neutral(entries: list[dict[str, Any]]) -> list[StreamEvent]:
    """One neutral event per entry."""
    events: list[StreamEvent] = []
    for each in entries:
        if "close" in each:
            key = "" if each["close"] is None else str(each["close"])
            events.append(CallClosed(key, each.get("arguments")))
        else:
            events += call_deltas([each], null_words=True)
    return events


@dataclass(frozen=True)
class Case:
    """``eos`` and ``inc``: what runs as "name arguments"; ``fault``: kind of a contract error."""

    what: str
    entries: list[dict[str, Any]]
    eos: list[str] = field(default_factory=list)
    inc: list[str] | None = None
    fault: str = ""

    def runs(self, mode: str) -> list[str]:
        return self.eos if mode == "native-eos" or self.inc is None else self.inc


F1, G2 = 'f {"p": 1}', 'g {"q": 2}'
CASES = [
    Case("one call", [entry(0, "a", "f", '{"p"'), entry(0, None, None, ":1}")], [F1]),
    Case(
        "no index, ids",
        [entry(None, "a", "f", '{"p":1}'), entry(None, "b", "g", '{"q":2}')],
        [F1, G2],
    ),
    Case(
        "no index, continued without id",
        [
            entry(None, "a", "f", ""),
            entry(None, None, None, '{"p":1}'),
            entry(None, "b", "g"),
            entry(None, None, None, '{"q":2}'),
        ],
        [F1, G2],
    ),
    Case(
        "no index, two open calls, no id",
        [entry(None, "a", "f"), entry(None, "b", "g"), entry(None, None, None, "{}")],
        fault="bad_call",
    ),
    Case(
        "index always 0, new ids",
        [
            entry(0, "a", "f", '{"p":'),
            entry(0, None, None, "1}"),
            entry(0, "b", "g", '{"q":'),
            entry(0, None, None, "2}"),
        ],
        [F1, G2],
    ),
    Case(
        "index from 1, and with gaps",
        [entry(1, "a", "f", '{"p":1}'), entry(7, "b", "g", '{"q":2}')],
        [F1, G2],
    ),
    Case("index twice in a chunk", [entry(0, "a", "f"), entry(0, None, None, '{"p":1}')], [F1]),
    Case(
        "orphan fragment", [entry(0, "a", "f"), entry(1, None, None, '{"p":1}')], fault="bad_call"
    ),
    Case("fragment before any call", [entry(None, None, None, "{}")], fault="bad_call"),
    Case(
        "interleaved",
        [
            entry(0, "a", "f", '{"p"'),
            entry(1, "b", "g", '{"q"'),
            entry(0, None, None, ":1}"),
            entry(1, None, None, ":2}"),
        ],
        [F1, G2],
    ),
    Case(
        "late fragment for a closed index",
        [entry(0, "a", "f", '{"p":1}'), entry(1, "b", "g", '{"q":2}'), entry(0, None, None, " 2")],
        [],
        [F1],
        fault="bad_arg",
    ),
    Case(
        "late fragment that says nothing",
        [entry(0, "a", "f", '{"p":1}'), entry(1, "b", "g", '{"q":2}'), entry(0, "a", "f", "")],
        [F1, G2],
    ),
    Case(
        "another call at the place of one without id",
        [entry(0, None, "f", '{"p":1}'), entry(1, "b", "g", '{"q":2}'), entry(0, "c", "f", "")],
        [F1, G2],
        [F1],
        fault="bad_arg",
    ),
    Case("arguments as an object", [entry(0, "a", "f", {"p": 1})], [F1]),
    Case("object behind text", [entry(0, "a", "f", "{"), entry(0, None, None, {"p": 1})]),
    Case("text behind an object", [entry(0, "a", "f", {}), entry(0, None, None, '{"p":1}')]),
    Case("empty arguments", [entry(0, "a", "f", "")], ["f {}"]),
    Case("no arguments at all", [entry(0, "a", "f")], ["f {}"]),
    Case(
        "empty arguments, then a call: both wait for the end",
        [entry(0, "a", "f", ""), entry(1, "b", "g", '{"q":2}')],
        ["f {}", G2],
    ),
    Case("{} and the real object", [entry(0, "a", "f", "{}"), entry(0, None, None, '{"p":1}')]),
    Case("leading bytes lost", [entry(0, "a", "f", 'p":1}')]),
    Case("duplicated arguments", [entry(0, "a", "f", '{"p":1'), entry(0, "a", "f", '{"p":1}')]),
    Case("trailing text", [entry(0, "a", "f", '{"p":1} ok')]),
    Case("white space around", [entry(0, "a", "f", ' {"p":1}\n')], [F1]),
    Case("key twice", [entry(0, "a", "f", '{"p":1,"p":1}')]),
    Case("key twice inside", [entry(0, "a", "f", '{"p":{"a":1,"a":2}}')]),
    Case("NaN", [entry(0, "a", "f", '{"p":NaN}')]),
    Case("an array", [entry(0, "a", "f", "[1]")]),
    Case("a JSON text in a JSON text", [entry(0, "a", "f", '"{}"')]),
    Case("truncated", [entry(0, "a", "f", '{"p":1')]),
    Case("half a character", [entry(0, "a", "f", '{"p":"\\ud83d"}')]),
    Case(
        "id in every chunk",
        [entry(0, "a", "f", '{"p"'), entry(0, "a", None, ":"), entry(0, "a", None, "1}")],
        [F1],
    ),
    Case(
        "empty id and name", [entry(0, "a", "f", '{"p":'), entry(0, "", "", "1}")], [F1]
    ),
    Case(
        'the word "null" as id and name',
        [entry(0, "a", "f", '{"p":'), entry(0, "null", "null", "1}")],
        [F1],
    ),
    Case("name in every chunk", [entry(0, "a", "f", '{"p":'), entry(0, "a", "f", "1}")], [F1]),
    Case("name in pieces", [entry(0, "a", "f"), entry(0, None, "g", '{"p":1}')], ['fg {"p": 1}']),
    Case("name changes", [entry(0, "a", "f", '{"p":1'), entry(0, None, "g", "}")]),
    Case("no name", [entry(0, "a", None, '{"p":1}')]),
    Case("no id to the end", [entry(0, None, "f", '{"p":1}')], [F1]),
    Case("nothing but a name", [entry(None, None, "f", '{"p":1}')], [F1]),
    Case(
        "no ids, two indexes",
        [entry(0, None, "f", '{"p":1}'), entry(1, None, "g", '{"q":2}')],
        [F1, G2],
    ),
    Case(
        "the same id twice",
        [entry(0, "a", "f", '{"p":1}'), entry(1, "a", "g", '{"q":2}')],
        [],
        [F1],
    ),
    Case(
        "a broken call in the middle",
        [
            entry(0, "a", "f", '{"p":1}'),
            entry(1, "b", "f", '{"p"'),
            entry(2, "c", "g", '{"q":2}'),
        ],
        [],
        [F1, G2],
    ),
    Case("closed", [entry(0, "a", "f", '{"p":1}'), close(0)], [F1]),
    Case("closed with the arguments", [entry(0, "a", "f", '{"p":1}'), close(0, '{"p":1}')], [F1]),
    Case("arguments only with the close", [entry(0, "a", "f"), close(0, '{"p":1}')], [F1]),
    Case("arguments of the close differ", [entry(0, "a", "f", '{"p":1}'), close(0, '{"p":2}')]),
    Case("cut, but closed whole", [entry(0, "a", "f", '{"p":'), close(0, '{"p":1}')]),
    Case("closed broken", [entry(0, "a", "f", '{"p":'), close(0)]),
    Case("closed empty", [entry(0, "a", "f", ""), close(0)], ["f {}"]),
    Case("closed empty with empty arguments", [entry(0, "a", "f"), close(0, "")], ["f {}"]),
    Case(
        "closed twice", [entry(0, "a", "f", '{"p":1}'), close(0), close(0)], [], [F1], "bad_call"
    ),
    Case("closed where none began", [entry(0, "a", "f", "{}"), close(1)], fault="bad_call"),
    Case(
        "a fragment behind the close",
        [entry(0, "a", "f", "{}"), close(0), entry(0, None, None, '{"p":1}')],
        [],
        ["f {}"],
        "closed bad_arg",
    ),
    Case(
        "a fragment behind the close of an empty call",
        [entry(0, "a", "f"), close(0), entry(0, None, None, '{"p":1}')],
        fault="closed bad_arg",
    ),
    Case(
        "nothing new behind the close",
        [entry(0, "a", "f", '{"p":1}'), close(0), entry(0, "a", "f", "")],
        [F1],
    ),
    Case(
        "index 0 again behind the close",
        [entry(0, "a", "f", '{"p":1}'), close(0), entry(0, "b", "g", '{"q":2}'), close(0)],
        [F1, G2],
    ),
    Case(
        "one of two open calls at one index closes",
        [entry(0, "a", "f", '{"p"'), entry(0, "b", "g", '{"q":2}'), close(0)],
        fault="bad_call",
    ),
    Case(
        "interleaved and closed: everything waits",
        [
            entry(0, "a", "f", '{"p":'),
            entry(1, "b", "g", '{"q":2}'),
            close(1),
            entry(0, None, None, "1}"),
            close(0),
        ],
        [F1, G2],
    ),
    Case(
        "closed after the next began, with other arguments",
        [entry(0, "a", "f", '{"p":1}'), entry(1, "b", "g", '{"q":2}'), close(0, "{}")],
        [],
        [F1],
        "bad_arg",
    ),
    Case(
        "closed after the next began",
        [entry(0, "a", "f", '{"p":1}'), entry(1, "b", "g", '{"q":2}'), close(0), close(1)],
        [F1, G2],
    ),
]  # fmt: skip


def generated(count: int, seed: int) -> list[list[dict[str, Any]]]:
    pick = random.Random(seed)
    pieces = [
        "",
        "{",
        "}",
        "{}",
        '{"p":1}',
        '{"p":',
        "1}",
        '"p":',
        ',"p":2}',
        " ",
        "x",
        {"q": 2},
        {},
    ]
    return [
        [
            entry(
                pick.choice([None, 0, 0, 1, 2]),
                pick.choice([None, None, "a", "b", ""]),
                pick.choice([None, None, "f", "g", "null"]),
                pick.choice([None, *pieces]),
            )
            if pick.random() < 0.8
            else close(pick.choice([None, 0, 0, 1]), pick.choice([None, None, "{}", '{"p":1}']))
            for _ in range(pick.randint(1, 7))
        ]
        for _ in range(count)
    ]


def likely(count: int, seed: int) -> list[list[dict[str, Any]]]:
    """Mostly sane calls, cut into pieces, sometimes shuffled together."""
    pick = random.Random(seed)
    streams = []
    for _ in range(count):
        streams.append([])
        for number in range(pick.randint(1, 4)):
            index = pick.choice([number, number, 0, None])
            id_ = pick.choice([f"i{number}", f"i{number}", None, "i0"])
            text = json.dumps({"n": number, "t": "é" * pick.randint(0, 3)})
            text = pick.choice([text, text, text, text[:-1], "", "{}" + text])
            size = pick.randint(1, 9)
            parts = [text[at : at + size] for at in range(0, len(text), size)] or [""]
            entries = [entry(index, id_, pick.choice("fg"), parts[0])]
            entries += [entry(index, pick.choice([None, id_]), None, part) for part in parts[1:]]
            if pick.random() < 0.5:
                entries.append(close(index, pick.choice([None, None, text, "{}"])))
            at = len(streams[-1]) - pick.choice([0, 0, 0, 0, 1])
            streams[-1][max(at, 0) : max(at, 0)] = entries
    return streams


CORPUS = [case.entries for case in CASES] + generated(400, 7) + likely(200, 11)
