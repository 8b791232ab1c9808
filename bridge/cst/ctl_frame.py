"""The inside of a CTL frame: ``arg`` lines, values that span lines, ``end``."""

from __future__ import annotations

from bridge.conversation.frames import ContractErrorKind as Kind
from bridge.cst import ctl_lines as lines
from bridge.cst.ctl_body import Counted, Heredoc
from bridge.cst.ctl_events import CallEnd, CallStart
from bridge.cst.ctl_tape import Step, Tape


class FrameReader:
    """Reads one frame after the other; ``after`` reads what follows each ``end``."""

    def __init__(self, tape: Tape, *, length_prefix: bool, after: Step) -> None:
        self._tape = tape
        self._length_prefix = length_prefix
        self._after = after
        self._start = 0
        self._keys: set[str] = set()
        self._body: Heredoc | Counted | None = None  # the value that is being read
        self._value_at = 0
        self._arrived = 0

    def open(self, call_id: str, name: str) -> None:
        """The ``call`` line that was just taken is valid: the frame's lines follow."""
        tape = self._tape
        self._start = tape.line_at
        self._keys.clear()
        tape.emit(CallStart(call_id, name))
        tape.id, tape.name = call_id, name
        tape.step = self._in_call

    def close(self, clean: bool) -> None:
        """The stream ended inside the frame; ``clean`` lets a bare ``end`` close it."""
        tape, body = self._tape, self._body
        line, ended = bytes(tape.line), f"stream ended inside call {tape.id}"
        tape.line_at = tape.offset
        if isinstance(body, Counted) and body.missing:
            tape.fault(Kind.BODY_EOF, ended, declared=body.declared, arrived=self._arrived)
        elif isinstance(body, Heredoc) and body.held != body.tag:
            what = f"{ended}: no line {body.tag.decode()} closes the value"
            tape.fault(Kind.HEREDOC_EOF, what, arrived=self._arrived + len(body.held))
        elif body is None and line == b"end" and clean:
            self._end(tape.offset)
        else:
            tape.fault(Kind.UNEXPECTED_LINE, ended, line=line)

    def _in_call(self, chunk: bytes, pos: int) -> int:
        tape = self._tape
        stop, line = tape.take_line(chunk, pos)
        if line is None:
            if len(tape.line) > tape.limits.line:
                tape.too_long(bytes(tape.line))
        elif len(line) > tape.limits.line:
            tape.too_long(line)
        elif line == b"end":
            self._end(tape.offset + stop)
        elif line.startswith(b"arg "):
            self._argument(line)
        else:
            what = f"neither arg nor end inside call {tape.id}"
            tape.fault(Kind.UNEXPECTED_LINE, what, line=line)
        return stop

    def _end(self, stop: int) -> None:
        tape = self._tape
        tape.emit(CallEnd(tape.id, tape.name, self._start, stop))
        tape.id = tape.name = ""
        tape.step = self._after

    def _argument(self, line: bytes) -> None:
        fault, most = self._tape.fault, self._tape.limits.arguments_per_call
        head = lines.ARG.fullmatch(line)
        if head is None:
            fault(Kind.BAD_ARG, "an argument is: arg KEY VALUE", line=line)
            return
        key, value = head[1].decode(), head[2]
        if key in self._keys:
            fault(Kind.BAD_ARG, f"{key} is given twice", line=line)
        elif len(self._keys) >= most:
            fault(Kind.LIMIT, f"one call holds at most {most} arguments", line=line)
        elif value.endswith(b"\r"):
            fault(Kind.BAD_ARG, "the line ends in CR LF; lines end in LF alone", line=line)
        else:
            self._keys.add(key)
            self._tape.key = key
            self._value(value, line)

    def _value(self, value: bytes, line: bytes) -> None:
        tape, self._arrived = self._tape, 0
        self._value_at = tape.line_at + len(line) + 1
        if value.startswith(b"<<"):
            tag = lines.TAG.fullmatch(value)
            if tag is None:
                tape.fault(Kind.BAD_ARG, "<< must be followed by a TAG and nothing", line=line)
                return
            self._begin(Heredoc(tag[1] or tag[2] or tag[3]))
        elif self._length_prefix and value.isdigit():
            self._count(value, line)
        else:
            self._value_at -= len(value) + 1
            self._confirm(value)
            tape.flush()

    def _count(self, digits: bytes, line: bytes) -> None:
        if not lines.NBYTES.fullmatch(digits):
            what = "a byte count is 1 to 7 digits without leading zeros"
            self._tape.fault(Kind.BAD_ARG, what, line=line)
        elif int(digits) > self._tape.limits.argument:
            self._over_limit(self._tape.line_at, declared=int(digits), arrived=0)
        else:
            self._begin(Counted(int(digits)))

    def _begin(self, body: Heredoc | Counted) -> None:
        self._body = body
        self._tape.pieces.append(b"")
        self._tape.step = self._in_body

    def _in_body(self, chunk: bytes, pos: int) -> int:
        assert self._body is not None
        pos, data, done = self._body.read(chunk, pos)
        if data:
            self._confirm(data)
        elif done:
            self._body = None
            self._tape.flush()
            self._tape.step = self._in_call
        return pos

    def _confirm(self, data: bytes) -> None:
        """More of the value; what is over the bound is an error at its first byte."""
        most = self._tape.limits.argument
        room = most - self._arrived
        self._arrived += len(data)
        self._tape.pieces.append(data[:room])
        if len(data) > room:
            self._over_limit(self._value_at + most, arrived=most + 1)

    def _over_limit(self, position: int, *, arrived: int, declared: int | None = None) -> None:
        tape = self._tape
        tape.line_at = position
        what = f"the value of {tape.key} is longer than {tape.limits.argument} bytes"
        tape.fault(Kind.LIMIT, what, declared=declared, arrived=arrived)
