"""Command lines that need no shell: a list of simple commands joined by ``;`` or ``&&``.

The clients' own commands are of this kind (``wm size; echo X4EXIT:$?``), so the phone answers them
without starting anything. Whatever else a line holds (pipes, redirections, expansions, globs) makes
it a line for a real shell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

STATUS = "\0?"
"""Stands for ``$?`` inside a word; a NUL cannot come from the wire."""

_SHELL_ONLY = set("|<>()`*?[]{}\n$&")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


@dataclass(frozen=True)
class SimpleCommand:
    """``always`` is False after ``&&``: it runs only when the one before succeeded."""

    argv: tuple[str, ...]
    always: bool = True

    def words(self, status: int) -> list[str]:
        return [word.replace(STATUS, str(status)) for word in self.argv]


@dataclass
class _Scan:
    text: str
    at: int = 0
    word: list[str] = field(default_factory=list)
    quoted: bool = False
    words: list[str] = field(default_factory=list)

    def end_word(self) -> None:
        if self.word or self.quoted:
            self.words.append("".join(self.word))
        self.word, self.quoted = [], False


def parse(line: str) -> list[SimpleCommand] | None:
    """The commands of the line, None when it needs a real shell. Leading ``NAME=value`` words,
    ``exec`` and a final ``</dev/null`` mean nothing here and are dropped."""
    scan = _Scan(line.strip().removesuffix("</dev/null"))
    commands: list[SimpleCommand] = []
    always = True
    while scan.at < len(scan.text):
        char = scan.text[scan.at]
        if char == ";" or scan.text.startswith("&&", scan.at):
            if not _finish(scan, commands, always):
                return None
            always = char == ";"
            scan.at += 1 if always else 2
        elif not _take(scan, char):
            return None
    # "a;" is complete, "a &&" and an empty line are not
    if not _finish(scan, commands, always) and not (commands and always):
        return None
    return commands


def _finish(scan: _Scan, commands: list[SimpleCommand], always: bool) -> bool:
    scan.end_word()
    words, scan.words = scan.words, []
    while words and _ASSIGNMENT.match(words[0]):
        words.pop(0)
    if len(words) > 1 and words[0] == "exec":
        words.pop(0)
    if not words:
        return False
    commands.append(SimpleCommand(tuple(words), always))
    return True


def _take(scan: _Scan, char: str) -> bool:
    """One step inside a command; False when it needs a shell."""
    if char in " \t":
        scan.end_word()
        scan.at += 1
        return True
    if char in "'\"":
        return _quoted(scan, char)
    if scan.text.startswith("$?", scan.at):
        scan.word.append(STATUS)
        scan.at += 2
        return True
    if char in _SHELL_ONLY or (char in "~#" and not scan.word and not scan.quoted):
        return False
    if char == "\\":
        scan.at += 1
        if scan.at == len(scan.text):
            return False
    scan.word.append(scan.text[scan.at])
    scan.at += 1
    return True


def _quoted(scan: _Scan, quote: str) -> bool:
    end = scan.text.find(quote, scan.at + 1)
    if end < 0:
        return False
    body = scan.text[scan.at + 1 : end]
    if quote == '"':
        if "`" in body or "\\" in body or "$" in body.replace("$?", ""):
            return False
        body = body.replace("$?", STATUS)
    scan.word.append(body)
    scan.quoted = True
    scan.at = end + 1
    return True
