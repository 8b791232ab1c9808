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

_BOM = b"\xef\xbb\xbf"
_TOKEN = rb"[A-Za-z0-9_.-]"
_CALL = re.compile(rb"call (%b{1,64}) (%b{1,64})(?!%b)(.*)" % (_TOKEN, _TOKEN, _TOKEN), re.DOTALL)
_CALL_BEGUN = re.compile(rb"call (?:%b{0,64}|%b{1,64} %b{0,64})" % (_TOKEN, _TOKEN, _TOKEN))
_CALL_HEAD = len(b"call ") + 64 + 1 + 64 + 1
_ARG = re.compile(rb"arg (%b{1,64}) (.*)" % _TOKEN, re.DOTALL)
_TAG = re.compile(rb"<<(?:([A-Za-z0-9_]{1,32})|'([A-Za-z0-9_]{1,32})'|\"([A-Za-z0-9_]{1,32})\")")
_NBYTES = re.compile(rb"0|[1-9][0-9]{0,6}")
_FENCE = re.compile(rb"`{3,16}[ \t]?[A-Za-z0-9_+.#-]{0,32}[ \t\r]{0,8}")
_FENCE_BEGUN = re.compile(rb"`{0,2}")
_BLANK = re.compile(rb"[ \t\r]*")


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
        self._declared: int | None = None
        self._arrived = 0
        self._delimiter = b""  # TAG + LF of the open heredoc

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
        while pos < len(chunk) and len(self._line) < len(_BOM):
            if chunk[pos] != _BOM[len(self._line)]:
                self._step = self._outside
                return pos
            self._line.append(chunk[pos])
            pos += 1
        if self._line == _BOM:
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
        if len(part) <= 5:
            if b"call ".startswith(part):
                return True
        elif head := _CALL.match(part[: _CALL_HEAD + 1]):
            return not head[3] or head[2].decode() in self._tools
        elif _CALL_BEGUN.fullmatch(part[:_CALL_HEAD]):
            return True
        return bool(_FENCE_BEGUN.fullmatch(part)) or self._is_filler(part)

    def _is_filler(self, line: bytes) -> bool:
        """A fence, or a blank line where blanks are ignored (behind a fence or a call)."""
        if len(self._fences) + len(line) >= self._limits.line:
            return False
        if _FENCE.fullmatch(line):
            return True
        return bool((self._ids or self._fences) and _BLANK.fullmatch(line))

    def _outside_line(self, line: bytes) -> None:
        head = _CALL.fullmatch(line)
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
        head = _ARG.fullmatch(line)
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
        self._declared, self._arrived = None, 0
        if value.startswith(b"<<"):
            tag = _TAG.fullmatch(value)
            if tag is None:
                self._fault(Kind.BAD_ARG, "<< must be followed by a TAG and nothing", line=line)
                return
            self._delimiter = (tag[1] or tag[2] or tag[3]) + b"\n"
            self._pieces.append(b"")
            self._step = self._heredoc_line
        elif self._length_prefix and value.isdigit():
            self._prefix(value, line)
        elif len(value) > self._limits.argument:
            self._over_limit(self._line_at + len(line) - len(value) + self._limits.argument)
        else:
            self._pieces.append(value)
            self._flush()

    def _prefix(self, digits: bytes, line: bytes) -> None:
        if not _NBYTES.fullmatch(digits):
            self._fault(
                Kind.BAD_ARG, "a byte count is 1 to 7 digits without leading zeros", line=line
            )
            return
        self._declared = int(digits)
        if self._declared > self._limits.argument:
            self._over_limit(self._line_at)
            return
        self._pieces.append(b"")
        self._step = self._counted if self._declared else self._separator

    def _counted(self, chunk: bytes, pos: int) -> int:
        assert self._declared is not None
        data = chunk[pos : pos + self._declared - self._arrived]
        self._pieces.append(data)
        self._arrived += len(data)
        if self._arrived == self._declared:
            self._flush()
            self._step = self._separator
        return pos + len(data)

    def _separator(self, chunk: bytes, pos: int) -> int:
        self._flush()
        self._step = self._in_call
        return pos + 1 if chunk[pos] == 0x0A else pos

    def _heredoc_line(self, chunk: bytes, pos: int) -> int:
        """At the start of a body line; ``_line`` holds what of it equals the delimiter so far."""
        wanted = self._delimiter[len(self._line) :]
        got = chunk[pos : pos + len(wanted)]
        if got == wanted:
            self._line.clear()
            self._flush()
            self._step = self._in_call
            return pos + len(wanted)
        if wanted.startswith(got):
            self._line += got
            return len(chunk)
        if self._line:
            start = self._offset + pos - len(self._line)
            self._body(bytes(self._line), start)
            self._line.clear()
        if self._step is not None:
            self._step = self._heredoc_body
        return pos

    def _heredoc_body(self, chunk: bytes, pos: int) -> int:
        """Inside a body line that is not the delimiter."""
        found = chunk.find(b"\n" + self._delimiter, pos)
        if found >= 0:
            stop = found + 1
            self._step = self._heredoc_line
        else:
            # only a suffix shorter than the delimiter can still become one
            last = chunk.rfind(b"\n", max(pos, len(chunk) - len(self._delimiter)))
            stop = len(chunk)
            if last >= 0 and self._delimiter.startswith(chunk[last + 1 :]):
                stop = last + 1
                self._step = self._heredoc_line
        self._body(chunk[pos:stop], self._offset + pos)
        return stop

    def _body(self, data: bytes, position: int) -> None:
        room = self._limits.argument - self._arrived
        self._arrived += len(data)
        self._pieces.append(data[:room])
        if len(data) > room:
            self._over_limit(position + room)

    # --- the end of the stream ---------------------------------------------------------------

    def _close_outside(self, clean: bool) -> None:
        line = bytes(self._line)
        head = _CALL.fullmatch(line)
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
        in_heredoc = self._step in (self._heredoc_line, self._heredoc_body)
        if self._step == self._in_call and line == b"end" and clean:
            self._end(self._offset)
        elif self._step == self._counted:
            self._fault(Kind.BODY_EOF, ended, declared=self._declared, arrived=self._arrived)
        elif in_heredoc and line != self._delimiter[:-1]:
            what = f"{ended}: no line {self._delimiter[:-1].decode()} closes the value"
            self._fault(Kind.HEREDOC_EOF, what, arrived=self._arrived + len(line))
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

    def _over_limit(self, position: int) -> None:
        self._line_at = position
        most = self._limits.argument
        self._fault(
            Kind.LIMIT,
            f"the value of {self._key} is longer than {most} bytes",
            declared=self._declared,
            arrived=most + 1 if self._declared is None else 0,
        )

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
