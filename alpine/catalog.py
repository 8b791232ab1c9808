"""The terminal tools as plain data: nothing is executed here and importing needs no phone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from device_tools.schema import Effect, RiskGroup, ToolSpec, arguments_schema

MAX_COMMAND = 100_000
MAX_PATH = 4_096
MAX_CHARS = 32_000
DEFAULT_CHARS = 16_000
MAX_MILLIS = 600_000
MAX_ASYNC_MILLIS = 1_800_000
DEFAULT_MILLIS = 60_000
MAX_FILE_BYTES = 1_000_000
"""Of one read or one write."""
MAX_ENTRIES = 1_000

_IDENTITY: Mapping[str, Any] = {
    "enum": ["user", "root"],
    "description": "user (default) never has root; root needs a rooted phone",
}
_COMMAND: Mapping[str, Any] = {
    "type": "string",
    "minLength": 1,
    "maxLength": MAX_COMMAND,
    "description": "for the phone's sh; its standard input is empty",
}
_CWD: Mapping[str, Any] = {
    "type": "string",
    "minLength": 1,
    "maxLength": MAX_PATH,
    "description": "directory to start in",
}
_MERGE: Mapping[str, Any] = {"type": "boolean", "description": "true: stderr goes into stdout"}
_PATH: Mapping[str, Any] = {
    "type": "string",
    "minLength": 1,
    "maxLength": MAX_PATH,
    "pattern": "^/",
    "description": "absolute path on the phone",
}
_ID: Mapping[str, Any] = {"type": "string", "minLength": 1, "maxLength": 16}


def _number(what: str, low: int, high: int) -> Mapping[str, Any]:
    return {"type": "integer", "minimum": low, "maximum": high, "description": what}


def _tool(
    name: str,
    description: str,
    properties: Mapping[str, Any],
    required: list[str],
    effect: Effect = Effect.PHONE,
) -> ToolSpec:
    schema = arguments_schema(properties, required)
    return ToolSpec(name, description, schema, RiskGroup.TERMINAL, effect)


RUN_COMMAND = _tool(
    "run_command",
    "Run one command in the phone's shell and wait for it. Answers its output and exit code.",
    {
        "command": _COMMAND,
        "identity": _IDENTITY,
        "cwd": _CWD,
        "timeout_ms": _number(f"default {DEFAULT_MILLIS}; then it is ended", 100, MAX_MILLIS),
        "merge_stderr": _MERGE,
        "max_chars": _number(f"of each stream, default {DEFAULT_CHARS}", 100, MAX_CHARS),
    },
    ["command"],
)
TERMINAL = _tool(
    "terminal",
    "Shells that stay open, and jobs. open: start a session that keeps directory, variables and "
    "functions. exec: run a command, in session_id or alone; async=true returns a job_id at once. "
    "open_and_exec: both. read_async_result: output of a job from offset_chars. close: end a "
    "session or a job. A command that runs out of time ends its session.",
    {
        "action": {"enum": ["open", "exec", "open_and_exec", "read_async_result", "close"]},
        "environment": {
            "enum": ["android", "linux"],
            "description": "android (default): the phone's shell; linux: Alpine, root only",
        },
        "identity": _IDENTITY,
        "command": _COMMAND,
        "cwd": _CWD,
        "timeout_ms": _number(
            f"default {DEFAULT_MILLIS}, async {MAX_MILLIS}; read_async_result: how long to wait "
            "for the end, default 0",
            0,
            MAX_ASYNC_MILLIS,
        ),
        "merge_stderr": _MERGE,
        "session_id": _ID,
        "job_id": _ID,
        "async": {"type": "boolean", "description": "true: do not wait, return a job_id"},
        "offset_chars": _number("first character of stdout to read", 0, 2**53),
        "max_chars": _number(f"of each stream, default {DEFAULT_CHARS}", 100, MAX_CHARS),
        "close_if_done": {"type": "boolean", "description": "true: forget a job that is over"},
    },
    ["action"],
)
READ_FILE = _tool(
    "read_file",
    "Read a file of the phone, or a part of it. Text is UTF-8; what is no text comes as base64.",
    {
        "path": _PATH,
        "identity": _IDENTITY,
        "offset": _number("first byte, default 0", 0, 2**53),
        "length": _number("bytes, default 32000", 1, MAX_FILE_BYTES),
        "encoding": {"enum": ["text", "base64"], "description": "default: text where it is text"},
    },
    ["path"],
    Effect.NONE,
)
WRITE_FILE = _tool(
    "write_file",
    "Write a file of the phone wholly, or append to it. It is replaced at once or not at all; "
    "mode and owner are kept.",
    {
        "path": _PATH,
        "content": {"type": "string", "maxLength": MAX_FILE_BYTES},
        "identity": _IDENTITY,
        "encoding": {"enum": ["text", "base64"], "description": "of content, default text"},
        "append": {"type": "boolean", "description": "true: add to its end"},
    },
    ["path", "content"],
)
LIST_DIRECTORY = _tool(
    "list_directory",
    "List a directory of the phone: type, size, time, mode and name of each entry.",
    {
        "path": _PATH,
        "identity": _IDENTITY,
        "offset": _number("entries to leave out, default 0", 0, 2**31),
        "max_entries": _number(f"default {MAX_ENTRIES}", 1, MAX_ENTRIES),
    },
    ["path"],
    Effect.NONE,
)
APPLY_PATCH = _tool(
    "apply_patch",
    "Change text files of the phone by a unified diff: all of it is applied, or nothing. "
    "/dev/null creates and deletes files.",
    {
        "patch": {"type": "string", "minLength": 1, "maxLength": MAX_FILE_BYTES},
        "root": {**_PATH, "description": "the directory that the paths of the patch are below"},
        "identity": _IDENTITY,
    },
    ["patch", "root"],
)

TERMINAL_TOOLS: tuple[ToolSpec, ...] = (
    RUN_COMMAND, TERMINAL, READ_FILE, WRITE_FILE, LIST_DIRECTORY, APPLY_PATCH,
)  # fmt: skip
