"""The tasks of experiment D: each is done by one call, and says which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bridge.conversation.messages import ToolCall


@dataclass(frozen=True)
class Task:
    """``arguments``: what the call must say. Text is compared without case and outer white space;
    a list of words must all occur in the value."""

    name: str
    kind: str
    prompt: str
    tool: str
    arguments: Mapping[str, str | int | bool | list[str]]

    def is_done_by(self, call: ToolCall) -> bool:
        """Whether this is the call that was asked for; further optional arguments are free."""
        return call.name == self.tool and all(
            key in call.arguments and _fits(call.arguments[key], wanted)
            for key, wanted in self.arguments.items()
        )


def _fits(value: object, wanted: str | int | bool | list[str]) -> bool:
    if isinstance(wanted, list):
        return isinstance(value, str) and all(word.lower() in value.lower() for word in wanted)
    if isinstance(wanted, str):
        return isinstance(value, str) and value.strip().lower() == wanted.lower()
    return type(value) is type(wanted) and value == wanted


def _phone(name: str, prompt: str, tool: str, **arguments: str | int | bool | list[str]) -> Task:
    return Task(f"phone-{name}", "phone", prompt, tool, arguments)


def _file(name: str, path: str, what: str, *words: str) -> Task:
    prompt = f"Write the file {path}: {what}"
    return Task(f"file-{name}", "file", prompt, "write_file", {"path": path, "content": [*words]})


TASKS: tuple[Task, ...] = (
    _phone("open", "Open the app Notes.", "open_app", app="Notes"),
    _phone("open-settings", "Open the app Settings.", "open_app", app="Settings"),
    _phone("home", "Press the home key.", "press_key", key="home"),
    _phone("back", "Go back once with the back key.", "press_key", key="back"),
    _phone("tap", "Tap the point x 540, y 1200.", "tap", x=540, y=1200),
    _phone(
        "tap-element",
        "The element list shows: 1 text 'Wi-Fi', 2 switch 'Wi-Fi' off, 3 text 'Bluetooth'. "
        "Tap the Wi-Fi switch.",
        "tap_element",
        index=2,
    ),
    _phone("code", "Type the code 4417 into field 3.", "type_text", text="4417", index=3),
    _phone("type", "Type: Milk and bread", "type_text", text="Milk and bread"),
    _phone("scroll", "Scroll down to see more.", "scroll", direction="down"),
    _phone("swipe", "Swipe from 540,1800 to 540,600.", "swipe", x1=540, y1=1800, x2=540, y2=600),
    _phone("wait", "Wait until the text Connected is on the screen.", "wait_for", text="Connected"),
    _phone("look", "Look at the screen.", "observe_screen"),
    _phone("apps", "List the installed apps that have chrome in their name.", "list_apps",
           query="chrome"),
    _file("hello", "/sdcard/hello.py", "a Python program that prints hello.", "print", "hello"),
    _file("shopping", "/sdcard/list.txt", "a shopping list of milk, bread and eggs, one per line.",
          "milk", "bread", "eggs"),
    _file("json", "/sdcard/config.json", "JSON with the keys host (localhost) and port (8080).",
          '"host"', "localhost", "8080"),
    _file("shell", "/sdcard/backup.sh",
          "a shell script that copies /sdcard/DCIM to /sdcard/Backup.", "cp", "/sdcard/DCIM"),
    _file("html", "/sdcard/index.html", "a small HTML page with the heading Welcome.",
          "<html", "welcome"),
    _file("csv", "/sdcard/people.csv",
          "CSV with a header name,age and the rows Ann,31 and Bob,28.", "name,age", "ann", "bob"),
    _file("function", "/sdcard/primes.py",
          "a Python function is_prime(n) with a docstring.", "def is_prime"),
    _file("markdown", "/sdcard/README.md",
          "Markdown with the title Project and a list of three features.", "# project"),
    _file("letter", "/sdcard/letter.txt",
          "a letter of three sentences to Anna that invites her for dinner.", "anna", "dinner"),
    _file("quotes", "/sdcard/quotes.txt",
          "two lines: She said \"yes\". and It's done.", '"yes"', "it's done"),
    _file("umlauts", "/sdcard/gruss.txt", "the line: Schöne Grüße aus Köln", "grüße", "köln"),
    _file("sql", "/sdcard/schema.sql",
          "SQL that creates a table users with id, name and email.", "create table", "users"),
)  # fmt: skip
"""13 one-step phone tasks and 12 files to write."""
