"""Sans-IO parser of the CTL call grammar: bytes in, events out, nothing ever taken back.

The grammar is docs/protocol-ctl.md. The parser reads each byte once and keeps only the longest
suffix that may still become a delimiter; values are handed out as they arrive and collected by
the caller. Every delimiter byte is compared, none is skipped by count. After ``Fault`` or
``Stop`` nothing more comes out: there is no resynchronisation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from bridge.conversation.frames import ContractErrorKind as Kind
from bridge.cst import ctl_lines as lines
from bridge.cst.ctl_body import Counted, Heredoc
from bridge.cst.ctl_events import (
    ArgumentPiece,
    CallEnd,
    CallStart,
    Event,
    Fault,
    Limits,
    Stop,
    Text,
)


class CtlParser:
    """One model reply. ``tools`` are the names on offer; ``length_prefix`` is the ``ctl`` mode,
    where digits alone after a key declare a byte count (else they are the value)."""

    def __init__(
        self, tools: Collection[str], *, length_prefix: bool, limits: Limits | None = None
    ) -> None:
        self._tools = frozenset(tools)
        self._length_prefix = length_prefix
        self._limits = limits or Limits()
        self._step: Callable[[bytes, int], int] | None = self._at_start
        self._out: list[Event] = []
        self._offset = 0  # of the fed chunk in the stream
        self._line = bytearray()  # an unfinished line that may still become a delimiter
        self._line_at = 0
        self._fences = b""  # fence and blank lines: dropped before a frame, else text
        self._prose = False  # inside a line that is already known to be text
        self._pieces: list[bytes] = []  # confirmed in this chunk, not yet in an event
        self._ids: set[str] = set()
        self._id = self._name = ""
        self._start = 0
        self._keys: set[str] = set()
        self._key = ""
        self._body: Heredoc | Counted | None = None
        self._value_at = 0
        self._arrived = 0

    def feed(self, chunk: bytes) -> list[Event]:
        """Events that ``chunk`` confirmed, in order."""
        pos = 0
        while pos < len(chunk) and self._step is not None:
            pos = self._step(chunk, pos)
        self._flush()
        self._offset += len(chunk)
        return self._taken()

    def close(self, *, clean: bool) -> list[Event]:
        """Events at the end of the stream. ``clean``: the reply ended normally and was not cut;
        only then a last ``end`` without newline closes its call, and pending text is text."""
        if self._step is not None:
            if self._id:
                self._close_call(clean)
            else:
                self._close_outside(clean)
        self._flush()
        self._step = None
        return self._taken()

    # --- outside a frame -------------------------------------------------------------------

    def _at_start(self, chunk: bytes, pos: int) -> int:
        while pos < len(chunk) and len(self._line) < len(lines.BOM):
            if chunk[pos] != lines.BOM[len(self._line)]:
                self._step = self._outside
                return pos
            self._line.append(chunk[pos])
            pos += 1
        if self._line == lines.BOM:
            self._line.clear()
            self._step = self._outside
        return pos

    def _outside(self, chunk: bytes, pos: int) -> int:
        if self._prose:
            found = chunk.find(b"\n", pos)
            stop = len(chunk) if found < 0 else found + 1
            self._prose = found < 0
            self._pieces.append(chunk[pos:stop])
            return stop
        stop, line = self._take_line(chunk, pos)
        if line is not None:
            self._outside_line(line)
        elif not self._may_matter(part := bytes(self._line)):
            self._line.clear()
            self._not_a_frame(part)
            self._prose = True
        elif part.startswith(b"call ") and len(part) > self._limits.line:
            self._too_long(part)
        return stop

    def _may_matter(self, part: bytes) -> bool:
        """Whether an unfinished line may still become a call, a fence or a blank to ignore."""
        if lines.may_become_call(part, self._tools) or lines.may_become_fence(part):
            return True
        return self._is_filler(part)

    def _is_filler(self, line: bytes) -> bool:
        """A fence, or a blank line where blanks are ignored (behind a fence or a call)."""
        if len(self._fences) + len(line) >= self._limits.line:
            return False
        if lines.is_fence(line):
            return True
        return bool(self._ids or self._fences) and lines.is_blank(line)

    def _outside_line(self, line: bytes) -> None:
        head = lines.CALL.fullmatch(line)
        if head and (not head[3] or head[2].decode() in self._tools):
            if len(line) > self._limits.line:
                self._too_long(line)
            elif head[3]:
                self._call_with_rest(head)
            else:
                self._open(head[1].decode(), head[2].decode(), line)
        elif not self._is_filler(line):
            self._not_a_frame(line + b"\n")
        elif not self._ids:
            self._fences += line + b"\n"

    def _call_with_rest(self, head: re.Match[bytes]) -> None:
        self._fault(
            Kind.BAD_CALL,
            "a call line holds the id and the tool name and ends there in LF",
            line=head[0],
            call_id=head[1].decode(),
            tool=head[2].decode(),
        )

    def _not_a_frame(self, data: bytes) -> None:
        if self._ids:
            self._emit(Stop())
            self._step = None
        else:
            self._pieces += (self._fences, data)
            self._fences = b""

    def _open(self, id_: str, name: str, line: bytes) -> None:
        most = self._limits.calls_per_message
        if id_ in self._ids:
            what = f"the id {id_} was used before in this reply"
            self._fault(Kind.BAD_CALL, what, line=line, call_id=id_, tool=name)
        elif len(self._ids) >= most:
            what = f"one reply holds at most {most} calls"
            self._fault(Kind.LIMIT, what, line=line, call_id=id_, tool=name)
        else:
            self._flush()
            self._fences = b""
            self._ids.add(id_)
            self._id, self._name, self._start = id_, name, self._line_at
            self._keys.clear()
            self._emit(CallStart(id_, name))
            self._step = self._in_call

    # --- inside a frame --------------------------------------------------------------------

    def _in_call(self, chunk: bytes, pos: int) -> int:
        stop, line = self._take_line(chunk, pos)
        if line is None:
            if len(self._line) > self._limits.line:
                self._too_long(bytes(self._line))
        elif len(line) > self._limits.line:
            self._too_long(line)
        elif line == b"end":
            self._end(self._offset + stop)
        elif line.startswith(b"arg "):
            self._argument(line)
        else:
            self._fault(
                Kind.UNEXPECTED_LINE, f"neither arg nor end inside call {self._id}", line=line
            )
        return stop

    def _end(self, stop: int) -> None:
        self._emit(CallEnd(self._id, self._name, self._start, stop))
        self._id = self._name = ""
        self._step = self._outside

    def _argument(self, line: bytes) -> None:
        head = lines.ARG.fullmatch(line)
        if head is None:
            self._fault(Kind.BAD_ARG, "an argument is: arg KEY VALUE", line=line)
            return
        key, value = head[1].decode(), head[2]
        most = self._limits.arguments_per_call
        if key in self._keys:
            self._fault(Kind.BAD_ARG, f"{key} is given twice", line=line)
        elif len(self._keys) >= most:
            self._fault(Kind.LIMIT, f"one call holds at most {most} arguments", line=line)
        elif value.endswith(b"\r"):
            self._fault(Kind.BAD_ARG, "the line ends in CR LF; lines end in LF alone", line=line)
        else:
            self._keys.add(key)
            self._key = key
            self._value(value, line)

    def _value(self, value: bytes, line: bytes) -> None:
        self._body, self._arrived = None, 0
        self._value_at = self._line_at + len(line) + 1
        if value.startswith(b"<<"):
            tag = lines.TAG.fullmatch(value)
            if tag is None:
                self._fault(Kind.BAD_ARG, "<< must be followed by a TAG and nothing", line=line)
                return
            self._begin(Heredoc(tag[1] or tag[2] or tag[3]))
        elif self._length_prefix and value.isdigit():
            self._count(value, line)
        else:
            self._value_at -= len(value) + 1
            self._confirm(value)
            self._flush()

    def _count(self, digits: bytes, line: bytes) -> None:
        if not lines.NBYTES.fullmatch(digits):
            what = "a byte count is 1 to 7 digits without leading zeros"
            self._fault(Kind.BAD_ARG, what, line=line)
        elif int(digits) > self._limits.argument:
            self._over_limit(self._line_at, declared=int(digits), arrived=0)
        else:
            self._begin(Counted(int(digits)))

    def _begin(self, body: Heredoc | Counted) -> None:
        self._body = body
        self._pieces.append(b"")
        self._step = self._in_body

    def _in_body(self, chunk: bytes, pos: int) -> int:
        assert self._body is not None
        pos, data, done = self._body.read(chunk, pos)
        if data:
            self._confirm(data)
        elif done:
            self._flush()
            self._step = self._in_call
        return pos

    def _confirm(self, data: bytes) -> None:
        """More of the value; what is over the bound is an error at its first byte."""
        room = self._limits.argument - self._arrived
        self._arrived += len(data)
        self._pieces.append(data[:room])
        if len(data) > room:
            position = self._value_at + self._limits.argument
            self._over_limit(position, arrived=self._limits.argument + 1)

    # --- the end of the stream ---------------------------------------------------------------

    def _close_outside(self, clean: bool) -> None:
        line = bytes(self._line)
        head = lines.CALL.fullmatch(line)
        if head and not head[3]:
            self._fault(
                Kind.UNEXPECTED_LINE,
                f"stream ended inside call {head[1].decode()}",
                line=line,
                call_id=head[1].decode(),
                tool=head[2].decode(),
            )
        elif head and head[2].decode() in self._tools:
            self._call_with_rest(head)
        elif clean and not self._ids:
            self._pieces += (self._fences, line)

    def _close_call(self, clean: bool) -> None:
        line, ended = bytes(self._line), f"stream ended inside call {self._id}"
        self._line_at = self._offset
        body = self._body if self._step == self._in_body else None
        if isinstance(body, Counted) and body.missing:
            self._fault(Kind.BODY_EOF, ended, declared=body.declared, arrived=self._arrived)
        elif isinstance(body, Heredoc) and body.held != body.tag:
            what = f"{ended}: no line {body.tag.decode()} closes the value"
            self._fault(Kind.HEREDOC_EOF, what, arrived=self._arrived + len(body.held))
        elif body is None and line == b"end" and clean:
            self._end(self._offset)
        else:
            self._fault(Kind.UNEXPECTED_LINE, ended, line=line)

    # --- plumbing ----------------------------------------------------------------------------

    def _take_line(self, chunk: bytes, pos: int) -> tuple[int, bytes | None]:
        if not self._line:
            self._line_at = self._offset + pos
        found = chunk.find(b"\n", pos)
        if found < 0:
            self._line += chunk[pos:]
            return len(chunk), None
        line = bytes(self._line) + chunk[pos:found]
        self._line.clear()
        return found + 1, line

    def _too_long(self, line: bytes) -> None:
        most = self._limits.line
        self._fault(
            Kind.LINE_TOO_LONG,
            f"a call or arg line holds at most {most} bytes; give a long value by heredoc",
            line=line[:80],
            arrived=most + 1,
        )

    def _over_limit(self, position: int, *, arrived: int, declared: int | None = None) -> None:
        self._line_at = position
        what = f"the value of {self._key} is longer than {self._limits.argument} bytes"
        self._fault(Kind.LIMIT, what, declared=declared, arrived=arrived)

    def _fault(
        self,
        kind: Kind,
        what: str,
        *,
        line: bytes = b"",
        declared: int | None = None,
        arrived: int | None = None,
        call_id: str = "",
        tool: str = "",
    ) -> None:
        arrived = len(line) if arrived is None else arrived
        call_id, tool = call_id or self._id, tool or self._name
        self._emit(Fault(kind, self._line_at, what, line, declared, arrived, call_id, tool))
        self._step = None

    def _emit(self, event: Event) -> None:
        self._flush()
        self._out.append(event)

    def _flush(self) -> None:
        if not self._pieces:
            return
        data = b"".join(self._pieces)
        self._pieces.clear()
        if self._id:
            self._out.append(ArgumentPiece(self._id, self._key, data))
        elif data:
            self._out.append(Text(data))

    def _taken(self) -> list[Event]:
        out, self._out = self._out, []
        return out
