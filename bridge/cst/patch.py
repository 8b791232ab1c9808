"""``apply_patch``: a unified diff over several files, applied wholly or not at all.

Every hunk of every file is located in memory before the first byte is written. Trailing white
space never decides whether a line matches, and kept lines stay as the file has them. Each hunk
is looked for in the original file: where its ``@@`` line says, else at the match nearest to
that (the earlier of two equally near ones); without a number at its only match.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bridge.cst.patch_text import FilePatch, Hunk, parse_patch
from bridge.errors import (
    FileClash,
    FileStoreError,
    HunkAmbiguous,
    HunkMissing,
    HunksOverlap,
    PatchNotApplied,
)
from device_tools.errors import Outcome

MAX_SHOWN = 5
"""Places that the message about an ambiguous hunk names."""

_TRAILING = b" \t\r\n"
_FILE_LINES = re.compile(rb"[^\n]*\n|[^\n]+")


class FileStore(Protocol):
    """Files below one folder, by relative paths with ``/``. Links that lead out are refused
    here. Every method raises FileStoreError, and then has changed nothing, or its outcome is
    UNKNOWN."""

    def read(self, path: str) -> bytes | None:
        """The content; None when there is no such file."""

    def write(self, path: str, data: bytes) -> None:
        """Create or replace the file at once; missing folders are made."""

    def delete(self, path: str) -> None: ...


@dataclass(frozen=True)
class Change:
    """One file: ``before`` and ``after`` are its content, None where there is no file.
    ``places`` are the 0-based lines of the original file where its hunks were found."""

    path: str
    before: bytes | None
    after: bytes | None
    places: tuple[int, ...] = ()


def apply_patch(patch: str, store: FileStore) -> tuple[Change, ...]:
    """Apply ``patch`` to ``store``; what was changed, in the order of the patch.

    Raises:
        PatchRefused: the patch does not fit; no file was touched.
        FileStoreError: a file could not be read; no file was touched.
        PatchNotApplied: a write failed; what was written before it has been taken back, or the
            outcome is UNKNOWN and the message names the files.
    """
    changes = tuple(_planned(file, store) for file in parse_patch(patch))
    _commit(changes, store)
    return changes


def _planned(file: FilePatch, store: FileStore) -> Change:
    before = store.read(file.path)
    if file.creates and before is not None:
        raise FileClash(
            f"{file.path} exists already",
            advice="write hunks against its content, or delete it first",
            file=file.path,
            line=file.at,
        )
    if not file.creates and before is None:
        raise FileClash(
            f"there is no file {file.path}",
            advice="check the path; to create a file write --- /dev/null",
            file=file.path,
            line=file.at,
        )
    lines = _FILE_LINES.findall(before or b"")
    places = [_located(hunk, lines, file) for hunk in file.hunks]
    after = _changed(lines, _in_order(file, places))
    if not file.deletes:
        return Change(file.path, before, after, tuple(places))
    if after:
        raise HunkMissing(
            f"the patch deletes {file.path} but leaves lines of it",
            advice="read the file again and remove every line of it, or keep the file",
            file=file.path,
            line=file.at,
        )
    return Change(file.path, before, None, tuple(places))


# --- where a hunk belongs ----------------------------------------------------------------------


def _located(hunk: Hunk, lines: Sequence[bytes], file: FilePatch) -> int:
    places = _places(hunk, lines)
    if not places:
        raise HunkMissing(
            f"the lines of this hunk are not in {file.path}{_expected(hunk, lines)}",
            advice="read the file again and copy the kept and removed lines exactly",
            file=file.path,
            line=hunk.at,
        )
    if len(places) > 1:
        at = ", ".join(str(place + 1) for place in places[:MAX_SHOWN])
        raise HunkAmbiguous(
            f"the lines of this hunk are in {file.path} several times (lines {at}"
            f"{', ...' if len(places) > MAX_SHOWN else ''})",
            advice="add kept lines around the change, or line numbers: @@ -L,N +L,N @@",
            file=file.path,
            line=hunk.at,
        )
    return places[0]


def _places(hunk: Hunk, lines: Sequence[bytes]) -> list[int]:
    """The one place that a line number decides on; without one up to MAX_SHOWN + 1 of them."""
    old = [_bare(line.text) for line in hunk.old]
    if hunk.ends_file:
        last = len(lines) - len(old)
        return [last] if last >= 0 and [_bare(line) for line in lines[last:]] == old else []
    if not old and hunk.start is None:
        return list(range(min(len(lines), MAX_SHOWN) + 1))
    if not old:
        return [hunk.start] if hunk.start is not None and hunk.start <= len(lines) else []
    # one search over the joined lines; every line has a newline on both sides
    text = b"\n" + b"".join(_bare(line) + b"\n" for line in lines)
    needle = b"\n" + b"".join(line + b"\n" for line in old)
    if hunk.start is None:
        return _first_places(text, needle)
    wanted = min(hunk.start, len(lines))
    return _nearest_place(text, needle, sum(len(_bare(line)) + 1 for line in lines[:wanted]))


def _first_places(text: bytes, needle: bytes) -> list[int]:
    places: list[int] = []
    at = text.find(needle)
    while at >= 0 and len(places) <= MAX_SHOWN:
        places.append(text.count(b"\n", 0, at))
        at = text.find(needle, at + 1)
    return places


def _nearest_place(text: bytes, needle: bytes, offset: int) -> list[int]:
    wanted = text.count(b"\n", 0, offset)
    found = (text.rfind(needle, 0, offset + len(needle) - 1), text.find(needle, offset))
    places = [text.count(b"\n", 0, at) for at in found if at >= 0]
    return [min(places, key=lambda place: (abs(place - wanted), place))] if places else []


def _bare(line: bytes) -> bytes:
    return line.rstrip(_TRAILING)


def _expected(hunk: Hunk, lines: Sequence[bytes]) -> str:
    """For the message: the first old line and what the file has at the stated place."""
    old = hunk.old
    if not old:
        return f", which has only {len(lines)} lines"
    text = f"; it starts with {_quoted(old[0].text)}"
    if hunk.start is not None and hunk.start < len(lines):
        text += f", line {hunk.start + 1} of the file is {_quoted(lines[hunk.start])}"
    return text


def _quoted(line: bytes) -> str:
    text = _bare(line).decode("utf-8", "replace")
    return repr(text if len(text) <= 80 else text[:80] + "...")


# --- the new content ---------------------------------------------------------------------------


def _in_order(file: FilePatch, places: Sequence[int]) -> list[tuple[int, Hunk]]:
    """Hunks by their place in the file, none inside another."""
    found = sorted(
        zip(places, file.hunks, strict=True), key=lambda each: (each[0], len(each[1].old))
    )
    stop = 0
    for place, hunk in found:
        if place < stop:
            raise HunksOverlap(
                f"this hunk of {file.path} takes lines that another one takes",
                advice="join the two hunks into one",
                file=file.path,
                line=hunk.at,
            )
        stop = place + len(hunk.old)
    return found


def _changed(lines: Sequence[bytes], hunks: Sequence[tuple[int, Hunk]]) -> bytes:
    """The new content: kept lines byte for byte as they were; added ones as the patch has them,
    but in a file whose lines all end in CR LF they do so too."""
    ended = [line for line in lines if line.endswith(b"\n")]
    crlf = bool(ended) and all(line.endswith(b"\r\n") for line in ended)
    end = b"\r\n" if crlf else b"\n"
    out: list[bytes] = []
    at = 0
    for place, hunk in hunks:
        out += lines[at:place]
        at = place
        for line in hunk.lines:
            if line.mark == " ":
                out.append(lines[at])
            elif line.mark == "+":
                text = line.text.removesuffix(b"\r") if crlf else line.text
                out.append(text + end if line.newline else text)
            at += line.mark != "+"
    out += lines[at:]
    # a line that was or is declared the last one may have got others behind it
    whole = [line if line.endswith(b"\n") else line + end for line in out[:-1]]
    return b"".join(whole + out[-1:])


# --- writing -----------------------------------------------------------------------------------


def _commit(changes: Sequence[Change], store: FileStore) -> None:
    """Writes first, deletions last; whatever fails, what came before it is taken back."""
    ordered = sorted(changes, key=lambda change: change.after is None)
    for number, change in enumerate(ordered):
        try:
            _put(store, change.path, change.after)
        except FileStoreError as error:
            # a write that may have happened is taken back like those that did
            done = number + (error.outcome is Outcome.UNKNOWN)
            left = _taken_back(ordered[:done], store)
            raise PatchNotApplied(
                f"{change.path}: {error.message}; "
                + (f"may be changed: {', '.join(left)}" if left else "no file is changed"),
                advice="read those files before anything else" if left else error.advice,
                outcome=Outcome.UNKNOWN if left else Outcome.NOT_SENT,
            ) from error


def _taken_back(changes: Sequence[Change], store: FileStore) -> list[str]:
    """Restores files, last first; the paths where that failed."""
    left = []
    for change in reversed(changes):
        try:
            _put(store, change.path, change.before)
        except FileStoreError:
            left.append(change.path)
    return left


def _put(store: FileStore, path: str, data: bytes | None) -> None:
    if data is None:
        store.delete(path)
    else:
        store.write(path, data)
