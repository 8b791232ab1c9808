"""What the demo sees: the task, its own steps so far, the newest results and element list."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_RESULT = re.compile(rb"^result (\S+) exit=(-?\d+) (\d+)\n", re.MULTILINE)
_SCREEN = re.compile(r"^Screen \S+: (.*?) \(([^()\s]+)\)")
_ELEMENT = re.compile(
    r'^\[(\d+)\] (?:([a-z]+) )?"((?:[^"\\]|\\.)*)"(?: ="((?:[^"\\]|\\.)*)")?((?: [a-z]+)*)$'
)
_ESCAPE = re.compile(r"\\(.)")
STEP = re.compile(r"^\[demo\] (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Element:
    index: int
    role: str
    label: str
    value: str
    flags: frozenset[str]


@dataclass(frozen=True)
class Screen:
    """An element list as ``observe_screen`` writes it. ``text`` is the whole list but its header,
    to tell whether scrolling moved anything."""

    title: str
    component: str
    elements: tuple[Element, ...]
    text: str

    @property
    def package(self) -> str:
        return self.component.partition("/")[0]


@dataclass(frozen=True)
class Result:
    call_id: str
    exit_code: int
    text: str


@dataclass(frozen=True)
class Conversation:
    """``steps``: the demo's own notes, oldest first, "failed: " before those whose call failed.
    ``screen`` None = look first; ``before`` is the element list before that one, if the request
    still holds it."""

    task: str
    steps: tuple[str, ...]
    results: tuple[Result, ...] = ()
    screen: Screen | None = None
    before: Screen | None = None

    @property
    def failure(self) -> Result | None:
        """The first result of the newest message that is not a success."""
        return next((each for each in self.results if each.exit_code != 0), None)

    def taken(self, step: str) -> int:
        """How often a step was taken."""
        return self.steps.count(step)


def read_conversation(messages: Sequence[Mapping[str, Any]]) -> Conversation:
    """Chat Completions messages -> what the planner needs.

    Raises:
        KeyError, TypeError: not messages.
    """
    users = [_text(message["content"]) for message in messages if message["role"] == "user"]
    assistants = [
        _text(message["content"]) for message in messages if message["role"] == "assistant"
    ]
    answers = [read_results(text) for text in users[1:]]
    steps = tuple(
        f"failed: {step}" if results and results[0].exit_code else step
        for text, results in zip(assistants, [*answers, *[[] for _ in assistants]], strict=False)
        for step in STEP.findall(text)
    )
    screens = [read_screen(result.text) for results in answers for result in results]
    newest = screens.pop() if answers and answers[-1] else None
    return Conversation(
        users[0].strip() if users else "",
        steps,
        tuple(answers[-1]) if answers else (),
        newest,
        next((screen for screen in reversed(screens) if screen is not None), None),
    )


def read_results(message: str) -> list[Result]:
    """Result frames ``result <id> exit=<code> <nbytes>`` LF, the bytes, LF ``end`` LF."""
    data = message.encode("utf-8", "replace")
    results: list[Result] = []
    position = 0
    while (head := _RESULT.search(data, position)) is not None:
        end = head.end() + int(head[3])
        text = data[head.end() : end].decode("utf-8", "replace")
        results.append(Result(head[1].decode("utf-8", "replace"), int(head[2]), text))
        # search on behind the bytes: a result may quote a frame
        position = end
    return results


def read_screen(text: str) -> Screen | None:
    """The element list in a result, None when the result is something else."""
    lines = text.split("\n")
    start = next((n for n, line in enumerate(lines) if _SCREEN.match(line)), None)
    if start is None:
        return None
    header = _SCREEN.match(lines[start])
    if header is None:
        return None
    elements = tuple(
        element for line in lines[start + 1 :] if (element := _element(line)) is not None
    )
    return Screen(header[1], header[2], elements, "\n".join(lines[start + 1 :]))


def _element(line: str) -> Element | None:
    match = _ELEMENT.match(line.rstrip())
    if match is None:
        return None
    return Element(
        int(match[1]),
        match[2] or "",
        _unescape(match[3]),
        _unescape(match[4] or ""),
        frozenset(match[5].split()),
    )


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda escape: "\n" if escape[1] == "n" else escape[1], text)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, Mapping))
        return "\n".join(part for part in parts if isinstance(part, str))
    return ""
