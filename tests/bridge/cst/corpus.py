"""Streams for the CTL parser: hand-written odd ones with what they mean, and generated ones."""

from __future__ import annotations

import random
from dataclasses import dataclass

from bridge.conversation.finish import FINISH
from device_tools.catalog import PHONE_TOOLS
from tests.bridge.cst import reference

TOOLS = [tool for tool in (*PHONE_TOOLS, FINISH) if tool.name in reference.TOOLS]
"""Those on offer; the same as in the reference."""

HEAD = b"call c1 tap\narg x 1\narg y 2\nend\n"
NEXT = b"call c2 current_app\nend\n"


@dataclass(frozen=True)
class Stream:
    """``calls`` executable ones; ``end`` an error kind, "stop", "open" (inside a frame) or ""."""

    name: str
    data: bytes
    calls: int = 0
    end: str = ""
    length_prefix: bool = False


def doc(body: bytes, tag: bytes = b"EOF", head: bytes | None = None) -> bytes:
    """One type_text frame whose text is ``body`` (whole lines)."""
    return b"call c1 type_text\narg text <<" + (head or tag) + b"\n" + body + tag + b"\nend\n"


HANDWRITTEN = (
    Stream("empty", b""),
    Stream("plain answer", b"All done.\n"),
    Stream("answer without newline", b"All done."),
    Stream("one call", HEAD, 1),
    Stream("two calls", HEAD + NEXT, 2),
    Stream("text, then a call", b"I tap it.\n\n" + HEAD, 1),
    Stream("call in the middle of a paragraph", b"First\n" + HEAD + b"then\n", 1, "stop"),
    Stream("call mid-line is prose", b"now call c1 tap\n"),
    Stream("BOM", b"\xef\xbb\xbf" + HEAD, 1),
    Stream("BOM twice", b"\xef\xbb\xbf\xef\xbb\xbf" + HEAD, 0),
    Stream("half a BOM", b"\xef\xbb" + HEAD, 0),
    Stream("fenced", b"```\n" + HEAD + b"```\n", 1),
    Stream("fenced with a word and blanks", b"```text\n\n" + HEAD + b"\n```\n\n", 1),
    Stream("two fenced frames", b"```\n" + HEAD + b"```\n\n```ctl\n" + NEXT + b"```\n", 2),
    Stream("a code block in an answer", b"Try:\n```python\nprint(1)\n```\n"),
    Stream("fence with CR", b"```\r\n" + HEAD + b"```\r\n", 1),
    Stream("fence with two words is text", b"``` a b\n" + HEAD + b"``` a b\n", 1, "stop"),
    Stream("blank lines between", HEAD + b"\n \t\n\r\n" + NEXT, 2),
    Stream("fence inside a frame", b"call c1 tap\n```\nend\n", 0, "unexpected_line"),
    Stream("blank line inside a frame", b"call c1 tap\n\nend\n", 0, "unexpected_line"),
    Stream("text after a call", HEAD + b"Done!\n" + NEXT, 1, "stop"),
    Stream("result frame of the model", HEAD + b"result c1 exit=0 2\nok\nend\n", 1, "stop"),
    Stream("result frame first is text", b"result c1 exit=0 2\nok\nend\n"),
    Stream("arg outside", HEAD + b"arg x 1\n", 1, "stop"),
    Stream("end outside", HEAD + b"end\n" + NEXT, 1, "stop"),
    Stream("end before any call is text", b"end\n" + HEAD, 1),
    Stream("CRLF reply", HEAD.replace(b"\n", b"\r\n"), 0, "bad_call"),
    Stream("CR on end", b"call c1 current_app\nend\r\n", 0, "unexpected_line"),
    Stream("CR on a value", b"call c1 open_app\narg app Notes\r\nend\n", 0, "bad_arg"),
    Stream("CR on a heredoc header", doc(b"x\n", head=b"EOF\r"), 0, "bad_arg"),
    Stream("CR inside a value", b"call c1 open_app\narg app a\rb\nend\n", 1),
    Stream("arguments on the call line", b"call c1 open_app Notes\nend\n", 0, "bad_call"),
    Stream("parentheses", b'call c1 finish(true, "x")\n', 0, "bad_call"),
    Stream("trailing space", b"call c1 tap \narg x 1\nend\n", 0, "bad_call"),
    Stream("prose with call", b"call me tomorrow please\n" + HEAD, 1),
    Stream("prose call of an unknown tool", b"call c1 fly(now)\n" + HEAD, 1),
    Stream("unknown tool in a frame", b"call c1 fly\nend\n", 1),
    Stream("unknown tool with rest after a call", HEAD + b"call c2 fly now\n", 1, "stop"),
    Stream("known tool with rest after a call", HEAD + b"call c2 tap 1 2\n", 1, "bad_call"),
    Stream("no id", b"call open_app\narg app Notes\nend\n", 0, "bad_call"),
    Stream("no id, values on the line", b"call tap 5 7\nend\n", 0, "bad_call"),
    Stream("no id, one word on the line", b"call open_app Notes\nend\n", 0, "bad_call"),
    Stream("no id, parentheses", b'call open_app("Notes")\n', 0, "bad_call"),
    Stream("no id after a call", HEAD + b"call current_app\nend\n", 1, "bad_call"),
    Stream("a tool's name as id", b"call tap tap\nend\n", 1),
    Stream("a tool's name as id of an unknown tool", b"call tap fly\nend\n", 0, "bad_call"),
    Stream("prose that begins like a tool", b"call tapas bar now\ncall tap-ping me now\n"),
    Stream("two spaces", b"call  c1 tap\nend\n"),
    Stream("indented call", b" call c1 tap\nend\n"),
    Stream("capital Call", b"Call c1 tap\nend\n"),
    Stream("no tool", b"call c1\nend\n"),
    Stream("id of 64", b"call " + b"i" * 64 + b" tap\nend\n", 1),
    Stream("id of 65", b"call " + b"i" * 65 + b" tap\nend\n"),
    Stream("bad character in the id", b"call c:1 tap\nend\n"),
    Stream("id twice", HEAD + HEAD, 1, "bad_call"),
    Stream("call inside a call", b"call c1 tap\n" + NEXT, 0, "unexpected_line"),
    Stream("argument without arg", b"call c1 open_app\napp Notes\nend\n", 0, "unexpected_line"),
    Stream("indented end", b"call c1 tap\n end\n", 0, "unexpected_line"),
    Stream("padded end", b"call c1 tap\nend \n", 0, "unexpected_line"),
    Stream("key twice", b"call c1 tap\narg x 1\narg x 1\nend\n", 0, "bad_arg"),
    Stream("arg without key", b"call c1 tap\narg \nend\n", 0, "bad_arg"),
    Stream("arg without value", b"call c1 tap\narg x\nend\n", 0, "bad_arg"),
    Stream("empty value", b"call c1 open_app\narg app \nend\n", 1),
    Stream("value with spaces", b"call c1 open_app\narg app  a  b \nend\n", 1),
    Stream("two spaces before the key", b"call c1 open_app\narg  app x\nend\n", 0, "bad_arg"),
    Stream("key with a colon", b"call c1 open_app\narg app: x\nend\n", 0, "bad_arg"),
    Stream("heredoc", doc(b"one\ntwo\n"), 1),
    Stream("empty heredoc", doc(b""), 1),
    Stream("heredoc of blank lines", doc(b"\n\n\n"), 1),
    Stream("single quoted TAG", doc(b"x\n", head=b"'EOF'"), 1),
    Stream("double quoted TAG", doc(b"x\n", head=b'"EOF"'), 1),
    Stream("TAG quoted on one side", doc(b"x\n", head=b"'EOF"), 0, "bad_arg"),
    Stream("TAG with a dash", doc(b"x\n", head=b"-EOF"), 0, "bad_arg"),
    Stream("TAG with a space", doc(b"x\n", head=b" EOF"), 0, "bad_arg"),
    Stream("TAG of 32", doc(b"x\n", tag=b"T" * 32), 1),
    Stream("TAG of 33", doc(b"x\n", tag=b"T" * 33), 0, "bad_arg"),
    Stream("near TAGs are body", doc(b" EOF\nEOF \nEOF\r\nEOFx\nxEOF\nEO\neof\n"), 1),
    Stream("frames inside a body", doc(HEAD + b"```\n" + NEXT), 1),
    Stream("TAG twice", doc(b"a\nEOF\n"), 0, "unexpected_line"),
    Stream("TAG that repeats itself", doc(b"A\nAAA\nAAAAA\n\nA\n", tag=b"AAAA"), 1),
    Stream("two heredocs", b"call c1 t\narg a <<E\nx\nE\narg b <<E\ny\nE\nend\n", 1),
    Stream("Chinese text", doc("你好\n世界 é 😀\n".encode()), 1),
    Stream("cut inside a heredoc", doc(b"one\ntwo\n")[:-12], 0, "open"),
    Stream("cut inside a heredoc line", b"call c1 type_text\narg text <<EOF\nabc", 0, "open"),
    Stream("cut before end", HEAD[:-4], 0, "open"),
    Stream("cut inside end", HEAD[:-1], 0, "open"),
    Stream("digits are a value", b"call c1 t\narg n 7\nend\n", 1),
    Stream("length", b"call c1 t\narg n 3\nabc\nend\n", 1, "", True),
    Stream("length without separator", b"call c1 t\narg n 3\nabcend\n", 1, "", True),
    Stream("length of a newline", b"call c1 t\narg n 2\n\n\n\nend\n", 1, "", True),
    Stream("length with frames inside", b"call c1 t\narg n 24\n" + NEXT + b"\nend\n", 1, "", True),
    Stream("length zero", b"call c1 t\narg n 0\n\nend\n", 1, "", True),
    Stream("length too small", b"call c1 t\narg n 2\nabc\nend\n", 0, "unexpected_line", True),
    Stream("length too large", b"call c1 t\narg n 9\nabc\nend\n", 0, "open", True),
    Stream("length with a zero in front", b"call c1 t\narg n 03\nabc\nend\n", 0, "bad_arg", True),
    Stream("length of 8 digits", b"call c1 t\narg n 10000000\n", 0, "bad_arg", True),
    Stream("length over the bound", b"call c1 t\narg n 1048577\n", 0, "limit", True),
    Stream("two separators", b"call c1 t\narg n 1\na\n\nend\n", 0, "unexpected_line", True),
    Stream("inline in ctl", b"call c1 t\narg n 7 apples\narg m -7\nend\n", 1, "", True),
    Stream("heredoc in ctl", doc(b"12\n"), 1, "", True),
)

BOUNDS = (
    Stream("64 calls", b"".join(b"call i%d t\nend\n" % n for n in range(64)), 64),
    Stream("65 calls", b"".join(b"call i%d t\nend\n" % n for n in range(65)), 64, "limit"),
    Stream(
        "65 arguments",
        b"call c1 t\n" + b"".join(b"arg k%d v\n" % n for n in range(65)) + b"end\n",
        0,
        "limit",
    ),
)

PARTS = (
    b"call ", b"call c1 tap", b"c2", b" ", b"tap", b"\n", b"\n", b"\n", b"arg x 1\n", b"arg y ",
    b"arg t <<EOF\n", b"EOF", b"EOF\n", b"<<", b"end\n", b"end", b"```", b"```\n", b"\r", b"(",
    HEAD, NEXT, NEXT, b"call c5 t\n", b"call c6 t\narg a 3\nabc\nend\n", b"end\n", b"end\n",
    b"call c7 t\narg a <<E\nx\nE\nend\n", b"arg z <<E\n", b"E\n", b"3", b"0", b"some text",
    "é".encode(), b"\xef\xbb\xbf", b"call c3 fly\n", b"call c4 finish\n",
    b"call tap", b"call finish\n",
)  # fmt: skip


def generated(count: int, seed: int) -> list[Stream]:
    """Streams glued from pieces of the grammar; their meaning is the reference's to tell."""
    pick = random.Random(seed)
    return [
        Stream(
            f"generated {number}",
            b"".join(pick.choice(PARTS) for _ in range(pick.randint(1, 24))),
            length_prefix=pick.random() < 0.3,
        )
        for number in range(count)
    ]
