"""From a goal and a conversation to the next action: pure functions, one per kind of goal.

Every rule works on what the newest element list shows and on the steps taken so far, and claims
success only for what it sees.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bridge.providers.demo.goals import (
    KNOWN,
    FindCode,
    Goal,
    GoHome,
    OpenApp,
    Toggle,
    WriteNote,
)
from bridge.providers.demo.reading import Conversation, Element, Screen

MAX_STEPS = 40
_MAX_SCROLLS = 8
_MAX_BACKS = 4
_LOOK_AGAIN = "look again"
_SCROLL = "scroll down"
_BACK = "go back"
_TYPE = "type the note"
_NEW_NOTE = re.compile(r"^(?:new note|new|add( a)? note|create note|add|\+|新建笔记|新建)$")
_SAVE = re.compile(r"^(?:save|save note|done|保存|完成)$")
_BODY = re.compile(r"note|text|body|content|writ|内容|正文|笔记")
_DENY = re.compile(r"^(?:don['’]t allow|deny|not now|no thanks|拒绝|不允许)$")
_CODE_WORD = re.compile(r"\bcode\b|\bone[- ]time\b|验证码")
_CODE = re.compile(r"(?<!\d)\d(?:[ -]?\d){3,7}(?!\d)")


@dataclass(frozen=True)
class Act:
    """Say ``step``, call a tool, look at what came of it. ``name`` "" only looks."""

    step: str
    name: str = ""
    arguments: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True)
class End:
    success: bool
    summary: str
    output: str = ""


Move = Act | End


def decide(goal: Goal | None, seen: Conversation) -> Move:
    """The next move. Ends by itself after ``MAX_STEPS`` steps at the latest."""
    if goal is None:
        return End(False, f"The demo model only knows: {KNOWN}.")
    if len(seen.steps) >= MAX_STEPS:
        return _give_up("too many steps")
    if seen.failure is not None:
        return _after_failure(seen, seen.failure.text)
    if isinstance(goal, GoHome) and not seen.taken("press home"):
        return Act("press home", "press_key", {"key": "home"})
    if isinstance(goal, OpenApp) and not seen.taken(f"open {goal.app}"):
        return Act(f"open {goal.app}", "open_app", {"app": goal.app})
    if seen.screen is None:
        return _look_again(seen, "the screen was not shown")
    return _on_screen(goal, seen, seen.screen)


def _on_screen(goal: Goal, seen: Conversation, screen: Screen) -> Move:
    if isinstance(goal, GoHome):
        return End(True, f"Demo: went home, the screen shows {screen.title}.")
    if isinstance(goal, OpenApp):
        return _opened(goal, screen)
    # nobody asked the demo to grant anything
    denial = _named(screen, _DENY)
    if denial is not None:
        return _tap(denial)
    if isinstance(goal, Toggle):
        return _toggle(goal, seen, screen)
    if isinstance(goal, WriteNote):
        return _note(goal, seen, screen)
    return _code(goal, seen, screen)


def _opened(goal: OpenApp, screen: Screen) -> Move:
    if "launcher" in screen.package and "launcher" not in goal.app.lower():
        return _give_up(f"{goal.app} did not come to the front")
    return End(True, f"Demo: opened {goal.app}, the screen shows {screen.title}.")


# -- switches ---------------------------------------------------------------------------------


def _toggle(goal: Toggle, seen: Conversation, screen: Screen) -> Move:
    if not seen.taken("open Settings"):
        return Act("open Settings", "open_app", {"app": "Settings"})
    word = "on" if goal.on else "off"
    switch = _switch(screen, goal.setting.switches)
    if switch is None:
        return _towards(goal.setting.path, seen)
    step = f"turn {goal.setting.title} {word}"
    if ("on" in switch.flags or "checked" in switch.flags) == goal.on:
        already = "" if seen.taken(step) else "already "
        return End(True, f"Demo: {goal.setting.title} is {already}{word}.")
    if "disabled" in switch.flags:
        return _give_up(f"the switch {switch.label!r} cannot be used")
    if seen.taken(step):
        # a second tap would undo the first if the phone is only slow
        return _look_again(seen, f"{goal.setting.title} did not turn {word}")
    return Act(step, "tap_element", {"index": switch.index})


def _switch(screen: Screen, names: Sequence[str]) -> Element | None:
    states = {"on", "off", "checked", "unchecked"}
    return next((e for e in screen.elements if e.flags & states and _is(e, names)), None)


def _towards(path: Sequence[str], seen: Conversation) -> Move:
    """Down the menu: the deepest entry in sight that was not tried, else more of the list."""
    screen = seen.screen
    for name in reversed(path):
        for element in screen.elements if screen else ():
            step = f"tap {_first_line(element)}"
            if _is(element, [name]) and element.role and not seen.taken(step):
                return _tap(element)
    return _more(seen, "the entry is not in Settings")


# -- notes ------------------------------------------------------------------------------------


def _note(goal: WriteNote, seen: Conversation, screen: Screen) -> Move:
    if not seen.taken("open Notes"):
        return Act("open Notes", "open_app", {"app": "Notes"})
    fields = [e for e in screen.elements if e.role == "field" and "search" not in _plain(e.label)]
    if not seen.taken(_TYPE):
        return _start_note(goal, seen, screen, fields)
    save = _named(screen, _SAVE)
    if save is not None and not seen.taken(f"tap {_first_line(save)}"):
        return _tap(save)
    if fields:
        return _back(seen, "the note's editor did not close")
    # lists of notes cut what they show
    start = _flat(goal.text.strip().partition("\n")[0])[:40]
    if any(start in _flat(element.label) for element in screen.elements):
        return End(True, "Demo: wrote the note, it is in the list of notes.")
    return _more(seen, "the note is not in the list of notes")


def _start_note(
    goal: WriteNote, seen: Conversation, screen: Screen, fields: Sequence[Element]
) -> Move:
    new = _named(screen, _NEW_NOTE)
    if new is not None and not seen.taken(f"tap {_first_line(new)}"):
        return _tap(new)
    empty = [e for e in fields if not e.value]
    if empty and any(step.startswith("tap ") for step in seen.steps):
        body = next((e for e in reversed(empty) if _BODY.search(_plain(e.label))), empty[-1])
        return Act(_TYPE, "type_text", {"text": goal.text + "\n", "index": body.index})
    return _back(seen, "there is no place to write a note")


# -- messages ---------------------------------------------------------------------------------


def _code(_goal: FindCode, seen: Conversation, screen: Screen) -> Move:
    if not seen.taken("open Messages"):
        return Act("open Messages", "open_app", {"app": "Messages"})
    candidates = [e for e in screen.elements if _CODE_WORD.search(_plain(e.label))]
    for element in candidates:
        word = _CODE_WORD.search(_plain(element.label))
        code = _CODE.search(element.label, word.end() if word else 0) or _CODE.search(element.label)
        if code is not None:
            digits = re.sub(r"[ -]", "", code[0])
            return End(True, "Demo: found the newest verification code in Messages.", digits)
    for element in candidates:
        if element.role and not seen.taken(f"tap {_first_line(element)}"):
            return _tap(element)
    return _more(seen, "no message with a verification code is in sight")


# -- moves that several goals share -----------------------------------------------------------


def _tap(element: Element) -> Act:
    return Act(f"tap {_first_line(element)}", "tap_element", {"index": element.index})


def _more(seen: Conversation, complaint: str) -> Move:
    """Scroll down, at the end of the list go back, at last give up."""
    screen, before = seen.screen, seen.before
    if screen is not None and any("scrollable" in element.flags for element in screen.elements):
        scrolled = seen.steps[-1:] == (_SCROLL,)
        at_the_end = scrolled and before is not None and before.text == screen.text
        if not at_the_end and seen.taken(_SCROLL) < _MAX_SCROLLS:
            return Act(_SCROLL, "scroll", {"direction": "down"})
    return _back(seen, complaint)


def _back(seen: Conversation, complaint: str) -> Move:
    home = seen.screen is not None and "launcher" in seen.screen.package
    if home or seen.taken(_BACK) >= _MAX_BACKS:
        return _give_up(complaint)
    return Act(_BACK, "press_key", {"key": "back"})


def _after_failure(seen: Conversation, text: str) -> Move:
    complaint = text.strip().partition("\n")[0]
    if seen.steps and seen.steps[-1].startswith("failed: open "):
        return _give_up(complaint)
    return _look_again(seen, complaint)


def _look_again(seen: Conversation, complaint: str) -> Move:
    if not seen.steps:
        return Act("look at the screen")
    return _give_up(complaint) if seen.taken(_LOOK_AGAIN) >= 3 else Act(_LOOK_AGAIN)


def _give_up(complaint: str) -> End:
    return End(False, f"Demo: gave up: {complaint}.")


# -- names ------------------------------------------------------------------------------------


def _plain(label: str) -> str:
    return label.replace("\u2011", "-").casefold()


def _flat(text: str) -> str:
    return " ".join(text.split()).casefold()


def _first_line(element: Element) -> str:
    """What a step calls an element: its label without the summary below it."""
    return re.split(r", |\n", element.label, maxsplit=1)[0]


def _is(element: Element, names: Sequence[str]) -> bool:
    """The label is one of the names, or one of them with a summary behind it."""
    label = _plain(element.label)
    return any(label == name or label.startswith((name + ",", name + "\n")) for name in names)


def _named(screen: Screen, pattern: re.Pattern[str]) -> Element | None:
    return next((e for e in screen.elements if e.role and pattern.match(_plain(e.label))), None)
