"""Reads a unified diff (POSIX ``diff -u``, git's dialect) into file patches; touches no file.

A hunk counts only when it is whole: the numbers of its ``@@`` line are met to the line. A bare
``@@`` declares none and runs to the next header. Whatever would be more than a change of text
(renames, copies, modes, binary data) is refused, never skipped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bridge.errors import PatchMalformed, PathRefused

EXAMPLE = (
    "a patch looks like this: `--- a/notes.txt`, `+++ b/notes.txt`, `@@ -1,2 +1,2 @@`, then "
    "lines that start with a space (kept), - (removed) or + (added)"
)
_HEAD = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(?: .*)?")
_BARE = re.compile(rb"@@(?: @@)?")
_IGNORED = re.compile(rb"index [0-9a-f]+\.\.[0-9a-f]+.*|(?:new|deleted) file mode \d+")
_REFUSED = (
    (re.compile(rb"(?:rename|copy) (?:from|to) .*|(?:dis)?similarity index .*"),
     "renames and copies are not made by a patch",
     "create the new file from /dev/null and delete the old one"),
    (re.compile(rb"(?:old|new) mode .*"), "file modes are not changed by a patch",
     "leave the mode lines out"),
    (re.compile(rb"GIT binary patch|Binary files .*"), "binary files cannot be patched",
     "patch text files only"),
)  # fmt: skip
_NO_NEWLINE = b"\\"
# NAME_MAX of Linux: ext4, f2fs, tmpfs
_NAME_MAX = 255


@dataclass(frozen=True)
class Line:
    """``mark`` is " ", "-" or "+"; ``text`` has no line end. ``newline`` False: the patch says
    that this line ends its file without one."""

    mark: str
    text: bytes
    newline: bool = True


@dataclass(frozen=True)
class Hunk:
    """``start``: index of its first old line in the file (0-based), None without a number.
    ``at`` is its line in the patch."""

    at: int
    start: int | None
    lines: tuple[Line, ...]

    @property
    def old(self) -> list[Line]:
        """The lines that must be in the file: kept and removed ones."""
        return [line for line in self.lines if line.mark != "+"]

    @property
    def new(self) -> list[Line]:
        """The lines that are there afterwards: kept and added ones."""
        return [line for line in self.lines if line.mark != "-"]

    @property
    def ends_file(self) -> bool:
        """Whether a mark about the missing newline says that this hunk reaches the end."""
        return not all(line.newline for line in self.lines)


@dataclass(frozen=True)
class FilePatch:
    """``creates`` and ``deletes``: the other side is ``/dev/null``."""

    path: str
    at: int
    hunks: tuple[Hunk, ...]
    creates: bool = False
    deletes: bool = False


def parse_patch(text: str) -> tuple[FilePatch, ...]:
    """The files of a unified diff, in its order.

    Raises:
        PatchMalformed: not whole, not a diff, or asking for what a patch here does not do.
        PathRefused: a path that is absolute, contains ``..`` or names no file.
    """
    data = text.encode("utf-8", "surrogatepass")
    lines = data.removesuffix(b"\n").split(b"\n") if data else []
    if lines and all(line.endswith(b"\r") for line in lines if line):
        lines = [line.removesuffix(b"\r") for line in lines]  # the patch itself came as CRLF
    files = _Reader(lines).files()
    if not files:
        raise PatchMalformed("the patch names no file", advice=EXAMPLE)
    seen: set[str] = set()
    for file in files:
        if file.path in seen:
            raise PatchMalformed(
                f"{file.path} comes twice",
                advice="put all hunks of a file under one pair of --- and +++ lines",
                file=file.path,
                line=file.at,
            )
        seen.add(file.path)
    return tuple(files)


class _Reader:
    """Walks the lines once; ``_at`` is the index of the next one."""

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines
        self._at = 0

    def files(self) -> list[FilePatch]:
        files = []
        announced = 0  # the line of a `diff` header whose --- has not come yet
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith(b"--- "):
                files.append(self._file())
                announced = 0
                continue
            if line.startswith(b"diff "):
                self._headless(announced)
                announced = self._at + 1
            else:
                self._between(line)
            self._at += 1
        self._headless(announced)
        return files

    def _headless(self, announced: int) -> None:
        if announced:
            raise PatchMalformed(
                "no --- and +++ lines follow this header", advice=EXAMPLE, line=announced
            )

    def _between(self, line: bytes) -> None:
        if not line.strip() or _IGNORED.fullmatch(line):
            return
        for pattern, what, advice in _REFUSED:
            if pattern.fullmatch(line):
                raise PatchMalformed(what, advice=advice, line=self._at + 1)
        raise self._malformed(f"{_shown(line)} is no line of a unified diff")

    def _file(self) -> FilePatch:
        at = self._at + 1
        old = self._lines[self._at][4:]
        self._at += 1
        if self._at >= len(self._lines) or not self._lines[self._at].startswith(b"+++ "):
            raise self._malformed("a +++ line must follow the --- line")
        new = self._lines[self._at][4:]
        self._at += 1
        path, creates, deletes = _paths(old, new, at)
        hunks: list[Hunk] = []
        while self._at < len(self._lines) and self._lines[self._at].startswith(b"@@"):
            hunks.append(self._hunk())
            while self._at < len(self._lines) and not self._lines[self._at].strip():
                self._at += 1
        if not hunks and not creates and not deletes:
            raise PatchMalformed(f"{path} has no hunk", advice=EXAMPLE, file=path, line=at)
        return FilePatch(path, at, tuple(hunks), creates, deletes)

    def _hunk(self) -> Hunk:
        at, head = self._at + 1, self._lines[self._at]
        self._at += 1
        if _BARE.fullmatch(head):
            lines = self._bare_body()
            start = None
        elif found := _HEAD.fullmatch(head):
            old, new = (int(count) if count else 1 for count in (found[2], found[4]))
            lines = self._counted_body(at, old, new)
            # a hunk without old lines names the line it comes after
            start = max(int(found[1]) - (1 if old else 0), 0)
        else:
            self._at -= 1
            raise self._malformed(f"{_shown(head)} is no hunk header; write @@ -L,N +L,N @@ or @@")
        if all(line.mark == " " for line in lines):
            raise PatchMalformed("this hunk changes nothing", advice=EXAMPLE, line=at)
        hunk = Hunk(at, start, tuple(lines))
        if any(not line.newline for side in (hunk.old, hunk.new) for line in side[:-1]):
            raise PatchMalformed(
                "only the last line of a file can be without newline",
                advice="leave the backslash line out",
                line=at,
            )
        return hunk

    def _counted_body(self, at: int, old: int, new: int) -> list[Line]:
        lines: list[Line] = []
        have_old = have_new = 0
        while have_old < old or have_new < new:
            line = self._body_line(lines)
            if line is None:
                break
            have_old += line.mark != "+"
            have_new += line.mark != "-"
            lines.append(line)
        if self._at < len(self._lines) and self._lines[self._at].startswith(_NO_NEWLINE):
            self._mark_no_newline(lines)
        more = self._body_follows()
        if (have_old, have_new) != (old, new) or more:
            counted = "more lines follow" if more else f"it has {have_old} and {have_new}"
            raise PatchMalformed(
                f"the hunk declares {old} old and {new} new lines, but {counted}",
                advice="correct the numbers, or write a bare @@ line, which needs none",
                line=at,
            )
        return lines

    def _bare_body(self) -> list[Line]:
        lines: list[Line] = []
        while not self._header_follows() and (line := self._body_line(lines)) is not None:
            lines.append(line)
        # an empty line behind the last change is a gap of the text, not context
        while lines and lines[-1] == Line(" ", b"") and not self._lines[self._at - 1]:
            lines.pop()
            self._at -= 1
        return lines

    def _body_line(self, before: list[Line]) -> Line | None:
        while self._at < len(self._lines) and self._lines[self._at].startswith(_NO_NEWLINE):
            self._mark_no_newline(before)
        if self._at >= len(self._lines):
            return None
        line = self._lines[self._at]
        if line and line[:1] not in b" -+":
            return None
        self._at += 1
        # editors strip the one space of an empty context line
        return Line(line[:1].decode() or " ", line[1:])

    def _mark_no_newline(self, lines: list[Line]) -> None:
        if not lines:
            raise self._malformed("no line comes before this mark")
        lines[-1] = Line(lines[-1].mark, lines[-1].text, newline=False)
        self._at += 1

    def _header_follows(self) -> bool:
        here = self._lines[self._at : self._at + 2]
        return len(here) == 2 and here[0].startswith(b"--- ") and here[1].startswith(b"+++ ")

    def _body_follows(self) -> bool:
        if self._at >= len(self._lines) or self._header_follows():
            return False
        return self._lines[self._at][:1] in (b" ", b"-", b"+")

    def _malformed(self, what: str) -> PatchMalformed:
        return PatchMalformed(what, advice=EXAMPLE, line=min(self._at + 1, len(self._lines)))


def _paths(old: bytes, new: bytes, at: int) -> tuple[str, bool, bool]:
    """The one path of both header lines, whether it is created, whether it is deleted."""
    a, b = (name.split(b"\t", 1)[0].decode("utf-8", "replace").strip() for name in (old, new))
    creates, deletes = a == "/dev/null", b == "/dev/null"
    if creates and deletes:
        raise PatchMalformed("both sides are /dev/null", advice=EXAMPLE, line=at)
    if (creates or a.startswith("a/")) and (deletes or b.startswith("b/")):
        a, b = a.removeprefix("a/"), b.removeprefix("b/")
    if not creates and not deletes and a != b:
        raise PatchMalformed(
            f"{a} and {b} differ, and a patch renames nothing",
            advice="create the new file from /dev/null and delete the old one",
            line=at,
        )
    return _safe(b if creates else a, at), creates, deletes


def _safe(path: str, at: int) -> str:
    """A relative path without detours; lexical only, links are the store's concern."""
    parts = path.split("/")
    why = ""
    if path.startswith("/"):
        why = "is absolute"
    elif ".." in parts:
        why = "contains .."
    elif parts[-1] in ("", "."):
        why = "names no file"
    elif '"' in path or "\\" in path or not path.isprintable():
        why = "is quoted or holds characters that no path here may hold"
    elif any(len(part.encode("utf-8", "replace")) > _NAME_MAX for part in parts):
        why = f"has a name of more than {_NAME_MAX} bytes"
    if why:
        raise PathRefused(
            f"the path {_shown(path.encode())} {why}",
            advice="write paths relative to the folder, plain, with / between the parts",
            file=path,
            line=at,
        )
    return "/".join(part for part in parts if part not in ("", "."))


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", "replace")
    return repr(text if len(text) <= 80 else text[:80] + "...")
