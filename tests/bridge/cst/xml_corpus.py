"""Replies of the xml mode: hand-written ones and what they mean, and generated ones."""

from __future__ import annotations

import random
from collections.abc import Iterator

from bridge.conversation.stream import Finish, FinishReason
from device_tools.catalog import PHONE_TOOLS
from device_tools.schema import ToolSpec, arguments_schema

SHAPES = ToolSpec(
    "shapes",
    "Takes one value of every type.",
    arguments_schema(
        {
            "i": {"type": "integer"},
            "b": {"type": "boolean"},
            "a": {"type": "array"},
            "s": {"type": "string"},
            "u": {"type": ["string", "null"]},
        }
    ),
)
TOOLS = (*PHONE_TOOLS, SHAPES)
STOP = Finish(FinishReason.STOP, "stop")
TAP = (
    '<invoke name="tap">\n<parameter name="x">12</parameter>\n'
    '<parameter name="y">3</parameter>\n</invoke>'
)
APP = '<invoke name="open_app"><parameter name="app">Notes</parameter></invoke>'


def block(*invokes: str) -> str:
    return "\n".join(["<minimax:tool_call>", *invokes, "</minimax:tool_call>"])


def value(raw: str, key: str = "s") -> str:
    return block(f'<invoke name="shapes"><parameter name="{key}">{raw}</parameter></invoke>')


GOOD = {
    "nothing": ("", 0),
    "a plain answer": ("All done < 3 <minimax", 0),
    "one block": (block(TAP), 1),
    "quotes of all kinds": (block("<invoke name='tap'></invoke>", "<invoke name=tap></invoke>"), 2),
    "no white space": (block(APP).replace("\n", ""), 1),
    "CR LF": (block(TAP, APP).replace("\n", "\r\n"), 2),
    "a BOM": ("\ufeff" + block(APP), 1),
    "two blocks": (block(TAP) + "\n\n" + block(APP), 2),
    "in a fence": ("```xml\n" + block(APP) + "\n```\n", 1),
    "two in fences": ("```\n" + block(TAP) + "\n```\n```xml\n" + block(APP) + "\n```", 2),
    "text behind": (block(APP) + "\nIt is open now.", 1),
    "a block behind text": (block(APP) + "\nThen:\n" + block(TAP), 1),
    "half a block behind text": (block(APP) + "\nThen <minimax:tool_call><invo", 1),
    "end of turn": (block(APP) + "[e~[", 1),
    "mid-line": ("Now " + block(APP), 1),
    "after a thought": ("<think>I could " + block(TAP) + "</think>\n" + block(APP), 1),
    "two thoughts": ("<think>a</think><think><b></think>" + block(APP), 1),
    "a thought only": ("<think>" + block(TAP) + "</think>No.", 0),
    "an unknown tool": (block('<invoke name="fly"><parameter name="to">x</parameter></invoke>'), 1),
    "an open thought": ("<think>hm", 0),
    "begun tags in a value": (value("</ <param <invok <minimax: </p>"), 1),
    "other text": (value("日本語 😀 \x00"), 1),
}
BAD = {
    "no invoke": (block(), "bad_call", "holds no invoke"),
    "text in the block": (block("now", TAP), "unexpected_line", "only white space"),
    "text behind an invoke": (block(TAP, "x"), "unexpected_line", "only white space"),
    "text between parameters": (
        block(TAP.replace("</parameter>\n<", "</parameter>\nx<")), "bad_arg", "text behind"),
    "text before a parameter": (
        block('<invoke name="tap">x</invoke>'), "unexpected_line", "only white space"),
    "close tag in a value": (value("a</parameter>b"), "bad_arg", "no value may hold"),
    "close tag twice": (value("a</parameter>"), "bad_arg", "no value may hold"),
    "key twice": (
        block(TAP.replace('"y"', '"x"')), "bad_arg", "x is given twice"),
    "no parameter end": (
        block(TAP.replace("12</parameter>", "12")), "bad_arg", "not closed before another tag"),
    "no invoke end": (block(TAP.replace("</invoke>", "")), "bad_call", "</invoke> is missing"),
    "invoke in an invoke": (block(TAP.replace("</invoke>", APP)), "bad_call", "is missing before"),
    "invoke in a value": (value(APP), "bad_arg", "not closed"),
    "block in a value": (value(block(APP)), "bad_arg", "not closed"),
    "parameter outside": (
        block('<parameter name="x">1</parameter>'), "unexpected_line", "only white space"),
    "no name": (block("<invoke></invoke>"), "bad_call", "plain name"),
    "odd name": (block('<invoke name="a b"></invoke>'), "bad_call", "plain name"),
    "name of 65": (block(f'<invoke name="{"n" * 65}"></invoke>'), "bad_call", "plain name"),
    "odd key": (block('<invoke name="tap"><parameter name="">1</parameter></invoke>'),
                "bad_arg", "plain name"),
    "a key attribute": (block('<invoke name="tap"><parameter x="1"></parameter></invoke>'),
                        "bad_arg", "plain name"),
    "cut in the tag": (block(TAP)[:25], "unexpected_line", "stream ended inside the tool-call"),
    "cut in a value": (block(TAP)[: block(TAP).index("12") + 1], "body_eof", "the value of x"),
    "cut before the end": (block(TAP)[:-1], "unexpected_line", "stream ended inside"),
    "second block broken": (block(TAP) + block(), "bad_call", "holds no invoke"),
    "no wrapper": (TAP, "unexpected_line", "outside of <minimax:tool_call>"),
    "other wrapper": (f"<tool_calls>{APP}</tool_calls>", "unexpected_line", "outside of"),
    "in an open thought": ("<think>" + block(APP), "unexpected_line", "inside <think>"),
    "65 calls": (block(*[APP] * 65), "limit", "at most 64 calls"),
    "65 arguments": (
        block("<invoke name=t>" + "".join(f"<parameter name=k{n}></parameter>" for n in range(65))
              + "</invoke>"), "limit", "at most 64 arguments"),
    "a value over the bound": (value("x" * 1048577), "limit", "longer than 1048576"),
}  # fmt: skip

PIECES = (
    "<minimax:tool_call>", "<minimax:tool_call>", "</minimax:tool_call>", "</minimax:tool_call>",
    '<invoke name="tap">', "<invoke name=open_app>", "</invoke>", "</invoke>", "\n", " ", "x",
    '<parameter name="x">', '<parameter name="y">', "</parameter>", "</parameter>", "12", "é", TAP,
    APP, APP, block(TAP), block(APP), "<think>", "</think>", "<", "</", "```\n", "<invoke", "]~b]",
)  # fmt: skip


def generated(count: int, seed: int) -> Iterator[str]:
    """Replies glued from pieces of the grammar, half of them behind an opening tag."""
    pick = random.Random(seed)
    for number in range(count):
        glued = "".join(pick.choice(PIECES) for _ in range(pick.randint(1, 16)))
        yield f"<minimax:tool_call>{glued}" if number % 2 else glued


CORPUS = [
    *(reply for reply, _ in GOOD.values()),
    *(reply for reply, _, _ in BAD.values() if len(reply) < 1000),
    *generated(250, 1),
]
