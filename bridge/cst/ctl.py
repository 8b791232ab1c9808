"""Sans-IO parser of the CTL call grammar: bytes in, events out, nothing ever taken back.

The grammar is docs/protocol-ctl.md. The parser reads each byte once and keeps only the longest
suffix that may still become a delimiter; values are handed out as they arrive and collected by
the caller. Every delimiter byte is compared, none is skipped by count. After ``Fault`` or
``Stop`` nothing more comes out: there is no resynchronisation.

This module reads what stands outside of frames, ``bridge.cst.ctl_frame`` what stands inside.
"""

from __future__ import annotations

from collections.abc import Collection

from bridge.conversation.frames import ContractErrorKind as Kind
from bridge.cst import ctl_lines as lines
from bridge.cst.ctl_events import Event, Limits, Stop
from bridge.cst.ctl_frame import FrameReader
from bridge.cst.ctl_tape import Tape


class CtlParser:
    """One model reply. ``tools`` are the names on offer; ``length_prefix`` is the ``ctl`` mode,
    where digits alone after a key declare a byte count (else they are the value)."""

    def __init__(
        self, tools: Collection[str], *, length_prefix: bool, limits: Limits | None = None
    ) -> None:
        self._tools = frozenset(tools)
        self._tape = Tape(limits or Limits())
        self._tape.step = self._at_start
        self._frame = FrameReader(self._tape, length_prefix=length_prefix, after=self._outside)
        self._fences = b""  # fence and blank lines: dropped before a frame, else text
        self._prose = False  # inside a line that is already known to be text
        self._ids: set[str] = set()

    def feed(self, chunk: bytes) -> list[Event]:
        """Events that ``chunk`` confirmed, in order."""
        tape, pos = self._tape, 0
        while pos < len(chunk) and tape.step is not None:
            pos = tape.step(chunk, pos)
        tape.offset += len(chunk)
        return tape.taken()

    def close(self, *, clean: bool) -> list[Event]:
        """Events at the end of the stream. ``clean``: the reply ended normally and was not cut;
        only then a last ``end`` without newline closes its call, and pending text is text."""
        if self._tape.step is not None:
            if self._tape.id:
                self._frame.close(clean)
            else:
                self._close_outside(clean)
        self._tape.step = None
        return self._tape.taken()

    def _at_start(self, chunk: bytes, pos: int) -> int:
        held = self._tape.line
        while pos < len(chunk) and len(held) < len(lines.BOM):
            if chunk[pos] != lines.BOM[len(held)]:
                self._tape.step = self._outside
                return pos
            held.append(chunk[pos])
            pos += 1
        if held == lines.BOM:
            held.clear()
            self._tape.step = self._outside
        return pos

    def _outside(self, chunk: bytes, pos: int) -> int:
        tape = self._tape
        if self._prose:
            found = chunk.find(b"\n", pos)
            stop = len(chunk) if found < 0 else found + 1
            self._prose = found < 0
            tape.pieces.append(chunk[pos:stop])
            return stop
        stop, line = tape.take_line(chunk, pos)
        if line is not None:
            self._outside_line(line)
        elif not self._may_matter(part := bytes(tape.line)):
            tape.line.clear()
            self._not_a_frame(part)
            self._prose = True
        elif part.startswith(b"call ") and len(part) > tape.limits.line:
            tape.too_long(part)
        return stop

    def _may_matter(self, part: bytes) -> bool:
        """Whether an unfinished line may still become a call, a fence or a blank to ignore."""
        if lines.may_become_call(part, self._tools) or lines.may_become_fence(part):
            return True
        return self._is_filler(part)

    def _is_filler(self, line: bytes) -> bool:
        """A fence, or a blank line where blanks are ignored (behind a fence or a call)."""
        if len(self._fences) + len(line) >= self._tape.limits.line:
            return False
        if lines.is_fence(line):
            return True
        return bool(self._ids or self._fences) and lines.is_blank(line)

    def _outside_line(self, line: bytes) -> None:
        head, broken = lines.CALL.fullmatch(line), lines.broken_call(line, self._tools)
        if broken is not None or (head and not head[3]):
            if len(line) > self._tape.limits.line:
                self._tape.too_long(line)
            elif broken is not None:
                self._broken_call(line, *broken)
            elif head:
                self._open(head[1].decode(), head[2].decode(), line)
        elif not self._is_filler(line):
            self._not_a_frame(line + b"\n")
        elif not self._ids:
            self._fences += line + b"\n"

    def _broken_call(self, line: bytes, call_id: str, tool: str) -> None:
        what = "a call line holds the id and the tool name and ends there in LF"
        if not call_id:
            what = "the id is missing; a call line is: call ID NAME"
        self._tape.fault(Kind.BAD_CALL, what, line=line, call_id=call_id, tool=tool)

    def _not_a_frame(self, data: bytes) -> None:
        if self._ids:
            self._tape.emit(Stop())
            self._tape.step = None
        else:
            self._tape.pieces += (self._fences, data)
            self._fences = b""

    def _open(self, call_id: str, name: str, line: bytes) -> None:
        tape, most = self._tape, self._tape.limits.calls_per_message
        if call_id in self._ids:
            what = f"the id {call_id} was used before in this reply"
            tape.fault(Kind.BAD_CALL, what, line=line, call_id=call_id, tool=name)
        elif len(self._ids) >= most:
            what = f"one reply holds at most {most} calls"
            tape.fault(Kind.LIMIT, what, line=line, call_id=call_id, tool=name)
        else:
            self._fences = b""
            self._ids.add(call_id)
            self._frame.open(call_id, name)

    def _close_outside(self, clean: bool) -> None:
        line = bytes(self._tape.line)
        if broken := lines.broken_call(line, self._tools):
            self._broken_call(line, *broken)
        elif (head := lines.CALL.fullmatch(line)) and not head[3]:
            call_id, tool = head[1].decode(), head[2].decode()
            what = f"stream ended inside call {call_id}"
            self._tape.fault(Kind.UNEXPECTED_LINE, what, line=line, call_id=call_id, tool=tool)
        elif clean and not self._ids:
            self._tape.pieces += (self._fences, line)
