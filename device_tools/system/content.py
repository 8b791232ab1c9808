"""Content providers through ``content query``: rows of messages, calls, contacts, events, media.

The tool prints ``Row: N a=1, b=text`` with nothing escaped, so a text may look like further rows:
anybody who sends an SMS could write one. Rows are therefore asked for twice: first their number
columns alone, which nobody can write into, then with the text. Only what begins exactly like a
known row is one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from device_tools import limits
from device_tools.adb import AdbPhone
from device_tools.errors import NotAvailable
from device_tools.system.ask import answer, one_line, unavailable

_ROW = re.compile(r"^Row: (\d+) ", re.MULTILINE)
_NUMBERS = re.compile(r"-?\d+|NULL")
_EMPTY = "No result found."


@dataclass(frozen=True)
class Query:
    """``numbers``: columns of whole numbers, the row's own id first. ``texts``: columns of free
    text, the one most likely to hold commas last. ``where`` and ``sort`` hold no word of a model.
    """

    uri: str
    numbers: tuple[str, ...]
    texts: tuple[str, ...] = ()
    where: str = ""
    sort: str = ""

    def argv(self, columns: Sequence[str]) -> list[str]:
        command = ["content", "query", "--uri", self.uri, "--projection", ":".join(columns)]
        command += ["--where", self.where] if self.where else []
        return command + (["--sort", self.sort] if self.sort else [])


def fetch(phone: AdbPhone, query: Query) -> list[dict[str, str]]:
    """The rows by column name; NULL reads as "". At most 4 MB of them.

    Raises:
        NotAvailable: no such provider, or adb may not read it.
    """
    heads = parse_numbers(_ask(phone, query, query.numbers), query.numbers)
    if not query.texts or not heads:
        return heads
    text = _ask(phone, query, (*query.numbers, *query.texts))
    return parse_rows(text, query, heads)


def _ask(phone: AdbPhone, query: Query, columns: Sequence[str]) -> str:
    argv = query.argv(columns)
    result = phone.shell(argv, limit=limits.SERVICE_READ)
    error = result.stderr.decode("utf-8", "replace")
    out = result.stdout.decode("utf-8", "replace")
    if "Error while accessing provider" in error + out[:200]:
        if "SecurityException" in error + out[:2000]:
            raise unavailable(query.uri, "it does not allow adb to read this")
        raise unavailable(query.uri, one_line(error or out, 300))
    if result.code == 0 and out.startswith(("Row: ", _EMPTY)):
        return out
    text = answer(result, argv)
    if result.code != 0 or text.strip():
        raise NotAvailable(f"{query.uri} cannot be read: {one_line(error or out, 300)}")
    return ""


def parse_numbers(text: str, columns: Sequence[str]) -> list[dict[str, str]]:
    """Rows of number columns only; anything else is no row."""
    rows = []
    for line in text.splitlines():
        mark = _ROW.match(line)
        cells = line[mark.end() :].split(", ") if mark else []
        values = dict(cell.split("=", 1) for cell in cells if "=" in cell)
        if list(values) == list(columns) and all(map(_NUMBERS.fullmatch, values.values())):
            rows.append({name: _null(value) for name, value in values.items()})
    return rows


def parse_rows(text: str, query: Query, heads: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """The rows of ``text`` that begin like one of ``heads``; text that only looks like a row
    belongs to the row it stands in."""
    known = {tuple(head.values()): head for head in heads}
    starts = [start for start in _ROW.finditer(text) if _head(text, start, query, known)]
    rows = []
    for place, start in enumerate(starts):
        end = starts[place + 1].start() if place + 1 < len(starts) else len(text)
        found = _head(text, start, query, known)
        if found is not None:
            body = text[found[0] : end].removesuffix("\n")
            rows.append({**found[1], **_texts(body, query.texts)})
    return rows


def _head(
    text: str, start: re.Match[str], query: Query, known: dict[tuple[str, ...], dict[str, str]]
) -> tuple[int, dict[str, str]] | None:
    """Where the texts of the row begin, and its numbers."""
    form = ", ".join(rf"{re.escape(name)}=(-?\d+|NULL)" for name in query.numbers) + ", "
    match = re.compile(form).match(text, start.end())
    numbers = known.get(tuple(map(_null, match.groups()))) if match else None
    return (match.end(), numbers) if match and numbers is not None else None


def _texts(body: str, names: Sequence[str]) -> dict[str, str]:
    values = {}
    rest = body.removeprefix(f"{names[0]}=")
    for name, following in pairwise(names):
        value, _, rest = rest.partition(f", {following}=")
        values[name] = _null(value)
    return {**values, names[-1]: _null(rest)}


def _null(value: str) -> str:
    return "" if value == "NULL" else value
