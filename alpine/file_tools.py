"""read_file, write_file and list_directory: what each answers."""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from alpine.catalog import MAX_ENTRIES, MAX_FILE_BYTES
from alpine.errors import FileFailed
from alpine.files import Entry, Part, PhoneFiles
from alpine.identity import Identity
from alpine.terminal import Place, Terminal
from device_tools.errors import InvalidCall
from device_tools.result import ToolResult, done

DEFAULT_BYTES = 32_000
Arguments = Mapping[str, Any]


def bind(terminal: Terminal) -> dict[str, Callable[[Arguments], ToolResult]]:
    """The file tools of this phone by name."""
    return {
        "read_file": partial(read_file, terminal),
        "write_file": partial(write_file, terminal),
        "list_directory": partial(list_directory, terminal),
    }


def files_of(terminal: Terminal, arguments: Arguments, base: str = "") -> PhoneFiles:
    """The phone's files as the identity of the call sees them; android, whatever runs there.

    Raises:
        RootUnavailable, DeviceError, Cancelled
    """
    place = Place(identity=Identity(arguments.get("identity", Identity.USER)))
    return PhoneFiles(terminal.phone, terminal.form(place)[0], base)


def read_file(terminal: Terminal, arguments: Arguments) -> ToolResult:
    path, offset = arguments["path"], arguments.get("offset", 0)
    length = arguments.get("length", DEFAULT_BYTES)
    part = files_of(terminal, arguments).read(path, offset, length)
    if part is None:
        raise FileFailed(f"{path}: no such file", advice="list_directory shows what is there")
    wanted = arguments.get("encoding")
    text = _as_text(part.data, whole=len(part.data) < length)
    if text is None and wanted == "text":
        raise FileFailed(f"{path}: these bytes are no UTF-8 text", advice="set encoding to base64")
    if text is None or wanted == "base64":
        shown, encoding, end = base64.b64encode(part.data).decode(), "base64", len(part.data)
    else:
        shown, encoding, end = text, "text", len(text.encode())
    data = {
        "content": shown, "encoding": encoding, "offset": offset, "next_offset": offset + end,
        "size": part.size, "mode": part.mode, "uid": part.uid, "gid": part.gid,
    }  # fmt: skip
    return done(shown + _rest_note(part, encoding, offset + end), **data)


def write_file(terminal: Terminal, arguments: Arguments) -> ToolResult:
    path = arguments["path"]
    data = _content(arguments)
    append = arguments.get("append", False)
    files_of(terminal, arguments).write(path, data, append=append)
    return done(f"{'appended' if append else 'wrote'} {len(data)} bytes: {path}", bytes=len(data))


def list_directory(terminal: Terminal, arguments: Arguments) -> ToolResult:
    path, skip = arguments["path"], arguments.get("offset", 0)
    count = arguments.get("max_entries", MAX_ENTRIES)
    entries, errors = files_of(terminal, arguments).list(path)
    shown = entries[skip : skip + count]
    lines = [_line(entry) for entry in shown] or ["no entries"]
    left = len(entries) - skip - len(shown)
    if left > 0:
        lines.append(f"[{left} more; go on with offset {skip + len(shown)}]")
    if errors:
        lines.append(f"[not readable: {errors[:500]}]")
    return done("\n".join(lines), total=len(entries), entries=[vars(entry) for entry in shown])


def _as_text(data: bytes, *, whole: bool) -> str | None:
    """UTF-8 without NUL; a character that the length cut in two is left for the next read."""
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        cut = not whole and error.reason == "unexpected end of data" and error.start > 0
        return data[: error.start].decode() if cut else None


def _rest_note(part: Part, encoding: str, end: int) -> str:
    notes = ["base64"] if encoding == "base64" else []
    if part.size > end:
        notes.append(f"bytes {part.offset} to {end} of {part.size}; go on with offset {end}")
    return "".join(f"\n[{note}]" for note in notes)


def _content(arguments: Arguments) -> bytes:
    text: str = arguments["content"]
    if arguments.get("encoding", "text") == "text":
        data = text.encode()
    else:
        try:
            data = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError) as error:
            raise InvalidCall(
                f"write_file.content is no base64: {error}", field="content"
            ) from error
    if len(data) > MAX_FILE_BYTES:
        raise InvalidCall(
            f"write_file.content has {len(data)} bytes; at most {MAX_FILE_BYTES}",
            field="content",
            advice="write the first part, then append the others",
        )
    return data


def _line(entry: Entry) -> str:
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(entry.time))
    owner = f"{entry.uid}:{entry.gid}"
    return f"{entry.kind:9} {entry.mode:>4} {owner:>11} {entry.size:>10} {when} {entry.name}"
